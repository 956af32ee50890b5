"""What fills a list: tokens by role and by tool, and what each message cost over all the calls that carried it."""

from __future__ import annotations

import json
import math
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from ctxpolicy.calls import reply_places
from ctxpolicy.intake import Intake
from ctxpolicy.items import Item, Tally
from ctxpolicy.rules import Pipeline

_HIGH = 0.95  # the percentile that is told


@dataclass(slots=True)
class Share:
    """Messages of one role, or the calls of one tool with their results.

    `calls` counts messages (of a tool: its calls), `sizes` has the tokens of each message (of a tool: of each result),
    `sent` those tokens times the calls that carried them, `repeated` calls with the arguments of an earlier one.
    """

    name: str
    calls: int = 0
    sent: int = 0
    repeated: int = 0
    sizes: list[int] = field(default_factory=list)

    @property
    def tokens(self) -> int:
        return sum(self.sizes)

    @property
    def largest(self) -> int:
        return max(self.sizes, default=0)

    @property
    def high(self) -> int:
        """The size that 95 % of the messages do not exceed (nearest rank)."""
        return sorted(self.sizes)[math.ceil(len(self.sizes) * _HIGH - 1e-9) - 1] if self.sizes else 0

    def add(self, other: Share) -> None:
        self.calls += other.calls
        self.sent += other.sent
        self.repeated += other.repeated
        self.sizes += other.sizes


@dataclass(slots=True)
class Composition:
    """What fills one or several conversations. All sizes are tokens.

    `calls` is the number of model calls, `used` what the whole lists take, `sent` what all calls sent together when
    everything is kept, `peak` the largest call, `fixed` what is sent beside the messages.
    """

    conversations: int = 0
    messages: int = 0
    calls: int = 0
    used: int = 0
    sent: int = 0
    peak: int = 0
    fixed: int = 0
    roles: dict[str, Share] = field(default_factory=dict)
    tools: dict[str, Share] = field(default_factory=dict)

    def add(self, other: Composition) -> None:
        """Count another one in."""
        self.conversations += other.conversations
        self.messages += other.messages
        self.calls += other.calls
        self.used += other.used
        self.sent += other.sent
        self.peak = max(self.peak, other.peak)
        self.fixed += other.fixed
        for mine, theirs in ((self.roles, other.roles), (self.tools, other.tools)):
            for name, share in theirs.items():
                mine.setdefault(name, Share(name)).add(share)


def largest_first(shares: Iterable[Share]) -> list[Share]:
    """The shares in the order of what they sent."""
    return sorted(shares, key=lambda share: (-share.sent, -share.tokens, share.name))


def compose(pipeline: Pipeline, messages: Sequence[Any], tools: Sequence[Any] | None) -> Composition:
    """What fills one conversation when everything is kept. Raises TranscriptInvalid for what is no message."""
    items = Intake(pipeline.reading).read_all(messages, None)
    fixed = pipeline.load(tools).used(Tally())
    calls = _calls(items)
    found = Composition(1, len(messages), len(calls), fixed, fixed * len(calls), fixed, fixed)
    asked: set[tuple[str, str]] = set()
    for i, item in enumerate(items):
        carried = len(calls) - bisect_right(calls, i)
        found.used += item.tokens
        found.peak += item.tokens if carried else 0
        found.sent += item.tokens * carried
        _count(found.roles, item.role, item, carried, calls=1)
        for call in item.message.calls:
            tool = found.tools.setdefault(call.tool, Share(call.tool))
            tool.calls += 1
            tool.repeated += (call.tool, same_arguments(call.arguments)) in asked
            asked.add((call.tool, same_arguments(call.arguments)))
        if item.role == "tool":
            _count(found.tools, ", ".join(item.tools) or "(no name)", item, carried, calls=0)
    return found


def _calls(items: Sequence[Item]) -> list[int]:
    """How many items each model call carried: one before each reply, and one more for what waits at the end."""
    waiting = bool(items) and items[-1].message.role != "assistant"
    return [*reply_places(items), *([len(items)] if waiting else ())]


def _count(shares: dict[str, Share], name: str, item: Item, carried: int, *, calls: int) -> None:
    share = shares.setdefault(name, Share(name))
    share.calls += calls
    share.sent += item.tokens * carried
    share.sizes.append(item.tokens)


def same_arguments(arguments: str) -> str:
    """Arguments as they are compared: as JSON values, or as they stand where they are no JSON."""
    try:
        return json.dumps(json.loads(arguments), sort_keys=True)
    except ValueError:
        return arguments
