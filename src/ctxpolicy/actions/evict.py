"""evict: the oldest free units leave, whole, until the goal holds; their gaps get markers and no summary."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from ctxpolicy.actions import Step, held
from ctxpolicy.gaps import Gaps
from ctxpolicy.intake import Reading
from ctxpolicy.marks import Mark
from ctxpolicy.select import Selector
from ctxpolicy.units import free_blocks
from ctxpolicy.view import View
from ctxpolicy.when import Condition


class Evict(msgspec.Struct, frozen=True):
    """A compiled `evict`. `done` tells when to stop (never, for `until: all`)."""

    done: Condition
    keep: Selector | None
    mark: Mark


def evict(view: View, how: Evict, reading: Reading, fresh: frozenset[str]) -> Step:
    """Choose what leaves. Summaries leave last, and never one whose reference is in `fresh` (made in this run)."""
    if how.done(view.facts):
        return Step("declined: its goal holds already")
    protection = view.protection(how.keep)
    gaps = Gaps(view, how.mark, reading.price)
    reached = False
    for start, stop in _candidates(view, protection, fresh):
        gaps.take(start, stop)
        if how.done(view.load.facts(view.tally.plus(gaps.saved, -1))):
            reached = True
            break
    changes = tuple(gaps.changes())
    count = sum(change.stop - change.start for change in changes)
    why = "" if reached else "; nothing else is free to leave: " + held(view, protection)
    if not changes:
        return Step("declined" + (why or ": no gap would shrink the list"))
    return Step(f"evicted {count:,} messages{why}", changes)


def _candidates(view: View, protection: list[str | None], fresh: frozenset[str]) -> Iterator[tuple[int, int]]:
    """Blocks free to leave, oldest first, those with a summary after all others."""
    late: list[tuple[int, int]] = []
    for start, stop in free_blocks(view.structure, protection):
        items = view.items[start:stop]
        if stop - start == 1 and items[0].ours == "gap":
            continue
        summaries = [item for item in items if item.ours == "summary"]
        if not summaries:
            yield start, stop
        elif not any(item.edit is not None and item.edit.ref in fresh for item in summaries):
            late.append((start, stop))
    yield from late
