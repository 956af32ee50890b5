"""A summary without a model: what the span says word for word, most useful first, within the word limit."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from ctxpolicy.summarize.facts import facts
from ctxpolicy.summarize.request import SummaryRequest

NOTHING = "NOTHING"
_WORD = 6  # bytes: a text without spaces (JSON, Chinese) counts one word for this many
_LEAST = 6  # words; a fact is not shortened to less


class _Section(NamedTuple):
    """One labelled line. It may take `share` of the words still free when its turn comes."""

    label: str
    share: float
    ranked: bool = False  # as they come; else the newest have precedence, in their order
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


def _choose(given: Iterable[str], budget: int, *, ranked: bool) -> tuple[list[str], int]:
    """The facts that fit into `budget` words, each once, in the order they are told, and what they cost."""
    order = list(dict.fromkeys(given if ranked else reversed([*given])))
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
