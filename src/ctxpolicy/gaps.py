"""Gaps: what is about to leave a list, as contiguous runs priced with the markers that will stand for them.

Runs that meet become one, and a run that meets a marker already there takes it in. A run that would not be smaller
with its marker than without it is not made.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import msgspec

from ctxpolicy.formats.shared import families, united
from ctxpolicy.items import Item, Tally
from ctxpolicy.marks import Mark
from ctxpolicy.messages import Message
from ctxpolicy.values import reference
from ctxpolicy.view import View

# Stands in for a reference while a gap is priced. No reference costs more under any counter (letters and digits that
# alternate are the most words), so a gap never turns out dearer than it was priced.
DEAREST_REF = "0a" * 6


class Change(msgspec.Struct, frozen=True):
    """Positions `start` to `stop` of a list are to be replaced by one message that says `text`."""

    start: int
    stop: int
    text: str
    ref: str


class Run(msgspec.Struct):
    """Positions `start` to `stop` that leave, what they amount to, and what the marker for them costs."""

    start: int
    stop: int
    out: Tally
    count: int
    chars: int
    lines: int
    price: int = 0

    @property
    def made(self) -> bool:
        return self.price < self.out.tokens

    def joined(self, later: Run) -> Run:
        """This run and the one that begins where it stops, not priced yet."""
        return Run(
            self.start,
            later.stop,
            self.out.plus(later.out),
            self.count + later.count,
            self.chars + later.chars,
            self.lines + later.lines,
        )


class Gaps:
    """The runs taken so far. `saved` is the tally that the list loses when they are made, markers priced in."""

    def __init__(self, view: View, mark: Mark, price: Callable[[str], int]) -> None:
        self._items, self._live, self._mark, self._cost = view.items, view.live, mark, price
        self._by_start: dict[int, Run] = {}
        self._by_stop: dict[int, Run] = {}
        self.saved = Tally()

    def take(self, start: int, stop: int) -> Run:
        """Take positions out. They must not have been taken before."""
        run = self._lifted(start, self._by_stop) or Run(start, start, Tally(), 0, 0, 0)
        self._grow(run, stop)
        while (left := self._lifted(run.start, self._by_stop) or self._marker(run.start - 1)) is not None:
            run = left.joined(run)
        while (right := self._lifted(run.stop, self._by_start) or self._marker(run.stop)) is not None:
            run = run.joined(right)
        run.price = self._price(run)
        self._by_start[run.start] = self._by_stop[run.stop] = run
        self._settle(run, 1)
        return run

    def runs(self) -> Iterator[Run]:
        """The runs worth making, in order."""
        return (self._by_start[start] for start in sorted(self._by_start) if self._by_start[start].made)

    def changes(self) -> Iterator[Change]:
        """The same runs with the texts and references of their markers."""
        for run in self.runs():
            yield self.change(run)

    def change(self, run: Run) -> Change:
        ref = reference_of(self._items[run.start : run.stop])
        return Change(run.start, run.stop, self._text(run, ref), ref)

    def _lifted(self, edge: int, index: dict[int, Run]) -> Run | None:
        """The run that touches this edge, taken out so that it can grow."""
        run = index.get(edge)
        if run is not None:
            del self._by_start[run.start], self._by_stop[run.stop]
            self._settle(run, -1)
        return run

    def _marker(self, position: int) -> Run | None:
        """An old marker at this position, as a run; one in the live tail stays as it is."""
        if 0 <= position < len(self._items) and self._items[position].ours == "gap" and not self._live[position]:
            run = Run(position, position, Tally(), 0, 0, 0)
            self._grow(run, position + 1)
            return run
        return None

    def _grow(self, run: Run, stop: int) -> None:
        for item in self._items[run.stop : stop]:
            text = item.message.text
            run.out.add(item)
            run.count += item.count
            run.chars += len(text)
            run.lines += text.count("\n") + 1
        run.stop = stop

    def _settle(self, run: Run, sign: int) -> None:
        """Add a run's savings to the total, or take them back."""
        if run.made:
            self.saved.shift(run.out, sign)
            self.saved.tokens -= sign * run.price

    def _price(self, run: Run) -> int:
        return self._cost(self._text(run, DEAREST_REF))

    def _text(self, run: Run, ref: str) -> str:
        return self._mark.text(
            count=run.count, chars=run.chars, lines=run.lines, tokens=run.out.tokens, tool="messages", ref=ref
        )


def taken_out(items: Sequence[Item]) -> tuple[list[Any], list[list[Any] | None]]:
    """The wire messages of items that leave together, and for each its share of the caller's own message.

    A share is the reference of that whole message, which of its parts these begin with, and how many it had; None
    where the message is whole.
    """
    if all(item.message.parts == 1 for item in items):
        return [item.message.wire for item in items], [None] * len(items)
    own = families(item.message for item in items)
    return [united(family) for family in own], [_share(family) for family in own]


def _share(family: Sequence[Message]) -> list[Any] | None:
    first = family[0]
    return None if len(family) == first.parts else [reference([first.origin]), first.part, first.parts]


def reference_of(items: Sequence[Item]) -> str:
    """The reference under which these items' messages are archived."""
    wires, shares = taken_out(items)
    return reference([*wires, shares] if any(shares) else wires)
