"""Answering a run's requests: the only place where summarisers are called and archives written."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from ctxpolicy.actions.reply import Failure
from ctxpolicy.archive import Archive
from ctxpolicy.pipeline import ArchiveRequest, Outcome, Running
from ctxpolicy.summarize.request import Summarize, SummaryRequest


class Effects(msgspec.Struct, frozen=True):
    """What a run may use: a summariser by rule id, and the archive (None: nothing is written)."""

    summarizers: Mapping[str, Summarize]
    archive: Archive | None

    @property
    def can_ask(self) -> frozenset[str]:
        return frozenset(self.summarizers)


def drive(running: Running, effects: Effects) -> Outcome:
    """Run to the end, calling the summariser and the archive as asked. Their errors go back into the run."""
    answer: Any = None
    while True:
        try:
            request = running.send(answer)
        except StopIteration as done:
            return done.value  # type: ignore[no-any-return]
        answer = _attempt(lambda: _answer(request, effects))  # noqa: B023 - called before the next request


async def adrive(running: Running, effects: Effects) -> Outcome:
    """The same with a summariser that may be async."""
    answer: Any = None
    while True:
        try:
            request = running.send(answer)
        except StopIteration as done:
            return done.value  # type: ignore[no-any-return]
        try:
            answer = _call(request, effects)
            if inspect.isawaitable(answer):
                answer = await answer
        except Exception as error:  # noqa: BLE001 - a failing summariser or archive never stops the loop
            answer = Failure(error)


def _attempt(call: Callable[[], Any]) -> Any:
    try:
        return call()
    except Exception as error:  # noqa: BLE001 - a failing summariser or archive never stops the loop
        return Failure(error)


def _answer(request: SummaryRequest | ArchiveRequest, effects: Effects) -> Any:
    answer = _call(request, effects)
    if inspect.iscoroutine(answer):
        answer.close()
        raise TypeError("the summariser is async: use `await policy.aapply(...)` or `await window.aprepare()`")
    return answer


def _call(request: SummaryRequest | ArchiveRequest, effects: Effects) -> Any:
    if isinstance(request, SummaryRequest):
        return effects.summarizers[request.rule](request)
    if effects.archive is not None:
        effects.archive.put([removed.record() for removed in request.removed])
    return None
