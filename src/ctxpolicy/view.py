"""A rule's view of the list: the items as the rule receives them, and the facts of place, each found out when asked."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cached_property

from ctxpolicy.items import Facts, Item, Load, Tally
from ctxpolicy.match import Selector, Traits
from ctxpolicy.units import Structure, live_tail, segment

LIVE, LAST = "live", "last"


class View:
    """An immutable list of items with what the policy's pins and the list's structure say of each position."""

    def __init__(
        self, items: Sequence[Item], tally: Tally, load: Load, traits: Traits, pins: Sequence[tuple[str, Selector]]
    ) -> None:
        self.items, self.tally, self.load = items, tally, load
        self._traits, self._pins = traits, pins

    @cached_property
    def facts(self) -> Facts:
        return self.load.facts(self.tally)

    @cached_property
    def used(self) -> int:
        """Tokens of everything sent, by the plain counter."""
        return self.load.used(self.tally)

    @cached_property
    def traits(self) -> list[int]:
        of = self._traits.of
        return [of(item) for item in self.items]

    @cached_property
    def structure(self) -> Structure:
        return segment(self.items)

    @cached_property
    def live(self) -> bytearray:
        return live_tail(self.items, self.structure)

    @cached_property
    def pinned(self) -> list[str | None]:
        """The id of the first pin that protects each position; a pin protects the whole unit of what it matches."""
        owner: list[str | None] = [None] * len(self.items)
        for pin_id, pin in self._pins:
            for i in self.selected(pin):
                for j in self.structure.unit(i):
                    owner[j] = owner[j] or pin_id
        return owner

    def selected(self, chosen: Selector) -> list[int]:
        """Positions that a pin or rule matches; our own summaries and markers never are."""
        return [i for i, flag in enumerate(chosen.select(self)) if flag and self.items[i].ours is None]

    def protection(self, keep: Selector | None = None) -> list[str | None]:
        """What keeps each position in the list: `live`, a pin's id, `keep`, `last`; None where it is free to leave."""
        why: list[str | None] = list(self.pinned)
        if keep is not None:
            for i in self.selected(keep):
                for j in self.structure.unit(i):
                    why[j] = why[j] or "keep"
        for i, live in enumerate(self.live):
            if live:
                why[i] = why[i] or LIVE
        if why:
            why[-1] = why[-1] or LAST
        return why

    @cached_property
    def opening_end(self) -> int:
        """The first assistant message, tool result, summary or marker; what stands before it is the opening."""
        for i, item in enumerate(self.items):
            if item.ours is not None or item.role == "tool" or item.message.role in ("assistant", "tool"):
                return i
        return len(self.items)

    @cached_property
    def turn_ages(self) -> list[int]:
        """User turns from the end; the running one is 0."""
        ages = [0] * len(self.items)
        age = 0
        for i in range(len(self.items) - 1, -1, -1):
            ages[i] = age
            if self.items[i].role == "user":
                age += 1
        return ages

    @cached_property
    def superseded(self) -> bytearray:
        """1 for a result whose tool was called again later with the same arguments, and answered."""
        flags = bytearray(len(self.items))
        last: dict[tuple[str, str], int] = {}
        for i in range(len(self.items) - 1, -1, -1):
            asked = self._asked(i)
            if asked is not None:
                flags[i] = asked in last and last[asked] != self.structure.head[i]
                last.setdefault(asked, self.structure.head[i])
        return flags

    def _asked(self, position: int) -> tuple[str, str] | None:
        """Tool and arguments of the call that this position answers."""
        result_of = self.items[position].message.result_of
        head = self.structure.head[position]
        if result_of is None or head == position:
            return None
        calls = (call for i in self.structure.unit(head) for call in self.items[i].message.calls)
        call = next(c for c in calls if (c.id or "") == result_of)
        return call.tool, _same_arguments(call.arguments)


def _same_arguments(arguments: str) -> str:
    """Arguments compared as JSON values, or as they stand where they are no JSON."""
    try:
        return json.dumps(json.loads(arguments), sort_keys=True)
    except ValueError:
        return arguments
