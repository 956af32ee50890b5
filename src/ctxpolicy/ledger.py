"""The digests of the caller's list at the places where edits need them, without keeping that list."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ctxpolicy.items import Item
from ctxpolicy.state import START, chain

_FEW = 64  # digests kept that nothing needs, so that the needed ones are seldom looked for


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
        waiting, self._waiting = self._waiting, []
        needed = self._needed(items) if len(waiting) > _FEW else None
        for n, wire in enumerate(waiting, self.length - len(waiting) + 1):
            self._digest = chain(self._digest, wire)
            if needed is None or n in needed:
                self._at[n] = self._digest.hex()
        if len(self._at) > 2 * len(items) + _FEW:
            needed = self._needed(items)
            self._at = {n: digest for n, digest in self._at.items() if n in needed}
        return self._at

    def _needed(self, items: Sequence[Item]) -> set[int]:
        """The lengths whose digests an edit of these items or of what came behind them has, or can have."""
        ends = {item.end for item in items} | {item.edit.until for item in items if item.edit is not None}
        return ends.union(range(items[-1].end + 1 if items else 1, self.length + 1))
