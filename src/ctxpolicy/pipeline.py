"""The run: append rules on what arrived, then the send rules in order. Effects are requested, never done here.

`run` is a generator. It yields a `SummaryRequest` or an `ArchiveRequest` and is sent the answer, so that one body
serves synchronous, asynchronous, offline and test callers.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import msgspec

from ctxpolicy.actions import Step, Swap
from ctxpolicy.actions.compact import Attempt, compact
from ctxpolicy.actions.evict import Evict, evict
from ctxpolicy.actions.mask import Mask, mask
from ctxpolicy.actions.refuse import refusal
from ctxpolicy.actions.span import Compact
from ctxpolicy.actions.truncate import Truncate, shortened, truncate
from ctxpolicy.gaps import taken_out
from ctxpolicy.intake import Reading, changed, mark
from ctxpolicy.items import Edit, Facts, Item, Leaving, Load, Tally
from ctxpolicy.match import Test, Traits
from ctxpolicy.memory import Memory
from ctxpolicy.policy.model import Spec
from ctxpolicy.reasoning import first_rewritten, signed, strip
from ctxpolicy.result import Event, Removed
from ctxpolicy.select import Selector
from ctxpolicy.standing import standing
from ctxpolicy.summarize.reply import Failure
from ctxpolicy.summarize.request import SummaryRequest
from ctxpolicy.values import text_digest
from ctxpolicy.view import View
from ctxpolicy.when import Condition

_FATES: dict[str, Leaving] = {"truncate": "truncated", "mask": "masked", "compact": "compacted", "evict": "evicted"}


class AppendRule(msgspec.Struct, frozen=True):
    """A compiled rule for arriving messages. `how` is None for refuse, whose own words are `words`."""

    id: str
    test: Test
    how: Truncate | None
    words: str | None = None


class SendRule(msgspec.Struct, frozen=True):
    """A compiled rule for the moment before a model call."""

    id: str
    action: str
    when: Condition
    how: Truncate | Mask | Compact | Evict
    chosen: Selector | None = None


class Pipeline(msgspec.Struct, frozen=True):
    """A policy, compiled for one budget limit (tokens)."""

    spec: Spec
    limit: int
    reading: Reading
    traits: Traits
    pins: tuple[tuple[str, Selector], ...]
    append_rules: tuple[AppendRule, ...]
    send_rules: tuple[SendRule, ...]

    def load(self, tools: Sequence[Any] | None, system: Any = None) -> Load:
        """What a call costs beside its list."""
        meter = self.reading.meter
        return Load(self.limit, meter.tools(tools), meter.CALL_OVERHEAD, system=meter.system(system))


class ArchiveRequest(msgspec.Struct, frozen=True):
    """Everything a run removed, to be made safe before the list is handed out. The answer is None or a Failure."""

    removed: tuple[Removed, ...]


class Arrival(msgspec.Struct, frozen=True):
    """A message cut when it arrived: where it stands, as it was, and the records of what was cut."""

    position: int
    whole: Item
    rule: str
    removed: tuple[Removed, ...]


class Outcome(msgspec.Struct, frozen=True):
    """A finished run. `items` and `tally` are the new list; `undone` is true where the archive could not be written."""

    items: list[Item]
    tally: Tally
    events: list[Event]
    removed: tuple[Removed, ...]
    undone: bool


Running = Generator[SummaryRequest | ArchiveRequest, Any, Outcome]


def arrive(pipeline: Pipeline, item: Item, position: int) -> tuple[Item, Arrival | None]:
    """What the append rules make of the message at `position`. Raises MessageTooLarge where a rule refuses it."""
    whole = item
    removed: tuple[Removed, ...] = ()
    for rule in pipeline.append_rules:
        if not rule.test(item):
            continue
        if rule.how is None:
            raise refusal(rule.id, item, pipeline.limit, rule.words, pipeline.reading.format)
        swap = shortened(item, rule.how, pipeline.reading, position) if item.role == "tool" else None
        if swap is not None:
            removed = (*removed, _removed(rule.id, swap.ref, (item,), swap.wire))
            edit = Edit(rule.id, "truncated", swap.ref, item.end, arrival=True)
            item = changed(pipeline.reading, item, swap.wire, edit)
    if item.edit is None or not removed:
        return item, None
    return item, Arrival(position, whole, item.edit.rule, removed)


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
) -> Running:
    """Apply the send rules to `items` (the append rules have seen them; `arrivals` is what these cut).

    `tally` (of `items`) and `memories` are updated in place; `asks` names the summarisers of each rule that has some,
    `archived` says whether what leaves must be archived.
    """
    at_work = _Run(pipeline, items, tally, arrivals, load, memories)
    for rule in pipeline.send_rules:
        yield from _apply(at_work, rule, asks)
    at_work.mind_reasoning()
    at_work.check_room()
    removed = tuple(at_work.removed)
    if archived and removed:
        answer = yield ArchiveRequest(removed)
        if isinstance(answer, Failure):
            return at_work.without_archive(answer)
    for memory in memories.values():
        memory.see(load.used(at_work.tally))
    return Outcome(at_work.items, at_work.tally, at_work.events, removed, undone=False)


def _apply(run: _Run, rule: SendRule, asks: Mapping[str, Sequence[str]]) -> Generator[SummaryRequest, Any, None]:
    if not rule.when(run.facts):
        run.tell(rule, Step("quiet: its condition does not hold"))
        return
    try:
        if isinstance(rule.how, Compact):
            yield from _compact(run, rule, rule.how, asks.get(rule.id, ()))
        else:
            run.take(rule, _step(run, rule))
    except Exception as error:  # noqa: BLE001 - a checked policy never raises at run time: the step declines
        run.tell(rule, Step(f"declined: the step failed: {type(error).__name__}: {error}"), failed=True)


def _step(run: _Run, rule: SendRule) -> Step:
    view, reading = run.view, run.pipeline.reading
    if isinstance(rule.how, Evict):
        return evict(view, rule.how, reading, run.fresh)
    assert rule.chosen is not None
    if isinstance(rule.how, Mask):
        return mask(view, rule.chosen, rule.how, reading)
    assert isinstance(rule.how, Truncate)
    return truncate(view, rule.chosen, rule.how, reading)


def _compact(run: _Run, rule: SendRule, how: Compact, asks: Sequence[str]) -> Generator[SummaryRequest, Any, None]:
    """Passes until the goal holds, a pass declines or fails, or `max_passes` are done."""
    if how.done(run.facts):
        run.tell(rule, Step("declined: its goal holds already", min_gain=how.min_gain(run.pipeline.limit)))
        return
    memory = run.memories.setdefault(rule.id, Memory())
    for _ in range(how.declared.max_passes):
        attempt: Attempt = yield from compact(run.view, rule.id, how, run.pipeline.reading, memory, run.fresh, asks)
        run.take(rule, attempt.step, failed=attempt.failed)
        if not attempt.step.changes or how.done(run.facts):
            return


class _Run:
    """The list of one run while its rules work on it."""

    def __init__(
        self,
        pipeline: Pipeline,
        items: list[Item],
        tally: Tally,
        arrivals: Sequence[Arrival],
        load: Load,
        memories: dict[str, Memory],
    ) -> None:
        self.pipeline, self.load, self.memories = pipeline, load, memories
        self.items = self._given = items
        self.tally = tally
        self._arrivals = arrivals
        self._failures = {rule: memory.failures for rule, memory in memories.items()}
        self.events = list(self._arrival_events())
        self.removed = [removed for cut in arrivals for removed in cut.removed]
        self.fresh: frozenset[str] = frozenset()
        self._view: View | None = None

    @property
    def view(self) -> View:
        if self._view is None:
            self._view = View(self.items, self.tally, self.load, self.pipeline.traits, self.pipeline.pins)
        return self._view

    @property
    def facts(self) -> Facts:
        return self.load.facts(self.tally)

    def take(self, rule: SendRule, step: Step, failed: bool = False) -> None:
        """Carry out a step and tell of it."""
        before = self.load.used(self.tally)
        self._swap(rule.id, _FATES[rule.action], step.swaps)
        self._change(rule, step)
        self.tell(rule, step, before, failed)

    def tell(self, rule: SendRule, step: Step, before: int | None = None, failed: bool = False) -> None:
        used = self.load.used(self.tally)
        count = sum(c.stop - c.start for c in step.changes) + len(step.swaps)
        ref = step.changes[0].ref if step.changes else step.swaps[0].ref if step.swaps else None
        before = used if before is None else before
        self.events.append(
            Event(
                rule.id, rule.action, count > 0, step.reason, before, used, step.min_gain, count, ref, failed,
                step.spent, step.facts,
            )
        )  # fmt: skip

    def _arrival_events(self) -> Iterator[Event]:
        """One event for each append rule that cut something."""
        saved = {cut.position: cut.whole.tokens - self.items[cut.position].tokens for cut in self._arrivals}
        before = self.load.used(self.tally) + sum(saved.values())
        for rule, cuts in _by_rule(self._arrivals):
            after = before - sum(saved[cut.position] for cut in cuts)
            what = f"cut {len(cuts):,} tool results on arrival"
            yield Event(rule, "truncate", True, what, before, after, None, len(cuts), cuts[0].removed[0].ref)
            before = after

    def check_room(self) -> None:
        """Say so when tools and system alone reach the limit: nothing a rule does can make the list fit."""
        fixed = self.load.tools + self.load.system + self.load.overhead + self.tally.fixed
        if fixed >= self.load.limit:
            used = self.load.used(self.tally)
            why = f"no room: tools and system alone take {fixed:,} of {self.load.limit:,} tokens"
            self.events.append(Event(None, "run", False, why, used, used))

    def mind_reasoning(self) -> None:
        """Where this run rewrote history before signed reasoning: take that out or keep it, as the policy says."""
        first = first_rewritten(self._given, self.items) if self.removed else None
        places = [cut.position for cut in self._arrivals] + ([] if first is None else [first])
        bound = signed(self.items, min(places) + 1) if places else []
        if not bound:
            return
        before = self.load.used(self.tally)
        swaps: list[Swap] = []
        why = f"kept {len(bound):,} messages with signed reasoning although history before them was rewritten; a model "
        why += "that binds reasoning to its history needs reasoning: strip_after_edit"
        if self.pipeline.spec.reasoning == "strip_after_edit":
            swaps = strip(self.items, bound, self.pipeline.reading.format)
            why = f"took the signed reasoning out of {len(swaps):,} messages: history before them was rewritten"
            self._swap("reasoning", "repaired", swaps)
        after = self.load.used(self.tally)
        ref = swaps[0].ref if swaps else None
        self.events.append(Event(None, "reasoning", bool(swaps), why, before, after, None, len(swaps), ref))

    def _swap(self, by: str, fate: Leaving, swaps: Sequence[Swap]) -> None:
        if not swaps:
            return
        items = list(self.items)
        for swap in swaps:
            old = items[swap.position]
            edit = Edit(by, fate, swap.ref, old.end)
            items[swap.position] = new = changed(self.pipeline.reading, old, swap.wire, edit)
            self.removed.append(_removed(by, swap.ref, (old,), swap.wire))
            self.tally.add(old, -1)
            self.tally.add(new)
        self._replace(items)

    def _change(self, rule: SendRule, step: Step) -> None:
        if not step.changes:
            return
        items: list[Item] = []
        last = step.changes[-1]
        until = max(item.end for item in self.items[last.start : last.stop])
        group = step.changes[0].ref
        at = 0
        for change in step.changes:
            gone = self.items[change.start : change.stop]
            edit = Edit(rule.id, _FATES[rule.action], change.ref, until, group)
            if rule.action == "evict":  # evicted gaps stand alone: a later change of the list undoes only its own gap
                edit = Edit(rule.id, "evicted", change.ref, gone[-1].end)
            new = mark(self.pipeline.reading, change.text, gone[0].start, gone[-1].end, edit)
            items += [*self.items[at : change.start], new]
            at = change.stop
            self.removed.append(_removed(rule.id, change.ref, gone, new.message.wire))
            for item in gone:
                self.tally.add(item, -1)
            self.tally.add(new)
        self.fresh |= {change.ref for change in step.changes}
        self._replace([*items, *self.items[at:]])

    def _replace(self, items: list[Item]) -> None:
        self.items, self._view = items, None

    def without_archive(self, failure: Failure) -> Outcome:
        """The archive could not be written: under `on_error: keep` everything this run did is undone."""
        used = self.load.used(self.tally)
        if self.pipeline.spec.archive.on_error == "drop":
            why = f"the archive could not be written, the originals are lost (on_error: drop): {failure}"
            self.events.append(Event(None, "archive", False, why, used, used, failed=True))
            return Outcome(self.items, self.tally, self.events, tuple(self.removed), undone=False)
        items = list(self._given)
        for cut in self._arrivals:
            items[cut.position] = cut.whole
        tally = Tally.of(items)
        used = self.load.used(tally)
        events = [_undone(event, used) for event in self.events]
        why = f"the archive could not be written, so nothing was removed: {failure}"
        events.append(Event(None, "archive", False, why, used, used, failed=True))
        for rule in {event.rule for event in self.events if event.acted and event.rule in self.memories}:
            memory = self.memories[rule]
            memory.failures += self._failures.get(rule, 0)  # its success has come to nothing
            memory.fail(used)
        return Outcome(items, tally, events, (), undone=True)


def _undone(event: Event, used: int) -> Event:
    why = f"undone, for want of an archive: {event.reason}" if event.acted else event.reason
    return replace(event, acted=False, reason=why, before=used, after=used, messages=0, ref=None)


def _removed(rule: str, ref: str, gone: Sequence[Item], wire: Any) -> Removed:
    wires, shares = taken_out(gone)
    return Removed(ref, tuple(wires), text_digest(standing(wire, ref)), rule, tuple(shares) if any(shares) else ())


def _by_rule(arrivals: Sequence[Arrival]) -> list[tuple[str, list[Arrival]]]:
    by_rule: dict[str, list[Arrival]] = {}
    for cut in arrivals:
        by_rule.setdefault(cut.rule, []).append(cut)
    return list(by_rule.items())
