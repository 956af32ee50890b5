"""Whether a policy did its duty at every call, judged from the lists it sent and not from what it says of itself."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, groupby
from typing import Any, Literal

from ctxpolicy.actions.evict import Evict as Evicting
from ctxpolicy.intake import Intake
from ctxpolicy.items import Item, Tally
from ctxpolicy.policy.model import Evict, Spec
from ctxpolicy.policy.thresholds import percent, thresholds
from ctxpolicy.rules import Pipeline
from ctxpolicy.select import Selector
from ctxpolicy.simulate.reading import Seen
from ctxpolicy.units import free_blocks
from ctxpolicy.view import View

Fault = Literal["over the line", "task gone", "pair split", "compacts too often"]

OFTEN = 0.2  # share of calls with a compaction that is too much: each one rewrites the prompt cache
_ENOUGH = 20  # calls before a share of them says anything
_MARKER = 40  # tokens; what is smaller is not worth the marker that would stand for it


@dataclass(frozen=True, slots=True)
class Finding:
    """A duty not done: the first call it happened at, and how many calls in all."""

    fault: Fault
    call: int
    calls: int
    text: str

    def __str__(self) -> str:
        more = f", and at {self.calls - 1:,} more" if self.calls > 1 else ""
        return f"{self.fault}: {self.text} (call {self.call:,}{more})"


class Pairs:
    """Calls and results of a list, read in order: `orphans` are results without an earlier call."""

    def __init__(self) -> None:
        self._open: dict[str, int] = {}  # calls without a result, by id
        self._known: set[str] = set()
        self.orphans = 0

    def add(self, one: Seen) -> None:
        for call in one.calls:
            self._known.add(call)
            self._open[call] = self._open.get(call, 0) + 1
        for result in one.results:
            self.orphans += result not in self._known
            if self._open.get(result):
                self._open[result] -= 1

    @property
    def unanswered(self) -> int:
        return sum(self._open.values())


@dataclass(slots=True)
class _Count:
    call: int
    text: str
    calls: int = 1


class Judge:
    """Sees everything that comes in and every list that goes out. `findings` is the verdict; none means all is well."""

    def __init__(self, pipeline: Pipeline) -> None:
        self._pipeline = pipeline
        self._line = evict_line(pipeline.spec)
        self._keep = _evict_keep(pipeline)
        self._task: Seen | None = None
        self._history = Pairs()
        self._found: dict[Fault, _Count] = {}
        self._asked: list[bool] = []

    def came(self, one: Seen, role: str) -> None:
        """A message was taken into the list; `role` is the one by which the rules see it."""
        if self._task is None and role == "user":
            self._task = one
        self._history.add(one)

    def sent(self, messages: Sequence[Seen], used: int, tools: Sequence[Any] | None, *, compacted: bool) -> None:
        """A list went out, `used` tokens in all; `compacted`: a summary was asked for or a span left for this call."""
        self._asked.append(compacted)
        if used > self._line and (free := self._could_leave(messages, tools)):
            share = percent(used / self._pipeline.limit)
            self._find("over the line", f"sent {share} of the limit while {free:,} tokens could leave")
        if self._task is not None and not _holds(messages, self._task):
            self._find("task gone", "the first user message was not in the list sent")
        self._check_pairs(messages)

    def _find(self, fault: Fault, text: str) -> None:
        if fault in self._found:
            self._found[fault].calls += 1
        else:
            self._found[fault] = _Count(len(self._asked), text)

    def _check_pairs(self, messages: Sequence[Seen]) -> None:
        pairs = Pairs()
        for one in messages:
            pairs.add(one)
        if pairs.orphans > self._history.orphans:
            self._find("pair split", "a tool result was sent without its call")
        elif pairs.unanswered > self._history.unanswered:
            self._find("pair split", "a tool call was sent without its result")

    def _could_leave(self, messages: Sequence[Seen], tools: Sequence[Any] | None) -> int:
        """Tokens in runs of messages that neither a pin, nor the live tail, nor the evict rule's `keep` holds."""
        pipeline = self._pipeline
        items = Intake(pipeline.reading).read_all([one.wire for one in messages], None)
        view = View(items, Tally.of(items), pipeline.load(tools), pipeline.traits, pipeline.pins)
        blocks = free_blocks(view.structure, view.protection(self._keep))
        runs = _runs(list(chain.from_iterable(range(*block) for block in blocks)), items)
        return sum(tokens for tokens in runs if tokens > _MARKER)

    @property
    def findings(self) -> list[Finding]:
        """What was found, in the order of first happening."""
        found = [Finding(fault, seen.call, seen.calls, seen.text) for fault, seen in self._found.items()]
        return [*found, *_too_often(self._asked)]


def evict_line(spec: Spec) -> float:
    """Tokens above which the policy itself wants messages to leave: its highest evict threshold, at most the limit."""
    evicts = {rule.id for rule in spec.rules if isinstance(rule.action, Evict)}
    lines = [found.tokens for found in thresholds(spec) if found.owner in evicts and found.path[2] == "when"]
    return min(max(lines, default=spec.budget.limit), spec.budget.limit)


def _evict_keep(pipeline: Pipeline) -> Selector | None:
    keeps = [rule.how.keep for rule in pipeline.send_rules if isinstance(rule.how, Evicting)]
    return keeps[-1] if keeps else None


def _holds(messages: Sequence[Seen], task: Seen) -> bool:
    return any(one.wire == task.wire for one in messages) or any(task.text in one.text for one in messages)


def _runs(free: Sequence[int], items: Sequence[Item]) -> Iterator[int]:
    """Tokens of each run of neighbours; our own summaries and markers are not counted."""
    for _, run in groupby(enumerate(free), lambda pair: pair[1] - pair[0]):
        yield sum(items[i].tokens for _, i in run if items[i].ours is None)


def _too_often(asked: Sequence[bool]) -> Iterator[Finding]:
    if True not in asked:
        return
    first = asked.index(True)
    count, since = sum(asked), len(asked) - first
    if count > OFTEN * max(since, _ENOUGH):
        text = f"{count:,} of the {since:,} calls since the first one compacted"
        yield Finding("compacts too often", first + 1, 1, text)
