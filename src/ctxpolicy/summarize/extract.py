"""A summary without a model: what the span says word for word, most useful first, within the word limit.

Everything is read from the span as actions/render.py writes it: label lines `[3] user:`, `[5] tool result of NAME:`,
below them the content, indented by two spaces, calls as lines `calls NAME ARGUMENTS`. Messages that stay in the list
are not repeated, and what a harness put in is not taken for the user's words. The patterns are RE2 over UTF-8, so the
time is linear in the span.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import NamedTuple

import re2

from ctxpolicy.summarize.request import SummaryRequest

NOTHING = "NOTHING"
_FACT = 160  # bytes of one fact; longer ones are shortened
_SHORT = 400  # bytes; a user message up to this is quoted whole
_WORD = 6  # bytes: a text without spaces (JSON, Chinese) counts one word for this many
_LEAST = 6  # words; a fact is not shortened to less


class _Section(NamedTuple):
    """One labelled line. It may take `share` of the words still free when its turn comes."""

    label: str
    share: float
    ranked: bool = False  # most frequent first; else the newest have precedence, in their order
    quoted: bool = False


_SECTIONS = (
    _Section("Earlier", 0.4),
    _Section("User said", 0.4, quoted=True),
    _Section("Errors", 0.3),
    _Section("Outcomes", 0.3),
    _Section("Commands", 0.4),
    _Section("Files", 0.4, ranked=True),
    _Section("Assistant said", 0.5, quoted=True),
    _Section("URLs", 0.5, ranked=True),
    _Section("Identifiers", 0.5, ranked=True),
    _Section("Figures", 0.6, ranked=True),
    _Section("Output", 1.0),
)

_STAYS, _HARNESS = b"(stays in the list)", b"(put in by the harness)"
_LABEL = re2.compile(rb"(?m)^\[\d+\] (.*):$\n?")
_CALL = re2.compile(rb"(?m)^  calls (\S.*)$")
_WORDS = re2.compile(rb"(?m)^ *(\S.*?) *$")
_ERROR = re2.compile(
    rb"[Ee]rror|ERROR|[Ee]xception|[Ff]ailed|FAIL|[Ff]ailure|[Ff]atal|[Dd]enied|not found|[Nn]o such|panic|[Cc]annot"
)
_OUTCOME = re2.compile(
    rb"\b\d+ (?:passed|failed|errors?|skipped|warnings?|files? changed)\b"
    rb"|\b[Ee]xit(?:ed)?(?: with)?(?: code| status)?[:=]? ?-?\d+\b|return ?code[>:= ]+-?\d+"
)
_SUFFIX = (
    "py|pyi|ipynb|js|jsx|ts|tsx|json|jsonl|ya?ml|toml|md|rst|txt|csv|html?|css|sh|go|rs|java|kt|swift|c|h|cc|cpp|hpp|cs"
    "|rb|php|sql|ini|cfg|conf|lock|log|xml|pdf|png|jpe?g|svg|zip|gz|env"
)
_WHOLE = {  # what the group matches is the fact
    "URLs": re2.compile(rb"(https?://[^\s\"'<>)\]}\\`]*[^\s\"'<>)\]}\\`.,;:])"),
    "Files": re2.compile(
        rb"(?m)(?:^|[\s\"'`(=:,\[])((?:~|\.{1,2})?/?(?:[\w.@+-]+/)*[\w.@+-]+\.(?:%s)\b|(?:~|\.{1,2})?/(?:[\w.@+-]+/)+[\w@+-]+)"
        % _SUFFIX.encode()
    ),
    "Identifiers": re2.compile(
        rb"(\b[A-Z][A-Z0-9]{1,9}-\d{2,9}\b|#[A-Z]?\d{2,12}\b|\b[\w.+-]{1,64}@[\w-]{1,64}\.[\w.]{2,64}\b"
        rb"|\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b|\b[0-9a-f]{40}\b)"
    ),
    "Figures": re2.compile(
        rb"(\b[A-Za-z][\w-]{1,30}(?: is | of |: | ?= ?)\$?\d(?:[\d.,]*\d)?%?"
        rb"|\b(?:[Pp]ort|[Vv]ersion|[Oo]rder|[Ll]imit|[Tt]imeout|[Bb]udget) #?\d(?:[\d.,]*\d)?"
        rb"|\b\d(?:[\d.,]*\d)? ?(?:ms|min|seconds|minutes|hours|days|[kKMG]i?B|USD|EUR)\b|\$\d[\d.,]*\d)"
    ),
}


def extract(request: SummaryRequest) -> str:
    """Labelled lines of facts out of `request.span`, in at most `request.word_limit` words.

    "NOTHING" when the span has no words at all. Deterministic: the same span gives the same text.
    """
    found = facts(request.span)
    if request.previous:
        found["Earlier"] = [line.removeprefix("Earlier: ") for line in request.previous.splitlines() if line.strip()]
    lines, free = [], request.word_limit
    for section in _SECTIONS:
        budget = int(free * section.share) - len(section.label.split())
        chosen, cost = _choose(found.get(section.label, ()), budget, ranked=section.ranked)
        if chosen:
            lines.append(f"{section.label}: " + "; ".join(f'"{fact}"' if section.quoted else fact for fact in chosen))
            free -= cost + len(section.label.split())
    return "\n".join(lines) or _first_words(found, request.word_limit) or NOTHING


def facts(span: str) -> dict[str, list[str]]:
    """All facts of a rendered span by section label, in order of appearance; each is a piece of one of its lines."""
    data = span.encode("utf-8", "surrogatepass")
    found: defaultdict[str, list[str]] = defaultdict(list)
    for label, block in _blocks(data):
        if not label.endswith(_STAYS):
            for section, fact in _of_block(label, block):
                if text := _decoded(fact):
                    found[section].append(text)
    return dict(found)


def _blocks(data: bytes) -> Iterator[tuple[bytes, bytes]]:
    """Label and content of each message; a text without labels is one message of nobody."""
    labels = list(_LABEL.finditer(data))
    if not labels:
        yield b"", data
    ends = [*(label.start() for label in labels[1:]), len(data)]
    for label, end in zip(labels, ends, strict=False):
        yield label.group(1), data[label.end() : end]


def _of_block(label: bytes, block: bytes) -> Iterator[tuple[str, bytes]]:
    if label.startswith(b"user") and not label.endswith(_HARNESS):
        yield from (("User said", line) for line in _lines(block, None if len(block) <= _SHORT else 3))
    elif label.startswith(b"assistant"):
        yield from (("Commands", _shortened(m.group(1))) for m in _CALL.finditer(block))
        told = [line for line in _lines(block, 3) if not line.startswith(b"calls ")]
        yield from (("Assistant said", line) for line in sorted(told, key=len)[-1:])  # not a bare "So:"
    else:
        outcomes = list(_lines_around(_OUTCOME, block))
        known = set(outcomes)
        errors = [line for line in _lines_around(_ERROR, block) if line not in known]
        yield from (("Errors", line) for line in errors)
        yield from (("Outcomes", line) for line in outcomes)
        yield from (("Output", line) for line in _lines(block, 0 if errors or outcomes else 2))
    for section, pattern in _WHOLE.items():
        yield from ((section, fact) for fact in pattern.findall(block) if len(fact) <= _FACT)


def _lines(block: bytes, most: int | None) -> Iterator[bytes]:
    """The first lines that are not blank, without their indent."""
    return (_shortened(match.group(1)) for match in islice(_WORDS.finditer(block), most))


def _lines_around(pattern: re2._Regexp, block: bytes) -> Iterator[bytes]:
    """Each line in which the pattern is found; of a long line the piece around the first place."""
    at = 0
    while match := pattern.search(block, at):
        start = block.rfind(b"\n", 0, match.start()) + 1
        end = block.find(b"\n", match.end())
        at = len(block) if end < 0 else end
        yield _shortened(block[max(start, _boundary(block, match.start() - _FACT // 3)) : at]).strip()


def _shortened(line: bytes) -> bytes:
    return line if len(line) <= _FACT else line[: _boundary(line, _FACT)]


def _boundary(data: bytes, at: int) -> int:
    """The nearest place at or before `at` that does not cut a character in two."""
    while at > 0 and data[at] & 0xC0 == 0x80:
        at -= 1
    return max(at, 0)


def _decoded(fact: bytes) -> str | None:
    """The fact as text of one line: whatever else breaks a line ends it."""
    try:
        return next(iter(fact.decode().strip().splitlines()), None)
    except UnicodeDecodeError:  # a lone surrogate: no summary may carry it to a provider
        return None


def _choose(given: Iterable[str], budget: int, *, ranked: bool) -> tuple[list[str], int]:
    """The facts that fit into `budget` words, each once, in the order they are told, and what they cost."""
    order = [fact for fact, _ in Counter(given).most_common()] if ranked else list(dict.fromkeys(reversed([*given])))
    chosen: list[str] = []
    free = budget
    for fact in order:
        if not chosen and _cost(fact) > free >= _LEAST:
            fact = _cut(fact, free)
        if _cost(fact) <= free:
            chosen.append(fact)
            free -= _cost(fact)
        if free <= 0:
            break
    return (chosen if ranked else chosen[::-1]), budget - free


def _cost(fact: str) -> int:
    return max(len(fact.split()), -(-len(fact.encode()) // _WORD))


def _cut(fact: str, words: int) -> str:
    """The beginning of a fact that costs at most this many words, at the end of a word where it has one."""
    piece = fact.encode()[: words * _WORD].decode(errors="ignore")
    if len(piece) < len(fact) and not fact[len(piece)].isspace() and len(piece.split()) > 1:
        piece = piece.rsplit(None, 1)[0]
    rest = piece.split(None, words)[words:]
    return piece.removesuffix(rest[0] if rest else "").rstrip()


def _first_words(found: dict[str, list[str]], words: int) -> str:
    """For a limit too small for any labelled line: the beginning of the best fact there is."""
    best = next((found[section.label][-1] for section in _SECTIONS if found.get(section.label)), "")
    return _cut(best, words)
