"""JSON as text: where each element stands, and writing a new value the way its neighbours are written.

Editing the text instead of serialising the whole document again is what keeps every untouched message, number,
escape and blank at the bytes it came with.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

_scan = json.JSONDecoder().raw_decode
_blank = re.compile(r"[ \t\n\r]*")
_comma = re.compile(r"[ \t\n\r]*,[ \t\n\r]*")
_first_member = re.compile(r'\{([ \t\n\r]*)"(?:[^"\\]|\\.)*"([ \t\n\r]*:[ \t\n\r]*)')


def loads(text: str) -> Any:
    """The value of a JSON text. What msgspec rejects but writers produce (lone surrogates, NaN) json reads.

    Raises json.JSONDecodeError, and RecursionError for a text nested deeper than the interpreter's stack.
    """
    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeError):
        return json.loads(text)


def _skip(text: str, at: int) -> int:
    match = _blank.match(text, at)
    return match.end() if match else at


def elements(text: str, at: int) -> Iterator[tuple[int, int]]:
    """Start and end of each element of the array at `at`. The text must have been parsed before."""
    at = _skip(text, _skip(text, at) + 1)
    while text[at] != "]":
        _, end = _scan(text, at)
        yield at, end
        at = _skip(text, end)
        if text[at] == ",":
            at = _skip(text, at + 1)


def _members(text: str, at: int) -> Iterator[tuple[str, int, int]]:
    """Key, start and end of value of each member of the object at `at`."""
    at = _skip(text, _skip(text, at) + 1)
    while text[at] != "}":
        key, end = _scan(text, at)
        start = _skip(text, _skip(text, end) + 1)  # the colon between
        _, end = _scan(text, start)
        yield key, start, end
        at = _skip(text, end)
        if text[at] == ",":
            at = _skip(text, at + 1)


def find(text: str, path: Sequence[str]) -> int:
    """Where the value at the end of a path of keys begins. Of repeated keys the last counts, as for every reader."""
    at = _skip(text, 0)
    for key in path:
        at = {name: start for name, start, _ in _members(text, at)}[key]
    return at


@dataclass(frozen=True, slots=True)
class Style:
    """How the objects of a file are written. `indent` is None for objects on one line; otherwise `margin` is the line
    break and the blanks that stand before the closing brace."""

    comma: str = ", "
    colon: str = ": "
    indent: str | None = None
    margin: str = "\n"
    ascii: bool = False

    def dumps(self, value: Any) -> str:
        """The value as text in this style. What UTF-8 cannot hold (a lone surrogate) is escaped."""
        text = self._dumps(value, self.ascii)
        if not _encodable(text):
            text = self._dumps(value, True)
        return text.replace("\n", self.margin) if self.indent is not None else text

    def _dumps(self, value: Any, ascii_only: bool) -> str:
        return json.dumps(value, ensure_ascii=ascii_only, indent=self.indent, separators=(self.comma, self.colon))


def _encodable(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def style_of(sample: str, *, ascii_only: bool) -> Style:
    """The style in which the object `sample` is written; the default style where it shows none."""
    match = _first_member.match(sample)
    if match is None:
        return Style(ascii=ascii_only)
    inner, colon = match.groups()
    if "\n" in inner:
        margin = sample[len(sample[:-1].rstrip()) : -1]
        unit = inner.rpartition("\n")[2].removeprefix(margin.rpartition("\n")[2])
        return Style(",", colon, unit, margin, ascii_only)
    _, _, end = next(_members(sample, 0))
    comma = _comma.match(sample, end)
    return Style(comma.group() if comma else "," + colon[1:], colon, ascii=ascii_only)
