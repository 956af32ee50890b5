"""What the append rules make of a message when it arrives."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from ctxpolicy.actions.refuse import refusal
from ctxpolicy.actions.truncate import shortened
from ctxpolicy.archive.standing import standing
from ctxpolicy.gaps import taken_out
from ctxpolicy.intake import changed
from ctxpolicy.items import Edit, Item
from ctxpolicy.result import Removed
from ctxpolicy.rules import Pipeline
from ctxpolicy.values import text_digest


class Arrival(msgspec.Struct, frozen=True):
    """A message cut when it arrived: where it stands, as it was, and the records of what was cut."""

    position: int
    whole: Item
    rule: str
    removed: tuple[Removed, ...]


def arrive(pipeline: Pipeline, item: Item, position: int) -> tuple[Item, Arrival | None]:
    """What the append rules make of the message at `position`. Raises MessageTooLarge where a rule refuses it."""
    whole = item
    removed: tuple[Removed, ...] = ()
    for rule in pipeline.append_rules:
        if not rule.test(item):
            continue
        if rule.how is None:
            raise refusal(rule.id, item, pipeline.limit, rule.words, pipeline.reading.format)
        swap = shortened(item, rule.how, pipeline.reading, position) if item.role == "tool" else None
        if swap is not None:
            removed = (*removed, removed_from(rule.id, swap.ref, (item,), swap.wire))
            edit = Edit(rule.id, "truncated", swap.ref, item.end, arrival=True)
            item = changed(pipeline.reading, item, swap.wire, edit)
    if item.edit is None or not removed:
        return item, None
    return item, Arrival(position, whole, item.edit.rule, removed)


def removed_from(rule: str, ref: str, gone: Sequence[Item], wire: Any) -> Removed:
    """The record of what a rule takes out of a place; `wire` is what stands there now."""
    wires, shares = taken_out(gone)
    return Removed(ref, tuple(wires), text_digest(standing(wire, ref)), rule, tuple(shares) if any(shares) else ())
