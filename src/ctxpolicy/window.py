"""The managed list of a live loop: append what comes, send what `prepare` returns."""

from __future__ import annotations

import asyncio
import logging
from collections import Counter, deque
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from ctxpolicy.drivers import Effects, adrive, drive
from ctxpolicy.errors import MessageTooLarge
from ctxpolicy.pipeline import Outcome
from ctxpolicy.result import Event, Result
from ctxpolicy.session import Session
from ctxpolicy.values import copy

logger = logging.getLogger("ctxpolicy")

_EVENTS_KEPT = 1000
_FACTOR = (0.5, 2.0)  # bounds of the calibration


class Events(deque[Event]):
    """The last 1,000 events, and counters for all: `counts[rule, action]` is how often a rule acted."""

    def __init__(self) -> None:
        super().__init__(maxlen=_EVENTS_KEPT)
        self.counts: Counter[tuple[str | None, str]] = Counter()

    def take(self, events: Sequence[Event]) -> None:
        self.extend(events)
        self.counts.update((event.rule, event.action) for event in events if event.acted)


class ManagedWindow:
    """Owns its list: `append` keeps a deep copy, `prepare` returns new dicts. Not thread-safe.

    `result` is that of the last prepare, `events` the last 1,000 events.
    """

    def __init__(self, session: Session, effects: Effects) -> None:
        self._session, self._effects = session, effects
        self._refused: dict[str, MessageTooLarge] = {}
        self._lock: asyncio.Lock | None = None
        self.events = Events()
        self.result: Result | None = None

    def take_over(
        self,
        messages: Sequence[Any],
        state: Mapping[str, Any] | None,
        metas: Sequence[Mapping[str, Any] | None] | None,
    ) -> None:
        """Begin with a list that exists already (see `Policy.window`)."""
        self._session.take_over([copy(m) for m in messages], state, metas)

    def append(self, message: Any, meta: Mapping[str, Any] | None = None) -> None:
        """Add a message; large tool results are cut as the policy says.

        Raises MessageTooLarge where a rule refuses it (the list is unchanged; the results of a refused assistant
        message's calls are refused too), TranscriptInvalid for what is no message.
        """
        items = self._session.read(copy(message), dict(meta) if meta else None)
        calls = [call.id or "" for item in items for call in item.message.calls]
        for item in items:
            if item.message.result_of in self._refused:
                raise _also_refused(self._refused[item.message.result_of], item.message.index, item.tokens)
        try:
            self._session.add(items)
        except MessageTooLarge as error:
            self._refused.update(dict.fromkeys(calls, error))
            raise
        for call_id in calls:
            self._refused.pop(call_id, None)

    def prepare(self) -> list[Any]:
        """Run the policy and return the list to send. Raises nothing of its own: a failing step is an event."""
        return self._prepared(drive(self._session.start(self._effects), self._effects))

    async def aprepare(self) -> list[Any]:
        """`prepare` with a summariser that may be async. Messages appended meanwhile are kept; a second call waits."""
        self._lock = self._lock or asyncio.Lock()
        async with self._lock:
            return self._prepared(await adrive(self._session.start(self._effects), self._effects))

    def _prepared(self, outcome: Outcome) -> list[Any]:
        self.result = self._session.finish(outcome, lazily=True)
        self.events.take(self.result.events)
        if logger.isEnabledFor(logging.INFO):
            logger.info("%s", _line(self.result))
        return self.messages

    @property
    def messages(self) -> list[Any]:
        """The list as it stands, as new dicts."""
        return [copy(wire) for wire in self._session.wires(self._session.items)]

    def pressure(self) -> float:
        """Used / limit of the list as it stands; 1.0 is full."""
        return self._session.load.facts(self._session.tally).pressure

    @property
    def state(self) -> dict[str, Any] | None:
        """The state beside the list that the last prepare returned (see `Policy.apply`)."""
        return None if self.result is None else self.result.state

    def dump(self) -> dict[str, Any]:
        """The window as one JSON value; `policy.resume` continues it. What is still to be archived is written first."""
        return {"version": 1, **self._session.dump(self._effects), "factor": self._session.load.factor}

    def observe(self, usage: Mapping[str, Any]) -> None:
        """Calibrate used, pressure and headroom with the provider's usage for the list of the last prepare."""
        seen = _prompt_tokens(usage)
        if self.result is None or seen is None or seen <= 0:
            return
        self.calibrate(seen / max(1, self.result.usage.after["total"]))

    def observe_overflow(self) -> None:
        """The provider said that the list is too long: count on more tokens, so that the next prepare acts."""
        self.calibrate(max(self._session.load.factor * 1.1, 1.01 / max(0.01, self.pressure() / self._session.load.factor)))

    def calibrate(self, factor: float) -> None:
        """Multiply counted tokens by this factor (kept between 0.5 and 2) wherever pressure is worked out."""
        bounded = min(max(factor, _FACTOR[0]), _FACTOR[1])
        self._session.load = msgspec.structs.replace(self._session.load, factor=bounded)


def _also_refused(first: MessageTooLarge, index: int, size: int) -> MessageTooLarge:
    return MessageTooLarge(
        f"message {index} cannot be sent: it answers a call of the assistant message that rule {first.rule} refused "
        f"({first.size} tokens, budget limit {first.limit}). Append neither, or a shorter call with its results.",
        size=size,
        limit=first.limit,
        rule=first.rule,
        index=index,
    )


def _prompt_tokens(usage: Mapping[str, Any]) -> int | None:
    """Prompt tokens in the words of the known providers, cached ones included."""
    if "promptTokenCount" in usage:
        return int(usage["promptTokenCount"])
    if "prompt_tokens" in usage:
        return int(usage["prompt_tokens"])
    parts = ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")
    found = [int(usage[key]) for key in parts if usage.get(key) is not None]
    return sum(found) if found else None


def _line(result: Result) -> str:
    usage = result.usage
    acted = [f"{event.rule} {event.reason}" for event in result.events if event.acted]
    return (
        f"pressure {usage.pressure:.2f}, {usage.before['total']:,} -> {usage.after['total']:,} of {usage.limit:,} tokens, "
        + ("; ".join(acted) or "nothing to do")
    )
