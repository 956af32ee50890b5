"""The working list: items (a message and what is known of it), their tally, and the facts that conditions ask."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Literal

import msgspec

from ctxpolicy.messages import Message

Ours = Literal["summary", "gap"]
RECORDED = "fields"  # the key of the metadata under which the fields of a message's record in a log stand
Leaving = Literal["truncated", "masked", "compacted", "evicted", "repaired"]


class Edit(msgspec.Struct, frozen=True, gc=False):
    """How a message of the working list came to stand where the caller's list has others.

    `until` is the place in the caller's list up to which that list must be unchanged for the edit to hold; all
    edits of one compaction share the end of its last place and one `group`, and stand or fall together.
    """

    rule: str
    fate: Leaving
    ref: str
    until: int
    group: str = ""
    arrival: bool = False  # made when the message arrived


class Item(msgspec.Struct, gc=False):
    """One place of the working list. Immutable but for `traits`, a memo.

    `start` and `end` bound the messages of the caller's list that this one stands for. `role` is the role as read.
    `tools` are the names of the tools called, or of the one whose result this is. `count` is how many earlier
    messages a marker or summary stands for (in the input: 0 where its text does not say).
    """

    message: Message
    role: str
    tokens: int
    start: int
    end: int
    tools: tuple[str, ...] = ()
    ours: Ours | None = None
    count: int = 1
    meta: Mapping[str, Any] | None = None
    edit: Edit | None = None
    traits: int = -1


class Tally(msgspec.Struct, gc=False):
    """Running totals over a working list; adding and removing an item costs the same however long the list is.

    `fixed` is the tokens of system and developer messages.
    """

    tokens: int = 0
    fixed: int = 0
    tool_tokens: int = 0
    messages: int = 0
    results: int = 0
    turns: int = 0

    @classmethod
    def of(cls, items: Iterable[Item]) -> Tally:
        tally = cls()
        for item in items:
            tally.add(item)
        return tally

    def add(self, item: Item, sign: int = 1) -> None:
        """Count an item in (or out, with sign -1). Markers and summaries are tokens but no messages."""
        role, tokens = item.role, item.tokens * sign
        self.tokens += tokens
        if role == "tool":
            self.tool_tokens += tokens
        elif role in ("system", "developer"):
            self.fixed += tokens
        if item.ours is None:
            self.messages += sign
            if role == "user":
                self.turns += sign
            elif role == "tool":
                self.results += sign

    def copy(self) -> Tally:
        return Tally(self.tokens, self.fixed, self.tool_tokens, self.messages, self.results, self.turns)

    def shift(self, other: Tally, sign: int = 1) -> None:
        """Add another tally to this one (or take it off, with sign -1)."""
        self.tokens += sign * other.tokens
        self.fixed += sign * other.fixed
        self.tool_tokens += sign * other.tool_tokens
        self.messages += sign * other.messages
        self.results += sign * other.results
        self.turns += sign * other.turns

    def plus(self, other: Tally, sign: int = 1) -> Tally:
        """A new tally: this one and another together (or without it, with sign -1)."""
        total = self.copy()
        total.shift(other, sign)
        return total


def by_role(items: Iterable[Item], roles: Mapping[str, int] | None = None, sign: int = 1) -> dict[str, int]:
    """Tokens by role as read, added to those of `roles` (taken off, with sign -1)."""
    found = dict(roles or {})
    for item in items:
        found[item.role] = found.get(item.role, 0) + sign * item.tokens
    return found


class Facts(msgspec.Struct, frozen=True, gc=False):
    """What a condition can ask of the list. `used` is calibrated tokens of everything sent."""

    used: float
    limit: int
    messages: int
    tool_tokens: int
    results: int
    turns: int

    @property
    def pressure(self) -> float:
        return self.used / self.limit

    @property
    def headroom(self) -> float:
        return self.limit - self.used


class Load(msgspec.Struct, frozen=True):
    """The part of a call that is not the list: tokens of tools, of a system text beside the list, and the per-call
    overhead; and the calibration."""

    limit: int
    tools: int = 0
    overhead: int = 0
    factor: float = 1.0
    system: int = 0

    def used(self, tally: Tally) -> int:
        """Tokens of everything sent, by the plain counter."""
        return tally.tokens + self.tools + self.system + self.overhead

    def used_by(self, roles: Mapping[str, int]) -> int:
        """The same from tokens by role."""
        return sum(roles.values()) + self.tools + self.system + self.overhead

    def by_role(self, roles: Mapping[str, int]) -> dict[str, int]:
        """Tokens in all, as `total`, and by role; a system text beside the list counts as system."""
        told = {"total": self.used_by(roles), **{role: tokens for role, tokens in roles.items() if tokens}}
        if self.system:
            told["system"] = told.get("system", 0) + self.system
        return told

    def facts(self, tally: Tally) -> Facts:
        return Facts(
            self.used(tally) * self.factor,
            self.limit,
            tally.messages,
            tally.tool_tokens,
            tally.results,
            tally.turns,
        )
