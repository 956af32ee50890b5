"""The gate: is this text a note about the span at all? Small and overloaded models copy, loop and go on with the work.

Pure functions of the reply and the request. Texts are compared as their words in lower case, so that quotes, bullets
and line breaks hide nothing; scripts without spaces count a character as a word. The thresholds were set on real
replies of small models and on tests/data/notes.jsonl; docs/summaries.md has the error rates.
"""

from __future__ import annotations

import re
from typing import Any

from ctxpolicy.policy.model import KeepFacts
from ctxpolicy.summarize.reply import Note, Refused, judge, spent
from ctxpolicy.summarize.request import SummaryReply, SummaryRequest

ALSO = "Also in it, word for word:"  # before the facts that `on_missing: append` adds

_ECHO = 12  # words: a reply that begins with so many words of the prompt or of the span's beginning echoes it
_BEGINNING = 40  # words of the span that count as its beginning
_COPY = 40  # words: a run this long, word for word in the span, is no longer a quotation
_COPIED = 0.5  # of the reply in one such run
_GRAM = 6  # words that come again in a row
_LOOP = 0.45  # of the reply in word runs that stood in it before
_TAIL = 36  # words: where all of them stood before, the reply ends in a loop

_WORD = re.compile(
    r"[\u0e00-\u0eff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]|[^\W_\u0e00-\u0eff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]+"
)
_LETTER = re.compile(r"[^\W\d_]")
_QUOTED = re.compile(r"\"[^\"\n]{1,400}\"|“[^”\n]{1,400}”|«[^»\n]{1,400}»")
_QUOTES = ('"', "“", "„", "«", ">")
_LABEL = re.compile(r"(?m)^\s*\[\d+\] (?:user|assistant|system|developer|tool result)\b[^\n]{0,80}:\s*$")
_REFUSAL = re.compile(
    r"\W*(?:i[’']?m|i am) (?:sorry|unable|not able)\b|\W*i (?:cannot|can[’']?t|won[’']?t) "
    r"(?:assist|help|comply|fulfil|summari[sz]e|provide|continue|condense|process)\b|\W*as an ai\b",
    re.I,
)


def weigh(reply: Any, request: SummaryRequest, nothing: str, keep: KeepFacts | None) -> Note | Refused:
    """The note in a reply, or why it is none. `nothing` is the word for a span that holds nothing worth keeping."""
    note = judge(reply, nothing)
    if isinstance(note, Refused) or note.text is None:
        return note
    why = fault(reply if isinstance(reply, SummaryReply) else SummaryReply(note.text), request)
    if why is not None:
        return Refused(why)
    return note if keep is None else _with_facts(note.text, request, keep)


def _with_facts(text: str, request: SummaryRequest, keep: KeepFacts) -> Note | Refused:
    """The note with the share of facts it has; too few, and it is refused or gets those it lacks."""
    from ctxpolicy.summarize.facts import missing, worth_keeping  # their patterns take time to compile

    wanted = worth_keeping(request.span, request.word_limit)
    lacking = missing(wanted, text)
    share = 1 - len(lacking) / len(wanted) if wanted else 1.0
    if share >= keep.share:
        return Note(text, share)
    if keep.on_missing == "refuse":
        told = f"the note has {len(wanted) - len(lacking)} of the span's {len(wanted)} facts, under {keep.share:.0%}"
        return Refused(f"{told}; it lacks {lacking[0]!r}")
    return Note(f"{text}\n{ALSO} {'; '.join(lacking)}", share)


def fault(reply: SummaryReply, request: SummaryRequest) -> str | None:
    """What is wrong with an accepted reply as a note about the request's span; None where nothing is."""
    text = reply.text or ""
    if _REFUSAL.match(text):
        return "the reply declines to write a note"
    if not _LETTER.search(text):
        return "the reply has no words"
    if _at_its_limit(reply, request):
        return f"the reply was cut at its limit of {request.max_tokens:,} tokens"
    if len(_LABEL.findall(text)) > 1 or _LABEL.match(text):
        return "the reply goes on with the transcript"
    words = _words(text)
    if loop := _loop(words, request):
        return loop
    echo = None if text.lstrip().startswith(_QUOTES) else _echo(words, request)  # a note may begin with a quotation
    return echo or _copy(_words(_QUOTED.sub(" ", text)), request)


def _at_its_limit(reply: SummaryReply, request: SummaryRequest) -> bool:
    """A reply that took every token it was allowed, from a summariser that does not say why it ended."""
    return reply.finish_reason is None and spent(reply).output >= request.max_tokens


def _words(text: str) -> list[str]:
    return _WORD.findall(text.casefold())


def _loop(words: list[str], request: SummaryRequest) -> str | None:
    again = _repeated(words)
    share = sum(again) / max(1, len(words))
    tail = len(words) > _TAIL and all(again[-_TAIL:])
    if not tail and (len(words) <= 2 * _GRAM or share <= _LOOP):
        return None
    if share <= _usual(_words(request.span), len(words)):
        return None
    return "the reply ends in a loop" if share <= _LOOP else f"the reply repeats itself: {share:.0%} stood in it before"


def _usual(span: list[str], size: int) -> float:
    """How much the span itself repeats within pieces of this size: a note about such text may do so too."""
    pieces = [span[start : start + size] for start in range(0, len(span), size)]
    return sum(sum(_repeated(piece)) for piece in pieces) / max(1, len(span))


def _repeated(words: list[str]) -> list[bool]:
    """For each word, whether it is part of a run of words that stood in the text before."""
    seen: set[tuple[str, ...]] = set()
    again = [False] * len(words)
    for end in range(_GRAM, len(words) + 1):
        gram = tuple(words[end - _GRAM : end])
        if gram in seen:
            again[end - _GRAM : end] = [True] * _GRAM
        seen.add(gram)
    return again


def _echo(words: list[str], request: SummaryRequest) -> str | None:
    """A beginning of one's own prompt: the orders in it, or the first words of the span."""
    if len(words) < _ECHO:
        return None
    start = _joined(words[:_ECHO])
    orders = request.prompt
    for part in filter(None, (request.span, request.previous)):
        orders = orders.replace(part, "\n")
    if start in _joined(_words(orders)):
        return "the reply begins by echoing the prompt"
    if start in _joined(_words(_LABEL.sub("", request.span[: _BEGINNING * 20]))[:_BEGINNING]):
        return "the reply begins by echoing the span"
    return None


def _copy(words: list[str], request: SummaryRequest) -> str | None:
    """The longest run of the reply that stands in the span word for word, found by blocks of half the least length."""
    if len(words) < _COPY:
        return None
    span = _joined(_words(_QUOTED.sub(" ", _LABEL.sub("", request.span))))
    half = _COPY // 2
    longest = run = 0
    for start in range(0, len(words) - half + 1, half):
        run = run + half if run and _joined(words[start - run : start + half]) in span else 0
        if not run and _joined(words[start : start + half]) in span:
            run = half
        longest = max(longest, run)
    if longest >= _COPY and longest > _COPIED * len(words):
        return f"the reply copies the span: {longest} words in a row"
    return None


def _joined(words: list[str]) -> str:
    return f" {' '.join(words)} "
