"""What a run tells: a decision for every message, an event for every rule, and the figures."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any, Literal

import msgspec

Fate = Literal["kept", "pinned", "live", "truncated", "masked", "compacted", "evicted", "repaired"]


class Decision(msgspec.Struct, frozen=True):
    """What happened to one input message. `by` is the rule or pin that decided; tokens are before and after."""

    index: int
    fate: Fate
    by: str | None
    tokens: int
    left: int
    ref: str | None = None

    def __str__(self) -> str:
        who = f" by {self.by}" if self.by else ""
        size = f"{self.tokens:,} tokens" if self.left == self.tokens else f"{self.tokens:,} -> {self.left:,} tokens"
        return f"message {self.index}: {self.fate}{who}, {size}" + (f", ref {self.ref}" if self.ref else "")


class Spent(msgspec.Struct, frozen=True):
    """What asking summarisers took: requests made, and the tokens that their replies report (0 where they do not)."""

    requests: int = 0
    input: int = 0
    output: int = 0

    def plus(self, other: Spent) -> Spent:
        """Both together."""
        return Spent(self.requests + other.requests, self.input + other.input, self.output + other.output)


class Event(msgspec.Struct, frozen=True):
    """What one rule did in one pass, or why it declined. `before` and `after` are tokens of everything sent.

    `rule` is None for what the run itself has to say (an oddity in the input, no room, a dropped edit).
    `failed` marks a call, archive or step that went wrong. `spent` is what a compaction asked for, accepted or not;
    `facts` the share of the span's facts that the reply had, where the rule has `keep_facts`.
    """

    rule: str | None
    action: str
    acted: bool
    reason: str
    before: int
    after: int
    min_gain: int | None = None
    messages: int = 0  # how many left or changed
    ref: str | None = None
    failed: bool = False
    spent: Spent | None = None
    facts: float | None = None

    def __str__(self) -> str:
        head = f"{self.rule}: " if self.rule else ""
        gain = f", min_gain {self.min_gain:,}" if self.min_gain is not None else ""
        return f"{head}{self.reason} ({self.before:,} -> {self.after:,} tokens{gain})"


class Removed(msgspec.Struct, frozen=True):
    """What a run took out of one place: the wire messages as they stood, and the SHA-256 of the text left there.

    Where only parts of a wire message left (its results without its words), `shares` says for each message of which
    whole it was: the reference of that, the first part and the number of parts; None for one that is whole.
    """

    ref: str
    removed: tuple[Any, ...]
    left: str
    rule: str = ""
    shares: tuple[list[Any] | None, ...] = ()

    def record(self) -> dict[str, Any]:
        """The archive's record: `{ref, removed, left}`, and `parts` where only parts of a message left."""
        record = {"ref": self.ref, "removed": list(self.removed), "left": self.left}
        return {**record, "parts": list(self.shares)} if self.shares else record


class Usage(msgspec.Struct, frozen=True):
    """Tokens of everything sent. `before` and `after` map each role as read, and `total`, to tokens.

    `total` includes the tools and the per-call overhead; `pressure` is used / limit after the run; `fits` says
    whether that is at most 1.0. `limit` is in tokens. `summaries` is what the run's summaries took: it
    is no part of the conversation's own figures.
    """

    before: Mapping[str, int]
    after: Mapping[str, int]
    tools: int
    limit: int
    pressure: float
    fits: bool
    summaries: Spent = Spent()


class Result:
    """One run: the list to send and everything known about how it came to be.

    `messages` holds the caller's own objects where nothing changed. `decisions` has one entry for each input message;
    they and `usage` are worked out when first asked for. `state` is a JSON value to hand to the next `apply`, None
    while there is nothing to remember. `removed` is what this run took out, as it stood.
    """

    def __init__(
        self,
        messages: list[Any],
        decide: Callable[[], tuple[Decision, ...]],
        events: tuple[Event, ...],
        spend: Callable[[], Usage],
        save: Callable[[], dict[str, Any] | None],
        removed: tuple[Removed, ...],
    ) -> None:
        self.messages, self.events, self.removed = messages, events, removed
        self._decide, self._spend, self._save = decide, spend, save

    @cached_property
    def decisions(self) -> tuple[Decision, ...]:
        return self._decide()

    @cached_property
    def usage(self) -> Usage:
        return self._spend()

    @cached_property
    def state(self) -> dict[str, Any] | None:
        return self._save()

    def __repr__(self) -> str:
        used, limit = self.usage.after["total"], self.usage.limit
        return f"<Result: {len(self.messages)} messages, {used:,} of {limit:,} tokens, {len(self.events)} events>"
