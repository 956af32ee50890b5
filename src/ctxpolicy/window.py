"""The managed list of a live loop: append what comes, send what `prepare` returns."""

from __future__ import annotations

import logging
import os
from collections import Counter, deque
from collections.abc import Mapping, Sequence
from math import isfinite
from typing import TYPE_CHECKING, Any

import msgspec

from ctxpolicy.archive.recall import Recall
from ctxpolicy.archive.restoring import finder
from ctxpolicy.arguments import meta_of
from ctxpolicy.calibration import Observed, observe, overflowed, with_last_resort
from ctxpolicy.drivers import Effects, adrive, drive
from ctxpolicy.errors import CtxPolicyError, MessageTooLarge
from ctxpolicy.items import Item
from ctxpolicy.pipeline import Running
from ctxpolicy.prepared import Prepared
from ctxpolicy.result import Event, Result
from ctxpolicy.session import Session
from ctxpolicy.values import copy
from ctxpolicy.working import Outcome

if TYPE_CHECKING:
    import asyncio

logger = logging.getLogger("ctxpolicy")

_DUMP_VERSION = 1
_EVENTS_KEPT = 1000


class Events(deque[Event]):
    """The last 1,000 events, and counters for all: `counts[rule, action]` is how often a rule acted."""

    def __init__(self) -> None:
        super().__init__(maxlen=_EVENTS_KEPT)
        self.counts: Counter[tuple[str | None, str]] = Counter()

    def take(self, events: Sequence[Event]) -> None:
        self.extend(events)
        for event in events:
            if event.acted:
                self.counts[event.rule, event.action] += 1


class _Turn:
    """Held while a run is under way: a second one over the same list would undo what the first one does."""

    taken = False

    def __enter__(self) -> None:
        if self.taken:
            raise CtxPolicyError("an aprepare of this window is still waiting for its summary: await it first")
        self.taken = True

    def __exit__(self, *_: object) -> None:
        self.taken = False


class ManagedWindow:
    """Owns its list: `append` keeps a deep copy, `prepare` returns new dicts. Not thread-safe.

    `result` is that of the last prepare, `events` the last 1,000 events.
    """

    def __init__(self, session: Session, effects: Effects) -> None:
        self._session, self._effects = session, effects
        self._refused: dict[str, dict[str, Any]] = {}  # by call id: size, limit and rule of the message that asked
        self._lock: tuple[asyncio.AbstractEventLoop, asyncio.Lock] | None = None
        self._turn = _Turn()
        self._overflowed = False  # the last list was refused, and none that is shorter has been made since
        self._shortening = False  # the run under way began after that
        self._linting = bool(os.environ.get("CTXPOLICY_LINT"))
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

    def take_up(self, dump: Mapping[str, Any]) -> None:
        """What a dump holds beside list and state (see `Policy.resume`)."""
        self._calibrate(float(dump.get("factor", 1.0)))
        self._overflowed = bool(dump.get("overflowed"))
        self._refused = copy(dict(dump.get("refused", {})))

    def append(self, message: Any, meta: Mapping[str, Any] | None = None) -> None:
        """Add a message; large tool results are cut as the policy says.

        Raises MessageTooLarge where a rule refuses it (the list is unchanged; the results of a refused assistant
        message's calls are refused too), TranscriptInvalid for what is no message.
        """
        items = self._session.read(copy(message), meta_of(meta))
        if self._refused:
            self._check_refused(items)
        try:
            self._session.add(items)
        except MessageTooLarge as error:
            refused = {"size": error.size, "limit": error.limit, "rule": error.rule}
            self._refused.update(dict.fromkeys(_call_ids(items), refused))
            raise
        if self._refused:
            for call_id in _call_ids(items):
                self._refused.pop(call_id, None)

    def _check_refused(self, items: Sequence[Item]) -> None:
        for item in items:
            if item.message.result_of in self._refused:
                raise _also_refused(self._refused[item.message.result_of], item.message.index, item.tokens)

    def prepare(self) -> list[Any]:
        """Run the policy and return the list to send. A failing step is an event, never an error.

        Raises CtxPolicyError only while an `aprepare` is waiting for its summary.
        """
        with self._turn:
            return self._prepared(drive(self._start(), self._effects))

    async def aprepare(self) -> list[Any]:
        """`prepare` with a summariser that may be async. Messages appended meanwhile are kept; a second call waits."""
        async with self._queue():
            with self._turn:
                return self._prepared(await adrive(self._start(), self._effects))

    def _start(self) -> Running:
        """The run over the list as it stands."""
        session = self._session
        self._shortening = self._overflowed
        return session.start(self._effects, with_last_resort(session.pipeline) if self._shortening else None)

    def _queue(self) -> asyncio.Lock:
        """Where calls of `aprepare` wait for each other; a lock belongs to one event loop, a window does not."""
        import asyncio  # loaded already where there is a loop

        loop = asyncio.get_running_loop()
        if self._lock is None or self._lock[0] is not loop:
            self._lock = (loop, asyncio.Lock())
        return self._lock[1]

    def _prepared(self, outcome: Outcome) -> list[Any]:
        self.result = result = self._session.finish(outcome)
        self.events.take(result.events)
        if self._shortening and not outcome.undone:
            self._overflowed = False
        if logger.isEnabledFor(logging.INFO):
            logger.info("%s", _line(result))
        result.messages = Prepared(result.messages)
        if self._linting:
            self._lint(result.messages)
        now = self._session.to_send()
        return result.messages if now is None else Prepared(now)

    def _lint(self, messages: list[Any]) -> None:
        """Log what the provider would refuse in the list that is about to be sent."""
        from ctxpolicy.lint import level_of, lint  # for debugging only

        name = self._session.pipeline.reading.format.NAME
        for fault in lint(messages, name):
            if level_of(fault, name) == "error":
                logger.warning("lint: message %d %s: %s: %s", fault.index, fault.path, fault.code, fault.says)

    @property
    def messages(self) -> list[Any]:
        """The list as it stands, as new dicts."""
        return Prepared(self._session.wires())

    def pressure(self) -> float:
        """Used / limit of the list as it stands; 1.0 is full."""
        return self._session.load.facts(self._session.tally).pressure

    @property
    def state(self) -> dict[str, Any] | None:
        """The state beside the list that the last prepare returned (see `Policy.apply`)."""
        return None if self.result is None else self.result.state

    def dump(self) -> dict[str, Any]:
        """The window as one JSON value; `policy.resume` continues it. What is still to be archived is written first.

        Raises CtxPolicyError while an `aprepare` is waiting for its summary.
        """
        with self._turn:
            dumped = copy(self._session.dump(self._effects))
        told = {
            "format": self._session.pipeline.reading.format.NAME,
            "factor": self._session.load.factor,
            "overflowed": self._overflowed,
        }
        return {"version": _DUMP_VERSION, **dumped, **told, "refused": copy(self._refused)}

    def recall_tool(self, *, max_tokens: int = 2000) -> Recall:
        """A tool by which the agent reads again what was taken out: `schema`, `name`, and itself the handler.

        An answer has at most `max_tokens` tokens. Raises CtxPolicyError where there is no archive to read from.
        """
        archive = self._effects.archive
        if archive is None:
            raise CtxPolicyError("there is nothing to recall from: this window has no archive; give one with archive=")
        finder(archive)  # one that cannot be read says so now
        reading = self._session.pipeline.reading
        return Recall(lambda: self.messages, archive, reading.format.NAME, reading.meter.text, max_tokens)

    def observe(self, usage: Any) -> None:
        """Calibrate used, pressure and headroom with the provider's usage for the call of the last prepared list.

        `usage` is what the reply has (OpenAI, Anthropic, Gemini, Bedrock), as a mapping or the SDK's object. Never pass
        that of another call, such as a summariser's, nor a sum over calls. How the factor is found, and its
        bounds: `ctxpolicy.calibration`. Usage that cannot be true is ignored, with an event.

        Raises CtxPolicyError for what is no usage, and before the first prepare.
        """
        if self.result is None:
            raise CtxPolicyError("no call to observe yet: prepare a list and send it, then pass the usage of that call")
        self._take(observe(usage, self.result.usage, refused=self._overflowed))

    def observe_overflow(self) -> None:
        """The provider said that the list is too long: the next prepare takes something out, whatever it counts.

        What the policy's own rules leave over the limit loses its oldest unpinned units, as rule `overflow`. Where
        nothing is free to leave, the list stays, `result.usage.fits` is False and an event names what holds it: do
        not send it again. Call this before anything is appended.
        """
        load = self._session.load
        self._overflowed = True
        self._take(overflowed(load.factor, load.used(self._session.tally), self._session.pipeline.spec.budget))

    def _take(self, observed: Observed) -> None:
        """Go on with what the provider said."""
        if observed.factor is not None:
            self._calibrate(observed.factor)
        if observed.event is not None:
            self.events.append(observed.event)

    def _calibrate(self, factor: float) -> None:
        """Multiply counted tokens by this factor wherever pressure is worked out."""
        self._session.load = msgspec.structs.replace(self._session.load, factor=factor)


