"""Signed reasoning: newer models bind a thinking block to everything that stood before it when it was made.

`reasoning` of the policy says what happens where that is rewritten:

- `keep`, the default, leaves the blocks byte for byte. Right for Gemini and OpenAI, whose reasoning is bound to its own
  turn only (and leaves with it), and for every Claude that does not bind thinking to history; one that does can be told
  in the request to drop what no longer fits.
- `strip_after_edit` takes them out behind the first rewritten place: for models that refuse a request otherwise.
- `refuse_edit` lets nothing be rewritten that stands before one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ctxpolicy.actions import Swap
from ctxpolicy.formats import Format
from ctxpolicy.gaps import reference_of
from ctxpolicy.items import Item
from ctxpolicy.select import Selector

if TYPE_CHECKING:
    from ctxpolicy.view import View

REFUSED = "reasoning: refuse_edit"  # what protects a message where nothing may be rewritten before signed reasoning


class BeforeSigned(Selector, frozen=True):
    """Selects, as a pin does, every message before the last one with signed reasoning."""

    mask: int = 0

    def select(self, view: View) -> list[int]:
        """The positions that must not be rewritten."""
        return list(range(max(signed(view.items, 0), default=0)))


def signed(items: Sequence[Item], start: int) -> list[int]:
    """The positions from `start` on that hold reasoning with a signature."""
    return [i for i in range(start, len(items)) if "signed" in items[i].message.has]


def first_rewritten(before: Sequence[Item], after: Sequence[Item]) -> int | None:
    """The first position at which two states of a list differ."""
    for i, (old, new) in enumerate(zip(before, after, strict=False)):
        if old is not new:
            return i
    return None if len(before) == len(after) else min(len(before), len(after))


def strip(items: Sequence[Item], places: Sequence[int], format: Format) -> list[Swap]:
    """The messages at these places without their reasoning."""
    swaps: list[Swap] = []
    for i in places:
        wire = items[i].message.wire
        bare = format.without(wire, frozenset(("reasoning",)), "")
        if bare is not wire:
            swaps.append(Swap(i, bare, reference_of([items[i]])))
    return swaps
