"""A session through a live window, call by call: what was sent, what was done to it, what a prompt cache had of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

from ctxpolicy.api import Policy
from ctxpolicy.calls import begins_reply
from ctxpolicy.errors import MessageTooLarge
from ctxpolicy.intake import Intake
from ctxpolicy.items import Tally
from ctxpolicy.policy.model import Spec
from ctxpolicy.policy.thresholds import thresholds
from ctxpolicy.replay import append
from ctxpolicy.result import Decision, Event
from ctxpolicy.rules import Pipeline
from ctxpolicy.simulate.cache import PromptCache
from ctxpolicy.simulate.judge import Finding, Judge
from ctxpolicy.simulate.reading import Reader, Seen
from ctxpolicy.simulate.summaries import Asked, note
from ctxpolicy.summarize.request import Summarize
from ctxpolicy.window import ManagedWindow

CACHED_PRICE = 0.1  # of an input token's price: what most providers ask for one read from their cache


@dataclass(frozen=True, slots=True)
class Call:
    """One call of the agent's model. All sizes are tokens of everything sent.

    `messages` came in up to this call; `whole` is what keeping all of them would send, `before` and `sent` the list as
    the policy found and left it, `cached` the part of `sent` that a prompt cache had. `asked` counts summaries asked
    for; `events` are those of rules that acted or failed.
    """

    number: int
    messages: int
    whole: int
    before: int
    sent: int
    cached: int
    asked: int
    events: tuple[Event, ...]

    @property
    def compacted(self) -> bool:
        """Whether a summary was asked for, or a span left."""
        return self.asked > 0 or any(event.acted and event.action == "compact" for event in self.events)


@dataclass(frozen=True)
class Course:
    """A whole session under one policy. `whole_cached` is what a prompt cache would have had if everything was kept.

    `asked` and `asked_tokens` are the calls of the summarising model and what they were sent; `refused` counts messages
    that a rule turned away. `messages` are those taken in, `tools` the schemas sent along; `decisions` has the fate of
    each message, worked out when first asked for.
    """

    name: str
    pipeline: Pipeline
    calls: tuple[Call, ...]
    whole_cached: int
    asked: int
    asked_tokens: int
    refused: int
    findings: tuple[Finding, ...]
    messages: Sequence[Any]
    tools: Sequence[Any] | None
    decide: Callable[[], tuple[Decision, ...]]

    @property
    def spec(self) -> Spec:
        return self.pipeline.spec

    @cached_property
    def decisions(self) -> tuple[Decision, ...]:
        return self.decide()

    @property
    def sent(self) -> int:
        """Tokens sent over the session, without the summarising model's."""
        return sum(call.sent for call in self.calls)

    @property
    def whole(self) -> int:
        """Tokens that keeping everything would have sent."""
        return sum(call.whole for call in self.calls)

    @property
    def cached(self) -> int:
        return sum(call.cached for call in self.calls)

    @property
    def peak(self) -> int:
        """The most tokens sent at one call."""
        return max((call.sent for call in self.calls), default=0)

    @property
    def whole_peak(self) -> int:
        return max((call.whole for call in self.calls), default=0)

    @property
    def price(self) -> float:
        """What the input cost, in full-price tokens: cached ones at a tenth, the summarising model's included."""
        return self.sent - (1 - CACHED_PRICE) * self.cached + self.asked_tokens

    @property
    def whole_price(self) -> float:
        """The same if everything had been kept."""
        return self.whole - (1 - CACHED_PRICE) * self.whole_cached


def triggers(spec: Spec) -> list[tuple[int, str]]:
    """The fill levels at which rules begin to act, in tokens, each with the rule's id; the highest first."""
    found = [
        (threshold.tokens, threshold.owner)
        for threshold in thresholds(spec)
        if threshold.path[2:3] == ("when",) and threshold.words.startswith(("pressure", "used"))
    ]
    return sorted(found, reverse=True)


def play(
    policy: Policy,
    messages: Iterable[Any],
    name: str,
    *,
    tools: Sequence[Any] | None = None,
    summarize: Summarize | Literal[False] | None = None,
    format: str | None = None,
    seen: Callable[[Call], None] = lambda call: None,
) -> Course:
    """Put messages one by one into a window of the policy; each assistant message is taken for the reply to a call.

    Where the list ends on something unanswered, the call that would come next is made too. `summarize` None stands for
    a made-up note as long as the rule allows, so no model is called. `seen` is told of each call. Nothing is written.

    Raises TranscriptInvalid for what is no message.
    """
    stage = _Stage(policy, tools, summarize, format)
    calls = []
    for call in stage.calls(messages):
        calls.append(call)
        seen(call)
    return Course(
        name, policy.pipeline(format), tuple(calls), stage.whole_cached, stage.asked.calls, stage.asked.tokens,
        stage.refused, tuple(stage.judge.findings), stage.taken, tools, stage.decisions,
    )  # fmt: skip


class _Stage:
    """The window on which a session is played, and everything that watches it."""

    def __init__(
        self,
        policy: Policy,
        tools: Sequence[Any] | None,
        summarize: Summarize | Literal[False] | None,
        format: str | None,
    ) -> None:
        pipeline = policy.pipeline(format)
        self._policy, self._tools, self._format = policy, tools, format
        self.asked = Asked(summarize or note, pipeline.reading.meter.text)
        self._window: ManagedWindow = policy.window(
            tools=tools, summarize=False if summarize is False else self.asked, archive=False, format=format
        )
        self._intake = Intake(pipeline.reading)
        self._fixed = pipeline.load(tools).used(Tally())
        self._cache, self._reader = PromptCache(self._fixed), Reader(pipeline.reading)
        self.judge = Judge(pipeline)
        self.taken: list[Any] = []
        self._whole = self._fixed
        self._count = 0  # calls made
        self._last_whole = 0
        self.whole_cached = 0
        self.refused = 0

    def calls(self, messages: Iterable[Any]) -> Iterator[Call]:
        """The calls of a session."""
        before: Seen | None = None
        for wire in messages:
            seen = self._reader.one(wire)
            if begins_reply(seen, before):
                yield self._call()
            if self._take(wire):
                before = seen
        if before is not None and before.role != "assistant":
            yield self._call()

    def _take(self, wire: Any) -> bool:
        """Append a message; whether it is in the list now. In place of a refused result goes its replacement."""
        try:
            taken = append(self._window, wire)
        except MessageTooLarge:
            self.refused += 1
            return False
        self.refused += taken is not wire
        items = self._intake.read(taken, len(self.taken), len(self.taken))
        self.taken.append(taken)
        self._whole += sum(item.tokens for item in items)
        self.judge.came(self._reader.one(taken), items[0].role)
        return True

    def _call(self) -> Call:
        asked = self.asked.calls
        self._window.prepare()
        result = self._window.result
        assert result is not None
        self._count += 1
        self.whole_cached += self._last_whole
        self._last_whole = self._whole
        seen = self._reader.read(result.messages)
        usage = result.usage
        call = Call(
            self._count, len(self.taken), self._whole, usage.before["total"], usage.after["total"],
            self._cache.send(seen), self.asked.calls - asked,
            tuple(event for event in result.events if event.acted or event.failed),
        )  # fmt: skip
        self.judge.sent(seen, call.sent, self._tools, compacted=call.compacted)
        return call

    def decisions(self) -> tuple[Decision, ...]:
        """What became of each message by the end: the edits of the session laid over what came in."""
        result = self._policy.apply(
            self.taken, tools=self._tools, summarize=False, state=self._window.state, format=self._format
        )
        return result.decisions
