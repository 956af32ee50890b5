"""A live loop against a provider that counts with o200k_base and refuses what is over its window."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import ctxpolicy
from ctxpolicy import MessageTooLarge, formats
from ctxpolicy.calls import begins_reply
from ctxpolicy.policy.model import Budget
from ctxpolicy.replay import append
from ctxpolicy.tokens import Meter

from .sessions import Session

TRIES = 5  # how often a refused list is prepared anew


@dataclass
class Seen:
    """What came of the calls of a loop. The first is not among them: nothing was reported before it.

    `over` were longer than the budget limit, `refused` than the provider's window; `given_up` stayed so. `ratio` is
    the highest of reported over counted tokens, `peak` the highest share of the limit, `fills` are the shares in use
    after a rule had made room.
    """

    calls: int = 0
    over: int = 0
    refused: int = 0
    given_up: int = 0
    ratio: float = 0.0
    peak: float = 0.0
    fills: list[float] = field(default_factory=list)

    @property
    def fill(self) -> float:
        return sum(self.fills) / max(1, len(self.fills))

    def add(self, other: Seen) -> None:
        """Count in the calls of another loop."""
        self.calls += other.calls
        self.over += other.over
        self.refused += other.refused
        self.given_up += other.given_up
        self.ratio, self.peak = max(self.ratio, other.ratio), max(self.peak, other.peak)
        self.fills += other.fills


class Provider:
    """Counts what it is sent, each different message once."""

    def __init__(self) -> None:
        self._meter = Meter.of(Budget(window=1, counter="tokenizer:o200k_base"))
        self._known: dict[str, int] = {}

    def tokens(self, messages: list[Any], session: Session) -> int:
        """Prompt tokens of a call."""
        read = formats.get(session.format).read
        beside = self._once(("tools", session.name), lambda: self._meter.tools(session.tools))
        beside += self._once(("system", session.name), lambda: self._meter.system(session.system))
        each = (self._once(m, lambda m=m: sum(map(self._meter.message, read(m, 0)))) for m in messages)
        return self._meter.CALL_OVERHEAD + beside + sum(each)

    def _once(self, what: Any, count: Any) -> int:
        key = repr(what)
        if key not in self._known:
            self._known[key] = count()
        return self._known[key]


def run(
    policy: ctxpolicy.Policy,
    session: Session,
    provider: Provider,
    *,
    observing: bool,
    summarize: Any = False,
    accepts: int | None = None,
) -> Seen:
    """The session through a window of the policy, with a call wherever the model was called.

    The provider accepts so many tokens (None: the policy's window).
    """
    seen = Seen(calls=-1)
    window = policy.window(
        tools=session.tools, system=session.system, format=session.format, archive=False, summarize=summarize
    )
    for message, called in _marked(session):
        if called:
            budget = policy.spec.budget
            _call(window, session, provider, observing, budget.limit, accepts or budget.window, seen)
        try:
            append(window, message)
        except MessageTooLarge:
            continue
    return seen


def _marked(session: Session) -> Iterator[tuple[Any, bool]]:
    """Each message, and whether the model is called before it."""
    read, before = formats.get(session.format).read, None
    for message in session.messages:
        parts = read(message, 0)
        yield message, any(begins_reply(part, before) for part in parts[:1])
        before = parts[-1] if parts else before


def _call(
    window: ctxpolicy.ManagedWindow,
    session: Session,
    provider: Provider,
    observing: bool,
    limit: int,
    accepts: int,
    seen: Seen,
) -> None:
    size = provider.tokens(window.prepare(), session)
    for _ in range(TRIES):
        if size <= accepts or not observing:
            break
        seen.refused += 1
        window.observe_overflow()
        size = provider.tokens(window.prepare(), session)
    assert window.result is not None
    seen.calls += 1
    seen.given_up += size > accepts
    if observing and size <= accepts:
        window.observe({"prompt_tokens": size})
    if seen.calls == 0:
        return
    seen.over += size > limit
    seen.peak = max(seen.peak, size / limit)
    seen.ratio = max(seen.ratio, size / window.result.usage.after["total"])
    if any(event.acted and event.action in ("compact", "evict") for event in window.result.events):
        seen.fills.append(size / limit)
