"""Answering a run's requests: the only place where summarisers are called and archives written."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any

import msgspec

from ctxpolicy.archive import Archive
from ctxpolicy.pipeline import ArchiveRequest, Running
from ctxpolicy.summarize.build import name_of
from ctxpolicy.summarize.reply import Failure
from ctxpolicy.summarize.request import Summarize, SummaryRequest
from ctxpolicy.working import Outcome


class Effects(msgspec.Struct, frozen=True, dict=True):
    """What a run may use: the summarisers of each rule, by its id, and the archive (None: nothing is written)."""

    summarizers: Mapping[str, Sequence[Summarize]]
    archive: Archive | None

    @cached_property
    def asks(self) -> dict[str, tuple[str, ...]]:
        """The names of the summarisers that each rule may ask, in turn."""
        return {rule: tuple(map(name_of, links)) for rule, links in self.summarizers.items() if links}


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
            answer = await _unblocked(request, effects)
            if inspect.isawaitable(answer):
                answer = await answer
        except Exception as error:  # noqa: BLE001 - a failing summariser or archive never stops the loop
            answer = Failure(error)


async def _unblocked(request: SummaryRequest | ArchiveRequest, effects: Effects) -> Any:
    """The answer, or what to await for it. A summariser of ours that waits for a network or a program has a thread."""
    if isinstance(request, SummaryRequest) and getattr(_asked(request, effects), "waits", False):
        import asyncio  # loaded already where there is a loop

        return await asyncio.to_thread(_call, request, effects)
    return _call(request, effects)


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
        return _asked(request, effects)(request)
    if effects.archive is not None:
        effects.archive.put([removed.record() for removed in request.removed])
    return None


def _asked(request: SummaryRequest, effects: Effects) -> Summarize:
    return effects.summarizers[request.rule][request.link]
