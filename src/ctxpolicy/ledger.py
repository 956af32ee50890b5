"""The digests of the caller's list at the places where edits need them, without keeping that list."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ctxpolicy.items import Item
from ctxpolicy.state import START, chain


class Ledger:
    """Counts the messages that came in and, once an edit needs it, digests them.

    Nothing is hashed before `digests` is first asked for.
    """

    def __init__(self) -> None:
        self.length = 0
        self._digest = START
        self._waiting: list[Any] = []  # not digested yet
        self._at: dict[int, str] = {}

    def add(self, wire: Any) -> None:
        """One more message came in."""
        self.length += 1
        self._waiting.append(wire)

    def digests(self, items: Sequence[Item]) -> Mapping[int, str]:
        """The digests (hex) by length, for every place that an edit of these items needs, or a later one may need."""
        at = self.length - len(self._waiting)
        for n, wire in enumerate(self._waiting, at + 1):
            self._digest = chain(self._digest, wire)
            self._at[n] = self._digest.hex()
        self._waiting = []
        if len(self._at) > 2 * len(items) + 64:  # forget what no item can need any more
            needed = {item.end for item in items} | {item.edit.until for item in items if item.edit is not None}
            self._at = {n: digest for n, digest in self._at.items() if n in needed or n > items[-1].end}
        return self._at
