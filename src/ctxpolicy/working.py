"""The list of one run while its rules work on it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec

from ctxpolicy.actions import Step, Swap, held
from ctxpolicy.arrivals import Arrival, removed_from
from ctxpolicy.intake import changed, mark
from ctxpolicy.items import Edit, Facts, Item, Leaving, Load, Tally
from ctxpolicy.memory import Memory
from ctxpolicy.reasoning import first_rewritten, signed, strip
from ctxpolicy.result import Event, Removed
from ctxpolicy.rules import Pipeline, SendRule
from ctxpolicy.summarize.reply import Failure
from ctxpolicy.view import View

_FATES: dict[str, Leaving] = {"truncate": "truncated", "mask": "masked", "compact": "compacted", "evict": "evicted"}


class Outcome(msgspec.Struct, frozen=True):
    """A finished run. `items` and `tally` are the new list; `undone` is true where the archive could not be written."""

    items: list[Item]
    tally: Tally
    events: list[Event]
    removed: tuple[Removed, ...]
    undone: bool


class Working:
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
        self._measure()
        self._arrivals = arrivals
        self._failures = {rule: memory.failures for rule, memory in memories.items()}
        self.events = list(self._arrival_events()) if arrivals else []
        self.removed = [removed for cut in arrivals for removed in cut.removed]
        self.fresh: frozenset[str] = frozenset()
        self._view: View | None = None

    @property
    def view(self) -> View:
        if self._view is None:
            self._view = View(self.items, self.tally, self.load, self.pipeline.traits, self.pipeline.pins)
        return self._view

    def _measure(self) -> None:
        """The figures of the list as it stands."""
        self.used: int = self.load.used(self.tally)
        self.facts: Facts = self.load.facts(self.tally)

    def take(self, rule: SendRule, step: Step, failed: bool = False) -> None:
        """Carry out a step and tell of it."""
        before = self.used
        self._swap(rule.id, _FATES[rule.action], step.swaps)
        self._change(rule, step)
        self.tell(rule, step, before, failed)

    def skip(self, rule: SendRule) -> None:
        """Tell that a rule's condition does not hold."""
        used = self.used
        self.events.append(Event(rule.id, rule.action, False, "quiet: its condition does not hold", used, used))

    def tell(self, rule: SendRule, step: Step, before: int | None = None, failed: bool = False) -> None:
        used = self.used
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
        before = self.used + sum(saved.values())
        for rule, cuts in _by_rule(self._arrivals):
            after = before - sum(saved[cut.position] for cut in cuts)
            what = f"cut {len(cuts):,} tool {'result' if len(cuts) == 1 else 'results'} on arrival"
            yield Event(rule, "truncate", True, what, before, after, None, len(cuts), cuts[0].removed[0].ref)
            before = after

    def check_room(self) -> None:
        """Say so when the list does not fit, and what holds it; or that tools and system alone reach the limit."""
        used, limit = self.used, self.load.limit
        fixed = self.load.tools + self.load.system + self.load.overhead + self.tally.fixed
        if fixed >= limit:
            why = f"no room: tools and system alone take {fixed:,} of {limit:,} tokens"
        elif self.facts.pressure > 1.0:
            seen = round(self.facts.used)  # as the provider counts
            why = f"over the limit: {seen:,} of {limit:,} tokens, {held(self.view, self.view.protection())}"
        else:
            return
        self.events.append(Event(None, "run", False, why, used, used))

    def mind_reasoning(self) -> None:
        """Where this run rewrote history before signed reasoning: take that out or keep it, as the policy says."""
        if not self.removed:
            return
        first = first_rewritten(self._given, self.items)
        places = [cut.position for cut in self._arrivals] + ([] if first is None else [first])
        bound = signed(self.items, min(places) + 1) if places else []
        if not bound:
            return
        before = self.used
        swaps: list[Swap] = []
        why = f"kept {len(bound):,} messages with signed reasoning although history before them was rewritten; a model "
        why += "that binds reasoning to its history needs reasoning: strip_after_edit"
        if self.pipeline.spec.reasoning == "strip_after_edit":
            swaps = strip(self.items, bound, self.pipeline.reading.format)
            why = f"took the signed reasoning out of {len(swaps):,} messages: history before them was rewritten"
            self._swap("reasoning", "repaired", swaps)
        ref = swaps[0].ref if swaps else None
        self.events.append(Event(None, "reasoning", bool(swaps), why, before, self.used, None, len(swaps), ref))

    def _swap(self, by: str, fate: Leaving, swaps: Sequence[Swap]) -> None:
        if not swaps:
            return
        items = list(self.items)
        for swap in swaps:
            old = items[swap.position]
            edit = Edit(by, fate, swap.ref, old.end)
            items[swap.position] = new = changed(self.pipeline.reading, old, swap.wire, edit)
            self.removed.append(removed_from(by, swap.ref, (old,), swap.wire))
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
            self.removed.append(removed_from(rule.id, change.ref, gone, new.message.wire))
            for item in gone:
                self.tally.add(item, -1)
            self.tally.add(new)
        self.fresh |= {change.ref for change in step.changes}
        self._replace([*items, *self.items[at:]])

    def _replace(self, items: list[Item]) -> None:
        self.items, self._view = items, None
        self._measure()

    def without_archive(self, failure: Failure) -> Outcome:
        """The archive could not be written: under `on_error: keep` everything this run did is undone."""
        if self.pipeline.spec.archive.on_error == "drop":
            why = f"the archive could not be written, the originals are lost (on_error: drop): {failure}"
            self.events.append(Event(None, "archive", False, why, self.used, self.used, failed=True))
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
    return msgspec.structs.replace(event, acted=False, reason=why, before=used, after=used, messages=0, ref=None)


def _by_rule(arrivals: Sequence[Arrival]) -> list[tuple[str, list[Arrival]]]:
    by_rule: dict[str, list[Arrival]] = {}
    for cut in arrivals:
        by_rule.setdefault(cut.rule, []).append(cut)
    return list(by_rule.items())