def check_dump(dump: Any, format: str | None = None) -> None:
    """Raises CtxPolicyError for what `dump` of this version did not write, or not for messages of this format."""
    if not isinstance(dump, Mapping) or not {"version", "messages", "state"} <= set(dump):
        raise CtxPolicyError("this is not a dump of a window: it has no `version`, `messages` and `state`")
    if dump["version"] != _DUMP_VERSION:
        raise CtxPolicyError(f"a dump of version {dump['version']!r} cannot be read by this version of ctxpolicy")
    written = dump.get("format", format)
    if format not in (None, written):
        raise CtxPolicyError(f"this dump holds messages of the format {written}, and format={format!r} was given")
    factor = dump.get("factor", 1.0)
    sound = isinstance(factor, (int, float)) and isfinite(factor) and factor > 0
    if not sound or not isinstance(dump["messages"], list) or not isinstance(dump.get("refused", {}), Mapping):
        raise CtxPolicyError("this dump of a window is damaged: `messages`, `refused` or `factor` is not what it was")


def _call_ids(items: Sequence[Item]) -> list[str]:
    return [call.id or "" for item in items for call in item.message.calls]


def _also_refused(first: Mapping[str, Any], index: int, size: int) -> MessageTooLarge:
    """The error for a result whose call was refused; `first` is what was kept of that refusal."""
    rule, limit = first["rule"], first["limit"]
    return MessageTooLarge(
        f"message {index} cannot be sent: it answers a call of the assistant message that rule {rule} refused "
        f"({first['size']} tokens, budget limit {limit}). Append neither, or a shorter call with its results.",
        size=size,
        limit=limit,
        rule=rule,
        index=index,
    )


def _line(result: Result) -> str:
    usage = result.usage
    acted = [f"{event.rule} {event.reason}" for event in result.events if event.acted]
    tokens = f"{usage.before['total']:,} -> {usage.after['total']:,} of {usage.limit:,} tokens"
    return f"pressure {usage.pressure:.2f}, {tokens}, {'; '.join(acted) or 'nothing to do'}"
