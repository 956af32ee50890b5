"""The run: the send rules over a list, in order. Effects are requested, never done here.

`run` is a generator. It yields a `SummaryRequest` or an `ArchiveRequest` and is sent the answer, so that one body
serves synchronous, asynchronous, offline and test callers.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from typing import Any

import msgspec

from ctxpolicy.actions import Step
from ctxpolicy.actions.compact import NO_SUMMARISER, Attempt, compact
from ctxpolicy.actions.evict import Evict, evict
from ctxpolicy.actions.mask import Mask, mask
from ctxpolicy.actions.span import Compact
from ctxpolicy.actions.truncate import Truncate, truncate
from ctxpolicy.arrivals import Arrival
from ctxpolicy.items import Item, Load, Tally
from ctxpolicy.memory import Memory
from ctxpolicy.result import Removed
from ctxpolicy.rules import Pipeline, SendRule
from ctxpolicy.summarize.reply import Failure
from ctxpolicy.summarize.request import SummaryRequest
from ctxpolicy.working import Outcome, Working


class ArchiveRequest(msgspec.Struct, frozen=True):
    """Everything a run removed, to be made safe before the list is handed out. The answer is None or a Failure."""

    removed: tuple[Removed, ...]


Running = Generator[SummaryRequest | ArchiveRequest, Any, Outcome]


def run(
    pipeline: Pipeline,
    items: list[Item],
    tally: Tally,
    arrivals: Sequence[Arrival],
    load: Load,
    memories: dict[str, Memory],
    *,
    asks: Mapping[str, Sequence[str]],
    archived: bool,
    live: bool,
) -> Running:
    """Apply the send rules to `items` (the append rules have seen them; `arrivals` is what these cut).

    `tally` (of `items`) and `memories` are updated in place; `asks` names the summarisers of each rule that has some,
    `archived` says whether what leaves must be archived, `live` that a run comes before every model call: it does not
    look for what a missing summariser would have been asked.
    """
    at_work = Working(pipeline, items, tally, arrivals, load, memories)
    for rule in pipeline.send_rules:
        if rule.when(at_work.facts):
            yield from _apply(at_work, rule, asks, live)
        else:
            at_work.skip(rule)
    at_work.mind_reasoning()
    at_work.check_room()
    removed = tuple(at_work.removed)
    if archived and removed:
        answer = yield ArchiveRequest(removed)
        if isinstance(answer, Failure):
            return at_work.without_archive(answer)
    for memory in memories.values():
        memory.see(at_work.used)
    return Outcome(at_work.items, at_work.tally, at_work.events, removed, undone=False)


def _apply(
    run: Working, rule: SendRule, asks: Mapping[str, Sequence[str]], live: bool
) -> Generator[SummaryRequest, Any, None]:
    try:
        if isinstance(rule.how, Compact):
            yield from _compact(run, rule, rule.how, asks.get(rule.id, ()), live)
        else:
            run.take(rule, _step(run, rule))
    except Exception as error:  # noqa: BLE001 - a checked policy never raises at run time: the step declines
        run.tell(rule, Step(f"declined: the step failed: {type(error).__name__}: {error}"), failed=True)


def _step(run: Working, rule: SendRule) -> Step:
    view, reading = run.view, run.pipeline.reading
    if isinstance(rule.how, Evict):
        return evict(view, rule.how, reading, run.fresh)
    assert rule.chosen is not None
    if isinstance(rule.how, Mask):
        return mask(view, rule.chosen, rule.how, reading)
    assert isinstance(rule.how, Truncate)
    return truncate(view, rule.chosen, rule.how, reading)


def _compact(
    run: Working, rule: SendRule, how: Compact, asks: Sequence[str], live: bool
) -> Generator[SummaryRequest, Any, None]:
    """Passes until the goal holds, a pass declines or fails, or `max_passes` are done."""
    min_gain = how.min_gain(run.pipeline.limit)
    if how.done(run.facts):
        run.tell(rule, Step("declined: its goal holds already", min_gain=min_gain))
        return
    if live and not asks:
        run.tell(rule, Step(f"declined: {NO_SUMMARISER}", min_gain=min_gain))
        return
    memory = run.memories.setdefault(rule.id, Memory())
    for _ in range(how.declared.max_passes):
        attempt: Attempt = yield from compact(run.view, rule.id, how, run.pipeline.reading, memory, run.fresh, asks)
        run.take(rule, attempt.step, failed=attempt.failed)
        if not attempt.step.changes or how.done(run.facts):
            return
