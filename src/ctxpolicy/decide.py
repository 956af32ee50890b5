"""Decisions: what happened to each message that went into a run, and which rule or pin decided."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from msgspec.structs import replace

from ctxpolicy.items import Item
from ctxpolicy.outgoing import Touch
from ctxpolicy.result import Decision
from ctxpolicy.view import LIVE, View


def decisions(given: Sequence[Item], after: View, touched: Mapping[int, Touch]) -> tuple[Decision, ...]:
    """One decision for each of the caller's messages, in order.

    `after` is the list that came out, `touched` what was repaired when it was handed out, by position.
    """
    found: list[Decision] = []
    for old, position in zip(given, _places(given, after.items), strict=True):
        decision = _decision(len(found), old, after, position)
        if position in touched and decision.fate in ("kept", "pinned", "live"):
            touch = touched[position]
            decision = replace(decision, fate="repaired", by=touch.code, left=touch.left, ref=touch.ref)
        if old.message.part == 0:
            found.append(decision)
        else:  # a further part of the same message
            found[-1] = _together(found[-1], replace(decision, index=len(found) - 1))
    return tuple(found)


def _decision(index: int, old: Item, after: View, position: int) -> Decision:
    new = after.items[position]
    if new.message.wire is not old.message.wire and new.edit is not None:
        edit = new.edit
        left = new.tokens if edit.fate in ("truncated", "masked", "repaired") else 0
        return Decision(index, edit.fate, edit.rule, old.tokens, left, edit.ref)
    if after.live[position]:
        return Decision(index, "live", LIVE, old.tokens, old.tokens)
    pin = after.pinned[position]
    return Decision(index, "pinned" if pin else "kept", pin, old.tokens, old.tokens)


def _together(first: Decision, second: Decision) -> Decision:
    """The decision on a message of several parts: what was done to any of them."""
    told = first if first.ref or not second.ref else second
    return replace(told, tokens=first.tokens + second.tokens, left=first.left + second.left)


def _places(given: Sequence[Item], after: Sequence[Item]) -> Iterator[int]:
    """For each given item, the position of the item that stands for it now."""
    position = 0
    for item in given:
        while after[position].end < item.end:
            position += 1
        yield position
