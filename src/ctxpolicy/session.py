"""One list under one policy: what it is made of, what came in since the last run, and how a run's outcome is taken up.

`policy.apply` uses a session once, a managed window keeps one. Effects are not here: `start` gives the run to drive.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from ctxpolicy import state as states
from ctxpolicy.arrivals import Arrival, arrive
from ctxpolicy.decide import decisions
from ctxpolicy.drivers import Effects
from ctxpolicy.errors import MessageTooLarge
from ctxpolicy.intake import Intake
from ctxpolicy.items import Item, Load, Tally, by_role
from ctxpolicy.ledger import Ledger
from ctxpolicy.memory import Memory
from ctxpolicy.pipeline import Running, run
from ctxpolicy.result import Event, Result, Spent, Usage
from ctxpolicy.rules import Pipeline
from ctxpolicy.view import View
from ctxpolicy.working import Outcome


class Session:
    """The working list of a policy, and everything that is carried from run to run."""

    def __init__(self, pipeline: Pipeline, tools: Sequence[Any] | None, system: Any = None) -> None:
        self.pipeline = pipeline
        self.load: Load = pipeline.load(tools, system)
        self.items: list[Item] = []
        self.tally = Tally()
        self.memories: dict[str, Memory] = {}
        self._intake = Intake(pipeline.reading)
        self._ledger = Ledger()
        self._count = 0  # of the caller's messages
        self._roles: Counter[str] = Counter()  # tokens by role of `items`, and of `_given`
        self._given_roles: Counter[str] = Counter()
        self._wires: list[Any] | None = []  # the wire messages of `items`; None: to be joined anew
        self._edited = False  # some message is not as it came in
        self._given: list[Item] = []  # the input of the next run: items as they came in, before append rules cut them
        self._arrivals: list[Arrival] = []  # cut, but not archived yet
        self._due: list[int] = []  # positions that the append rules must see again, for want of an archive
        self._notes: list[str] = []
        self._next_memories = self.memories
        self._size = 0  # of the list that a run is working on

    def take_over(
        self,
        messages: Sequence[Any],
        state: Mapping[str, Any] | None,
        metas: Sequence[Mapping[str, Any] | None] | None,
    ) -> None:
        """Begin with a list that exists already. Raises MessageTooLarge, TranscriptInvalid, CtxPolicyError."""
        saved = states.load(state) if state is not None else None
        given = self._intake.read_all(messages, metas)
        self._count = len(messages)
        for item in given:
            self._ledger.add(item.message.wire)
        items, returned = given, saved is not None and states.is_returned(saved, given)
        if saved is not None:
            self._remember(saved)
            if returned:
                self._give_metas(given, saved.metas)
            else:
                laid = states.lay(saved, given, self.pipeline.reading)
                items = laid.items
                self._notes += laid.dropped
        for item in items:
            self._settle(item)
        self._given, self._given_roles = given, by_role(given)

    def _give_metas(self, given: Sequence[Item], metas: Mapping[int, Mapping[str, Any]]) -> None:
        """Give back what the state knows, but where the caller says something newer."""
        for i, meta in metas.items():
            if i < len(given) and given[i].meta is None:
                given[i].meta = meta

    def read(self, wire: Any, meta: Mapping[str, Any] | None) -> list[Item]:
        """The items of a message that would come next. Raises TranscriptInvalid for what is no message."""
        return self._intake.read(wire, self._count, self._ledger.length, meta)

    def add(self, items: Sequence[Item]) -> None:
        """Add the items of a message that came in. Raises MessageTooLarge; then the list is as it was."""
        size = len(self.items)
        try:
            for item in items:
                self._settle(item)
        except MessageTooLarge:
            for item in self.items[size:]:
                self.tally.add(item, -1)
                self._roles[item.role] -= item.tokens
            del self.items[size:]
            self._wires = None
            self._arrivals = [cut for cut in self._arrivals if cut.position < size]
            raise
        for item in items:
            self._ledger.add(item.message.wire)
            self._given_roles[item.role] += item.tokens
        self._given += items
        self._count += 1

    def _settle(self, item: Item) -> None:
        """Put an item at the end of the working list, as the append rules leave it."""
        if item.edit is None and item.ours is None:
            item, cut = arrive(self.pipeline, item, len(self.items))
            if cut is not None:
                self._arrivals.append(cut)
        self.items.append(item)
        self.tally.add(item)
        self._roles[item.role] += item.tokens
        self._edited = self._edited or item.edit is not None
        if self._wires is not None and item.message.parts == 1:
            self._wires.append(item.message.wire)
        else:
            self._wires = None

    def _remember(self, saved: states.State) -> None:
        if saved.policy == self.pipeline.spec.hash:
            self.memories = saved.memories
        elif saved.memories:
            self._notes.append("the policy has changed: breakers and failed spans start anew, edits stay")

    def wires(self) -> list[Any]:
        """The wire messages of the list as it stands. Not to be changed."""
        if self._wires is None:
            self._wires = self._joined(self.items)
        return self._wires

    def _joined(self, items: Sequence[Item]) -> list[Any]:
        return self.pipeline.reading.format.join([item.message for item in items])

    def view(self) -> View:
        return View(self.items, self.tally, self.load, self.pipeline.traits, self.pipeline.pins)

    def start(self, effects: Effects) -> Running:
        """A run over the list as it is now. Messages added while it runs are kept behind its outcome."""
        self._arrive_again()
        self._size = len(self.items)
        self._next_memories = {rule: memory.copy() for rule, memory in self.memories.items()}
        return run(
            self.pipeline,
            list(self.items),
            self.tally.copy(),
            tuple(self._arrivals),
            self.load,
            self._next_memories,
            asks=effects.asks,
            archived=effects.archive is not None,
        )

    def _arrive_again(self) -> None:
        for position in self._due:
            whole = self.items[position]
            self.items[position], cut = arrive(self.pipeline, whole, position)
            if cut is not None:
                self._arrivals.append(cut)
                self.tally.add(whole, -1)
                self.tally.add(self.items[position])
        if self._due:
            self._due, self._wires = [], None

    def finish(self, outcome: Outcome, *, lazily: bool = False) -> Result:
        """Take up the outcome of the run. `lazily`: work out the state only when it is asked for.

        That is sound only where nobody else can change the messages.
        """
        late, given = self.items[self._size :], self._given
        late_roles, after = by_role(late), outcome.tally.copy()
        before_roles = self._given_roles - late_roles
        self._take(outcome, late)
        roles = self._roles - late_roles
        events = (*self._noted(self.load.used_by(before_roles)), *outcome.events)
        end = View(outcome.items, after, self.load, self.pipeline.traits, self.pipeline.pins)
        shown = len(given) - len(late)
        state = self._state(outcome.items)
        made = None if lazily else state()
        return Result(
            self._joined(outcome.items) if late else list(self.wires()),
            lambda: decisions(given[:shown], end),
            events,
            self._usage(before_roles, roles, end, outcome.events),
            state if lazily else lambda: made,
            outcome.removed,
        )

    def _take(self, outcome: Outcome, late: list[Item]) -> None:
        """Make the outcome the working list, with what came in meanwhile behind it."""
        shift = len(outcome.items) - self._size
        if outcome.undone:
            self._due = [cut.position for cut in self._arrivals if cut.position < self._size]
        self._arrivals = [
            msgspec.structs.replace(cut, position=cut.position + shift)
            for cut in self._arrivals
            if cut.position >= self._size
        ]
        if outcome.removed or outcome.undone:
            self._edited, self._wires = True, None
            self._roles = by_role(outcome.items) + by_role(late)
        self.items = [*outcome.items, *late]
        self.tally = outcome.tally
        for item in late:
            self.tally.add(item)
        self.memories = self._next_memories
        self._given, self._given_roles = list(self.items), self._roles.copy()

    def dump(self, effects: Effects) -> dict[str, Any]:
        """The working list and state as JSON values, with what was cut since the last run archived first.

        Where the archive cannot be written, those messages are dumped whole.
        """
        items = list(self.items)
        if self._arrivals and effects.archive is not None:
            try:
                effects.archive.put([r.record() for cut in self._arrivals for r in cut.removed])
            except Exception:  # noqa: BLE001 - whatever an archive raises, nothing may be lost
                for cut in self._arrivals:
                    items[cut.position] = cut.whole
            else:
                self._arrivals = []
        return {"messages": self._joined(items), "state": self._state(items)()}

    def _noted(self, used: int) -> list[Event]:
        notes = [*self._notes, *self._intake.oddities()]
        self._notes = []
        return [Event(None, "run", False, note, used, used) for note in notes]

    def _state(self, items: list[Item]) -> Any:
        digest_at = self._ledger.digests(items) if self._edited else {}
        memories = {rule: memory.copy() for rule, memory in self.memories.items()}
        return lambda: states.save(self.pipeline.spec.hash, items, digest_at.__getitem__, memories)

    def _usage(self, before: Mapping[str, int], after: Mapping[str, int], end: View, events: Sequence[Event]) -> Usage:
        summaries = Spent()
        for event in events:
            if event.spent is not None:
                summaries = summaries.plus(event.spent)
        pressure = end.facts.pressure
        return Usage(
            self.load.by_role(before),
            self.load.by_role(after),
            self.load.tools,
            self.load.limit,
            pressure,
            pressure <= 1.0,
            summaries,
        )
