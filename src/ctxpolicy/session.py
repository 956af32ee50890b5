"""One list under one policy: what it is made of, what came in since the last run, and how a run's outcome is taken up.

`policy.apply` uses a session once, a managed window keeps one. Effects are not here: `start` gives the run to drive.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec

from ctxpolicy import state as states
from ctxpolicy.arrivals import Arrival, arrive
from ctxpolicy.begun import Begun, figures
from ctxpolicy.decide import decisions
from ctxpolicy.drivers import Effects
from ctxpolicy.errors import MessageTooLarge
from ctxpolicy.intake import Intake
from ctxpolicy.items import Item, Load, Tally, by_role
from ctxpolicy.ledger import Ledger
from ctxpolicy.memory import Memory
from ctxpolicy.outgoing import Handed, Outgoing
from ctxpolicy.pipeline import Running, run
from ctxpolicy.result import Event, Result
from ctxpolicy.rules import Pipeline
from ctxpolicy.view import View
from ctxpolicy.working import Outcome


class Session:
    """The working list of a policy, and everything that is carried from run to run.

    It is `live` where it is run before every model call of a loop, on messages of its own.
    `items` is never changed where a run or a result still looks at it: whoever adds to it takes a copy first.
    """

    def __init__(
        self,
        pipeline: Pipeline,
        tools: Sequence[Any] | None,
        system: Any = None,
        *,
        live: bool = False,
        repair: str | None = None,
    ) -> None:
        self.pipeline, self._live = pipeline, live
        self._outgoing = Outgoing(pipeline.reading, self._joined, repair, [tools, system]) if repair else None
        self.load: Load = pipeline.load(tools, system)
        self.items: list[Item] = []
        self.tally = Tally()
        self.memories: dict[str, Memory] = {}
        self._intake = Intake(pipeline.reading)
        self._ledger = Ledger()
        self._count = 0  # of the caller's messages
        self._roles: dict[str, int] = {}  # tokens by role of `items`
        self._shared = False  # a run or a result looks at `items`
        self._wires: list[Any] | None = []  # the wire messages of `items`; None: to be joined anew
        self._edited = False  # some message is not as it came in
        self._original: list[Item] | None = None  # until the first run: the caller's list, under laid edits
        self._arrivals: list[Arrival] = []  # cut, but not archived yet
        self._due: list[int] = []  # positions that the append rules must see again, for want of an archive
        self._notes: list[str] = []
        self._begun: Begun | None = None
        self._more = False  # something came in while the last run was under way

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
                self._recognise(given, saved)
            else:
                laid = states.lay(saved, given, self.pipeline.reading)
                items, self._original = laid.items, given
                self._notes += laid.dropped
        covered = saved.edited if saved is not None and returned else ()
        for n, item in enumerate(items):
            self._settle(item, arrives=n not in covered)
        if items is not given:
            self._intake.keep(items)

    def _recognise(self, given: Sequence[Item], saved: states.State) -> None:
        """Give back to a returned list what the state knows of it, but where the caller says something newer."""
        for i, meta in saved.metas.items():
            if i < len(given) and given[i].meta is None:
                given[i].meta = meta
        if saved.policy == self.pipeline.spec.hash:
            for i, item in enumerate(given[: saved.length]):
                if item.ours is None:
                    item.role = saved.roles.get(i, item.message.role)

    def read(self, wire: Any, meta: Mapping[str, Any] | None) -> list[Item]:
        """The items of a message that would come next. Raises TranscriptInvalid for what is no message."""
        return self._intake.read(wire, self._count, self._ledger.length, meta)

    def add(self, items: Sequence[Item]) -> None:
        """Add the items of a message that came in. Raises MessageTooLarge; then the list is as it was."""
        size = len(self.items)
        self._own()
        try:
            for item in items:
                self._settle(item)
        except MessageTooLarge:
            for item in self.items[size:]:
                self.tally.add(item, -1)
            self._roles = by_role(self.items[size:], self._roles, -1)
            del self.items[size:]
            self._wires = None
            self._arrivals = [cut for cut in self._arrivals if cut.position < size]
            raise
        for item in items:
            self._ledger.add(item.message.wire)
        if self._original is not None:
            self._original += items
        self._count += 1

    def _own(self) -> None:
        if self._shared:
            self.items, self._shared = list(self.items), False

    def _settle(self, item: Item, *, arrives: bool = True) -> None:
        """Put an item at the end of the working list, as the append rules leave it where it `arrives` only now."""
        if arrives and item.edit is None and item.ours is None:
            item, cut = arrive(self.pipeline, item, len(self.items))
            if cut is not None:
                self._arrivals.append(cut)
        self.items.append(item)
        self.tally.add(item)
        self._roles[item.role] = self._roles.get(item.role, 0) + item.tokens
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

    def _joined(self, items: list[Item]) -> list[Any]:
        if items is self.items and self._wires is not None:
            return self._wires
        return self.pipeline.reading.format.join([item.message for item in items])

    def view(self) -> View:
        return self._view(self.items, self.tally)

    def _view(self, items: list[Item], tally: Tally) -> View:
        return View(items, tally, self.load, self.pipeline.traits, self.pipeline.pins)

    def start(self, effects: Effects, pipeline: Pipeline | None = None) -> Running:
        """A run over the list as it is now, by another pipeline where one is given.

        Messages added while it runs are kept behind its outcome.
        """
        self._arrive_again()
        memories = {rule: memory.copy() for rule, memory in self.memories.items()}
        self._begun = Begun(self.items, tuple(self._arrivals), dict(self._roles), memories, self._original)
        self._shared, self._original = True, None
        archived = effects.archive is not None
        running = run(
            pipeline or self.pipeline,
            self.items,
            self.tally.copy(),
            self._begun.arrivals,
            self.load,
            memories,
            asks=effects.asks,
            archived=archived,
            live=self._live,
        )
        if self._outgoing is None:
            return running
        keep = self.pipeline.spec.archive.on_error == "keep"
        return self._outgoing.mending(running, self.load, archived=archived, keep=keep)

    def _arrive_again(self) -> None:
        if self._due:
            self._own()
        for position in self._due:
            whole = self.items[position]
            self.items[position], cut = arrive(self.pipeline, whole, position)
            if cut is not None:
                self._arrivals.append(cut)
                self.tally.add(whole, -1)
                self.tally.add(self.items[position])
                self._roles = by_role([self.items[position]], by_role([whole], self._roles, -1))
        if self._due:
            self._due, self._wires = [], None

    def finish(self, outcome: Outcome) -> Result:
        """Take up the outcome of the run. A live session, whose messages nobody else can change, works out the state
        only when it is asked for.
        """
        begun = self._begun
        assert begun is not None
        late = self.items[len(begun.items) :]
        end = self._view(outcome.items, outcome.tally.copy())
        self._take(outcome, late, begun)
        handed = self._handed(outcome.items, late)
        self._more = bool(late)
        state = self._state(outcome.items, handed.items)
        made = None if self._live else state()
        return Result(
            handed.messages,
            lambda: decisions(begun.given(), end, handed.touched()),
            (*self._noted(begun), *outcome.events, *handed.events),
            lambda: figures(begun, outcome, end, handed.items()),
            state if self._live else lambda: made,
            (*outcome.removed, *handed.removed),
        )

    def _handed(self, items: list[Item], late: list[Item]) -> Handed:
        """What is handed out of a list: repaired where that is asked for."""
        if self._outgoing is not None and self._outgoing.handed is not None:
            return self._outgoing.handed
        return Handed(self._joined(items) if late else self.wires(), lambda: items)

    def to_send(self) -> list[Any] | None:
        """What the last run would hand out now that more has come in while it ran; None where nothing has."""
        if not self._more:
            return None
        return self.wires() if self._outgoing is None else self._outgoing.look(self.items)

    def _take(self, outcome: Outcome, late: list[Item], begun: Begun) -> None:
        """Make the outcome the working list, with what came in meanwhile behind it."""
        shift = len(outcome.items) - len(begun.items)
        if outcome.undone:
            self._due = [cut.position for cut in begun.arrivals]
        self._arrivals = [
            msgspec.structs.replace(cut, position=cut.position + shift) for cut in self._arrivals[len(begun.arrivals) :]
        ]
        self.items, self._shared = [*outcome.items, *late] if late else outcome.items, not late
        self.tally = outcome.tally
        for item in late:
            self.tally.add(item)
        if outcome.items is not begun.items:
            self._edited, self._wires = True, None
            self._roles = by_role(self.items)
            self._intake.keep(self.items)
        self.memories = begun.memories

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
        return {"messages": self._joined(items), "state": self._state(items, lambda: items)()}

    def _noted(self, begun: Begun) -> list[Event]:
        notes = [*self._notes, *self._intake.oddities()]
        if not notes:
            return []
        self._notes, used = [], self.load.used_by(begun.given_roles())
        return [Event(None, "run", False, note, used, used) for note in notes]

    def _state(self, items: list[Item], handed: Callable[[], list[Item]]) -> Any:
        digest_at = self._ledger.digests(items) if self._edited else {}
        memories = {rule: memory.copy() for rule, memory in self.memories.items()}
        return lambda: states.save(self.pipeline.spec.hash, items, handed(), digest_at.__getitem__, memories)
