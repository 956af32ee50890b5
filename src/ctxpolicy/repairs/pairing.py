"""Repairs of calls and results: one result for each call, right after the turn that called."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import msgspec

from ctxpolicy.formats import Format
from ctxpolicy.formats.shared import blocks_key, joined
from ctxpolicy.items import Item
from ctxpolicy.messages import Message
from ctxpolicy.repairs.model import Note, Place
from ctxpolicy.repairs.scrub import Scrubbed
from ctxpolicy.units import Structure, segment

NO_RESULT = "No result: the call was interrupted."

_CODES = {
    "openai-chat": {"orphan": "OAC-02", "double": "OAC-02", "dead": "OAC-01", "apart": "OAC-01"},
    "anthropic": {"orphan": "ANT-02", "double": "ANT-03", "dead": "ANT-01", "apart": "ANT-04"},
    "openai-responses": {"orphan": "OAR-02", "double": "X-01", "dead": "OAR-01", "apart": "OAR-15"},
    "gemini": {"orphan": "GEM-02", "double": "GEM-03", "dead": "GEM-03", "apart": "GEM-02"},
}


class Part(msgspec.Struct, frozen=True):
    """A message as the rules read it, and the message of the given list that it is (a part of); of a made one, the
    call's."""

    message: Message
    place: int
    made: bool = False


def pair(format: Format, read: Sequence[tuple[int, Scrubbed]], note: Note) -> list[Place]:
    """The list with one result for each call, right after its turn. `read` is each message with its place in the given
    list.
    """
    if not _is_plain(message for _, scrubbed in read for message in scrubbed.messages):
        pairing = _Pairing(format, [Part(message, n) for n, scrubbed in read for message in scrubbed.messages], note)
        if pairing.pair():
            return pairing.join()
    return [Place(scrubbed.wire, (n,)) for n, scrubbed in read]


def _is_plain(messages: Iterable[Message]) -> bool:
    """True for a list in which nothing stands between calls and all their results: no structure need be looked for."""
    waiting: list[str | None] = []
    for message in messages:
        if message.role == "assistant":
            if message.result_of is not None or (waiting and not message.follows):
                return False
            waiting += [call.id for call in message.calls]
        elif message.role == "tool":
            if message.result_of not in waiting:
                return False
            waiting.remove(message.result_of)
        elif waiting:
            return False
    return not waiting


class _Pairing:
    """A list while its calls and results are put in order."""

    def __init__(self, format: Format, parts: list[Part], note: Note) -> None:
        self._format, self._tell, self._codes = format, note, _CODES[format.NAME]
        self.list = parts

    def pair(self) -> bool:
        """One result for each call, right after its turn. False where nothing was to do."""
        found = self._structure()
        given_up = self._given_up(found)
        if not (found.orphans or found.doubles or found.crossed or given_up):
            return False
        self._remove(found)
        self._move(self._structure())
        self._answer(self._structure())  # last: a result that is known by name alone must not come after a later call
        return True

    def _structure(self) -> Structure:
        return segment([Item(part.message, part.message.role, 0, i, i + 1) for i, part in enumerate(self.list)])

    def _note(self, kind: str, part: Part, says: str) -> None:
        self._tell(self._codes[kind], part.place, says)

    def _remove(self, found: Structure) -> None:
        for i in found.orphans:
            self._note("orphan", self.list[i], "removed a tool result that answers no call")
        for i in found.doubles:
            self._note("double", self.list[i], "removed a tool result of a call that has one already")
        gone = {*found.orphans, *found.doubles}
        self.list = [part for i, part in enumerate(self.list) if i not in gone]

    def _move(self, found: Structure) -> None:
        """Put results that stand apart from their calls right after the turn that made these."""
        apart = {found.head[i] for i in range(len(self.list)) if self._is_apart(found, i)} if found.crossed else ()
        moved: dict[int, list[Part]] = {}
        gone: set[int] = set()
        for head in sorted(apart):
            for i in found.unit(head):
                result_of = self.list[i].message.result_of
                if self.list[i].message.role == "tool":
                    calls = (j for j in found.unit(head) if j < i and _calls(self.list[j].message, result_of))
                    moved.setdefault(self._turn_end(max(calls)), []).append(self.list[i])
                    gone.add(i)
                    self._note("apart", self.list[i], "moved a tool result to its call")
        self.list = [
            p for i, part in enumerate(self.list) for p in (*(() if i in gone else (part,)), *moved.get(i, ()))
        ]

    def _is_apart(self, found: Structure, position: int) -> bool:
        """True for a result with something else between it and its call."""
        head = found.head[position]
        is_result = self.list[position].message.role == "tool"
        return is_result and any(found.head[j] != head for j in range(head, position))

    def _answer(self, found: Structure) -> None:
        """Give every call that will not be answered any more a result that says so."""
        added: dict[int, list[Part]] = {}
        for head in self._given_up(found):
            unit = found.unit(head)
            done = [self.list[i].message.result_of for i in unit if self.list[i].message.role == "tool"]
            last = max(unit) if done else self._turn_end(head)
            for i in unit:
                for call in self.list[i].message.calls:
                    if call.id in done:
                        done.remove(call.id)
                    elif self.list[i].message.role == "assistant" and call.id is not None:
                        wire = self._format.result(self.list[i].message, call, NO_RESULT)
                        made = msgspec.structs.replace(self._format.read(wire, 0)[0], result_of=call.id)
                        added.setdefault(last, []).append(Part(made, self.list[i].place, made=True))
                        self._note("dead", self.list[i], f"answered the call of {call.tool}")
        self.list = [p for i, part in enumerate(self.list) for p in (part, *added.get(i, ()))]

    def _given_up(self, found: Structure) -> list[int]:
        """Units with dead calls, and the last one where its results are in, or the list goes on with something else."""
        return sorted({*found.dead, *(head for head in found.outstanding if self._is_over(found, head))})

    def _is_over(self, found: Structure, head: int) -> bool:
        results = (self.list[i].message for i in found.unit(head) if self.list[i].message.role == "tool")
        return any(other != head for other in found.head[head:]) or any(map(_is_in_user_message, results))

    def _turn_end(self, position: int) -> int:
        """The last message of the assistant turn that goes on from here."""
        while position + 1 < len(self.list) and self._goes_on(position + 1):
            position += 1
        return position

    def _goes_on(self, position: int) -> bool:
        message = self.list[position].message
        return message.role == "assistant" and message.follows

    def join(self) -> list[Place]:
        """The wire messages; results that stand in messages of their own, where the format has them in one, in one."""
        out: list[list[Part]] = []
        for part in self.list:
            if out and _belong_together(out[-1][-1], part):
                out[-1].append(part)
            else:
                out.append([part])
        return [self._one(group) for group in out]

    def _one(self, group: Sequence[Part]) -> Place:
        wires = self._format.join([part.message for part in group])
        return Place(joined(wires), tuple(dict.fromkeys(part.place for part in group if not part.made)))


def _belong_together(a: Part, b: Part) -> bool:
    """True for parts of one message, and for a new result beside another where the format has them in one."""
    if not (a.made or b.made):
        return a.place == b.place
    return _is_in_user_message(a.message) and _is_in_user_message(b.message)


def _calls(message: Message, call_id: str | None) -> bool:
    return any(call.id == call_id for call in message.calls)


def _is_in_user_message(message: Message) -> bool:
    """True for a tool result that is a block of a user message, as Anthropic and Gemini have them."""
    wire: Any = message.wire
    return message.role == "tool" and wire.get("role") == "user" and isinstance(wire.get(blocks_key(wire)), list)
