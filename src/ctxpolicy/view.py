"""A rule's view of the list: the items as the rule receives them, and the facts of place, each found out when asked."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cached_property
from typing import Protocol

from ctxpolicy.items import Facts, Item, Load, Tally
from ctxpolicy.match import Traits
from ctxpolicy.units import Structure, live_tail, segment

# Why a position stays, beside the ids of pins.
LIVE, LAST, USER, KEEP = "live", "last", "user", "keep"


class Chooser(Protocol):
    """A compiled match, as a pin or rule has it."""

    def select(self, view: View) -> list[int]:
        """The positions that match, in order."""


class View:
    """An immutable list of items with what the policy's pins and the list's structure say of each position."""

    def __init__(
        self, items: Sequence[Item], tally: Tally, load: Load, traits: Traits, pins: Sequence[tuple[str, Chooser]]
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
        return [item.traits if item.traits >= 0 else of(item) for item in self.items]

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

    def selected(self, chosen: Chooser) -> list[int]:
        """Positions that a pin or rule matches; our own summaries and markers never are."""
        items = self.items
        return [i for i in chosen.select(self) if items[i].ours is None]

    def is_fixed(self, position: int) -> bool:
        """True where nothing may be changed in place: pinned, in the live tail, or the last message."""
        return self.pinned[position] is not None or bool(self.live[position]) or position == len(self.items) - 1

    def protection(self, keep: Chooser | None = None) -> list[str | None]:
        """What keeps each position: a pin's id, `keep`, `live`, `last` or `user`; None where it is free to leave.

        The last message stays last and the newest user message stays, pinned or not: a request needs one.
        """
        why: list[str | None] = list(self.pinned)
        if keep is not None:
            for i in self.selected(keep):
                for j in self.structure.unit(i):
                    why[j] = why[j] or KEEP
        for i, live in enumerate(self.live):
            if live:
                why[i] = why[i] or LIVE
        if why:
            why[-1] = why[-1] or LAST
        newest = next((i for i in range(len(why) - 1, -1, -1) if self.items[i].role == "user"), None)
        if newest is not None:
            why[newest] = why[newest] or USER
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
        head = self.structure.head
        asked = self._asked
        last: dict[tuple[str, str], int] = {}
        for i, what in asked.items():
            last[what] = max(head[i], last.get(what, 0))
        flags = bytearray(len(self.items))
        for i, what in asked.items():
            flags[i] = last[what] > head[i]
        return flags

    @cached_property
    def _asked(self) -> dict[int, tuple[str, str]]:
        """Tool and arguments of the call that each result answers, by position."""
        asked: dict[int, tuple[str, str]] = {}
        for unit in self.structure.members.values():
            calls = [call for i in unit for call in self.items[i].message.calls]
            by_id: dict[str, list[tuple[str, str]]] = {}
            for call in calls:
                by_id.setdefault(call.id or "", []).append((call.tool, _same_arguments(call.arguments)))
            for i in unit:
                result_of = self.items[i].message.result_of
                found = None if result_of is None else by_id.get(result_of)
                if found:
                    asked[i] = found.pop(0) if len(found) > 1 else found[0]
        return asked


def _same_arguments(arguments: str) -> str:
    """Arguments compared as JSON values, or as they stand where they are no JSON."""
    try:
        return json.dumps(json.loads(arguments), sort_keys=True)
    except (ValueError, RecursionError):
        return arguments
