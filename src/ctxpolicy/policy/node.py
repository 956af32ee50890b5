"""A policy document as it was written: plain values, each with its place in a file."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import msgspec

from ctxpolicy.policy.findings import Finding, Place
from ctxpolicy.policy.model import Scalar

Path_ = tuple[str | int, ...]  # the keys and indexes that lead from the root to a value


class Source(msgspec.Struct, frozen=True):
    """A policy file: the name that reports show, its lines, and the folder that relative `extends` start from."""

    name: str
    lines: tuple[str, ...]
    folder: Path


class Span(msgspec.Struct, frozen=True):
    """A stretch of a file. Lines and columns count characters from 1; the end is exclusive."""

    source: Source
    line: int
    column: int
    end_line: int
    end_column: int

    def finding(self, code: str, message: str, hint: str | None = None, also: Place | None = None) -> Finding:
        """A finding about this stretch."""
        text, end = self._first_line()
        return Finding(code, message, self.source.name, self.line, self.column, end, text, hint, also)

    def labelled(self, label: str) -> Place:
        """This stretch as the second place of a finding."""
        text, end = self._first_line()
        return Place(label, self.source.name, self.line, self.column, end, text)

    def _first_line(self) -> tuple[str, int]:
        """The line it begins in, and where it ends there: what reaches further is marked to the end of the line."""
        lines = self.source.lines
        text = lines[self.line - 1] if self.line <= len(lines) else ""
        end = self.end_column if self.end_line == self.line else len(text.rstrip()) + 1
        return text, max(end, self.column + 1)

    def inside(self, line: int) -> Span:
        """One line of a text that stands in a block (`|`), from 1; of any other text, the whole."""
        written = self.source.lines[self.line - 1 : self.line + line]
        if len(written) <= line or not written[0][self.column - 1 :].startswith("|"):
            return self
        text, number = written[line], self.line + line
        first = len(text) - len(text.lstrip()) + 1
        return Span(self.source, number, first, number, len(text.rstrip()) + 1)

    def __str__(self) -> str:
        return f"{self.source.name}:{self.line}"


DEFAULT = Span(Source("default", (), Path()), 0, 0, 0, 0)  # where a value stands that nobody wrote


class Node(msgspec.Struct, frozen=True, eq=False):
    """A value and its place. A mapping's `keys` say where each key stands. Never changed once made, so trees share."""

    value: Scalar | list[Node] | dict[str, Node]
    span: Span
    keys: Mapping[str, Span] = msgspec.field(default_factory=dict)

    @property
    def mapping(self) -> dict[str, Node]:
        """The entries of a mapping; of anything else, none."""
        return self.value if isinstance(self.value, dict) else {}

    @property
    def items(self) -> list[Node]:
        """The items of a list; of anything else, none."""
        return self.value if isinstance(self.value, list) else []

    def rest_of_line(self) -> str:
        """What stands behind the value on its last line."""
        lines = self.span.source.lines
        return lines[self.span.end_line - 1][self.span.end_column - 1 :] if self.span.end_line <= len(lines) else ""

    def plain(self) -> Any:
        """The same as dicts, lists and scalars."""
        if isinstance(self.value, dict):
            return {key: node.plain() for key, node in self.value.items()}
        return [node.plain() for node in self.value] if isinstance(self.value, list) else self.value

    def at(self, path: Iterable[str | int]) -> Node:
        """The value at a path; where the path leads nowhere, the last value on the way."""
        node = self
        for step in path:
            found = node.mapping.get(step) if isinstance(step, str) else _item(node.items, step)
            if found is None:
                return node
            node = found
        return node

    def place(self, path: Path_) -> Span:
        """Where to point for a path: a mapping or list at its key, an item at its start, a scalar at itself."""
        node = self.at(path)
        if not isinstance(node.value, (dict, list)) or not path:
            return _first(node)
        last = path[-1]
        parent = self.at(path[:-1])
        return parent.keys.get(last, node.span) if isinstance(last, str) else _first(node)

    def key(self, path: Path_, key: str) -> Span:
        """Where a key of the mapping at `path` stands; where it is not written, the mapping."""
        return self.at(path).keys.get(key) or self.place(path)


def _item(items: list[Node], index: int) -> Node | None:
    return items[index] if index < len(items) else None


def _first(node: Node) -> Span:
    """A mapping's first key stands for the mapping: an end many lines below helps nobody."""
    return next(iter(node.keys.values()), node.span) if isinstance(node.value, dict) else node.span
