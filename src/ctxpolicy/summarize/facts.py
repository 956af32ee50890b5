"""The facts of a span: what it says word for word that later work may need.

Everything is read from the span as actions/render.py writes it: label lines `[3] user:`, `[5] tool result of NAME:`,
below them the content, indented by two spaces, calls as lines `calls NAME ARGUMENTS`. Messages that stay in the list
are not looked at, and what a harness put in is not taken for the user's words. The patterns are RE2 over UTF-8, so the
time is linear in the span.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from itertools import islice, zip_longest
from typing import NamedTuple

import re2

FACT = 160  # bytes of one fact; longer ones are shortened
_SHORT = 400  # bytes; a user message up to this is quoted whole

_STAYS, _HARNESS = b"(stays in the list)", b"(put in by the harness)"
_CALL = b"  calls "
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
_FAULTS = ("Errors", "Outcomes")
_BEFORE = b" \t\r\n\f\"'`(=:,["
_NUMBER = re.compile(r"\d(?:[\d.,]*\d)?")
_SHORT_FACTS = {  # what matches is the fact, but for a delimiter before it; groups would cost a second search
    "URLs": re2.compile(rb"https?://[^\s\"'<>)\]}\\`]*[^\s\"'<>)\]}\\`.,;:]"),
    "Files": re2.compile(
        rb"(?m)(?:^|[\s\"'`(=:,\[])(?:(?:~|\.{1,2})?/?(?:[\w.@+-]+/)*[\w.@+-]+\.(?:%s)\b|(?:~|\.{1,2})?/(?:[\w.@+-]+/)+[\w@+-]+)"
        % _SUFFIX.encode()
    ),
    "Identifiers": re2.compile(
        rb"\b[A-Z][A-Z0-9]{0,9}-\d{2,9}\b|\b[a-z]{1,3}-\d{3,9}\b|#[A-Z]?\d{2,12}\b|[\w.+-]+@[\w-]+\.[\w.]+\b"
        rb"|\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b|\b(?:\d+[a-f]|[a-f]+\d)[0-9a-f]{5,38}\b"
    ),
    "Figures": re2.compile(
        rb"\b[A-Za-z][\w-]{1,30}(?: is | of |: | ?= ?)\$?\d(?:[\d.,]*\d)?%?"
        rb"|\b(?:[Pp]ort|[Vv]ersion|[Oo]rder|[Ll]imit|[Tt]imeout|[Bb]udget) #?\d(?:[\d.,]*\d)?"
        rb"|\b\d(?:[\d.,]*\d)? ?(?:ms|min|seconds|minutes|hours|days|[kKMG]i?B|USD|EUR)\b|\$\d[\d.,]*\d"
    ),
}


class Fact(NamedTuple):
    """A short fact as it stands in the span, and what of it a note must have: of a figure, the number."""

    text: str
    core: str


def facts(span: str) -> dict[str, list[str]]:
    """All facts of a rendered span by section label; each is a piece of one of its lines.

    The short ones (files, URLs, identifiers, figures) come once each and ranked: what somebody said, called or got as
    an error before what stands in output alone, the most frequent first. The others come in order of appearance.
    """
    found, told, output = _read(span)
    short = {kind: [*_ranked(pattern, told), *_ranked(pattern, output)] for kind, pattern in _SHORT_FACTS.items()}
    return found | {kind: list(dict.fromkeys(ranked)) for kind, ranked in short.items()}


def worth_keeping(span: str, words: int) -> list[Fact]:
    """The short facts that a note of so many words should have: those that somebody said, called or got as an error.

    One for every ten words, the most frequent first, of each kind in turn: no kind crowds out another. Where nobody
    said any, they are those of the output.
    """
    _, told, output = _read(span)
    ranked = _by_kind(told) if any(_by_kind(told)) else _by_kind(output)
    turns = (fact for turn in zip_longest(*ranked) for fact in turn if fact is not None)
    return list(islice(dict.fromkeys(turns), max(1, words // 10)))


def _by_kind(text: bytes) -> list[list[Fact]]:
    return [[_fact(kind, fact) for fact in _ranked(pattern, text)] for kind, pattern in _SHORT_FACTS.items()]


def missing(facts: Sequence[Fact], note: str) -> list[str]:
    """Those of the facts that the note lacks; the case of letters and the kind of space do not count."""
    text, numbers = _plain(note), set(_NUMBER.findall(note))
    return [
        fact.text
        for fact in facts
        if (_plain(fact.text) not in text if fact.core == fact.text else fact.core not in numbers)
    ]


def _plain(text: str) -> str:
    return " ".join(text.casefold().split())


def _fact(kind: str, text: str) -> Fact:
    return Fact(text, _NUMBER.findall(text)[-1] if kind == "Figures" else text)


def _read(span: str) -> tuple[dict[str, list[str]], bytes, bytes]:
    """The facts that are lines, and the text that short ones are looked for in: what was told, and raw output."""
    found: defaultdict[str, list[str]] = defaultdict(list)
    told: list[bytes] = []
    output: list[bytes] = []
    for label, block in _blocks(span.encode("utf-8", "surrogatepass")):
        if label.endswith(_STAYS):
            continue
        said = label.startswith((b"user", b"assistant")) and not label.endswith(_HARNESS)
        (told if said else output).append(block)
        for section, line in _of_block(label, block):
            if section in _FAULTS:
                told.append(line)
            if text := _decoded(line):
                found[section].append(text)
    return dict(found), b"\n".join(told), b"\n".join(output)


def _ranked(pattern: re2._Regexp, text: bytes) -> list[str]:
    """What the pattern finds, each once, the most frequent first."""
    found = [text[match.start() : match.end()].lstrip(_BEFORE) for match in pattern.finditer(text)]
    ranked = (fact for fact, _ in Counter(found).most_common() if len(fact) <= FACT)
    return [fact for data in ranked if (fact := _decoded(data))]


def _blocks(data: bytes) -> Iterator[tuple[bytes, bytes]]:
    """Label and content of each message; a text without labels is one message of nobody.

    Content is indented, so that a line that begins with a bracket is a label.
    """
    for piece in (b"\n" + data).split(b"\n["):
        line, _, block = piece.partition(b"\n")
        number, _, label = line.removesuffix(b":").partition(b"] ")
        yield (label, block) if number.isdigit() else (b"", piece)


def _of_block(label: bytes, block: bytes) -> Iterator[tuple[str, bytes]]:
    if label.startswith(b"user") and not label.endswith(_HARNESS):
        yield from (("User said", line) for line in _lines(block, None if len(block) <= _SHORT else 3))
    elif label.startswith(b"assistant"):
        calls = (line for line in block.split(b"\n") if line.startswith(_CALL)) if _CALL in block else ()
        yield from (("Commands", _shortened(line[len(_CALL) :])) for line in calls)
        told = [line for line in _lines(block, 3) if not line.startswith(b"calls ")]
        yield from (("Assistant said", line) for line in sorted(told, key=len)[-1:])  # not a bare "So:"
    else:
        outcomes = list(_lines_around(_OUTCOME, block))
        known = set(outcomes)
        errors = [line for line in _lines_around(_ERROR, block) if line not in known]
        yield from (("Errors", line) for line in errors)
        yield from (("Outcomes", line) for line in outcomes)
        yield from (("Output", line) for line in _lines(block, 0 if errors or outcomes else 2))


def _lines(block: bytes, most: int | None) -> Iterator[bytes]:
    """The first lines that are not blank, without their indent."""
    lines = (line.strip() for line in block.split(b"\n"))
    return (_shortened(line) for line in islice(filter(None, lines), most))


def _lines_around(pattern: re2._Regexp, block: bytes) -> Iterator[bytes]:
    """Each line in which the pattern is found; of a long line the piece around the first place."""
    at = 0
    while match := pattern.search(block, at):
        start = block.rfind(b"\n", 0, match.start()) + 1
        end = block.find(b"\n", match.end())
        at = len(block) if end < 0 else end
        yield _shortened(block[max(start, _boundary(block, match.start() - FACT // 3)) : at]).strip()


def _shortened(line: bytes) -> bytes:
    return line if len(line) <= FACT else line[: _boundary(line, FACT)]


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
