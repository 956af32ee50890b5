"""Decisions: what happened to each message that went into a run, and which rule or pin decided."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ctxpolicy.items import Item
from ctxpolicy.result import Decision
from ctxpolicy.view import LIVE, View


def decisions(given: Sequence[Item], after: View) -> tuple[Decision, ...]:
    """One decision for each item of `given`, in order. `after` is the list that came out."""
    owner = after.pinned
    found: list[Decision] = []
    for index, (old, position) in enumerate(zip(given, _places(given, after.items), strict=True)):
        new = after.items[position]
        if new.message.wire is not old.message.wire and new.edit is not None:
            edit = new.edit
            left = new.tokens if edit.fate in ("truncated", "masked") else 0
            found.append(Decision(index, edit.fate, edit.rule, old.tokens, left, edit.ref))
        elif after.live[position]:
            found.append(Decision(index, "live", LIVE, old.tokens, old.tokens))
        else:
            pin = owner[position]
            found.append(Decision(index, "pinned" if pin else "kept", pin, old.tokens, old.tokens))
    return tuple(found)


def _places(given: Sequence[Item], after: Sequence[Item]) -> Iterator[int]:
    """For each given item, the position of the item that stands for it now."""
    position = 0
    for item in given:
        while after[position].end < item.end:
            position += 1
        yield position
