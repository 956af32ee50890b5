"""Repairs of calls and results: one result for each call, right after the turn that called."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import msgspec

from ctxpolicy.formats import Format
from ctxpolicy.formats.shared import as_text, blocks_key, joined, kind_of
from ctxpolicy.items import Item
from ctxpolicy.messages import Call, Message
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
    waiting: list[str] = []
    before = ""
    for message in messages:
        if message.role == "assistant":
            goes_on = message.follows and before == "assistant"
            if message.result_of is not None or (waiting and not goes_on):
                return False
            waiting += map(_id, message.calls)
        elif message.role == "tool":
            if message.result_of not in waiting:
                return False
            waiting.remove(message.result_of)
        elif waiting:
            return False
        before = message.role
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
        if not (found.orphans or found.doubles or given_up or self._apart(found)):
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
        apart = self._apart(found)
        moved: dict[int, list[Part]] = {}
        gone: set[int] = set()
        for head in dict.fromkeys(found.head[i] for i in apart):
            for i in found.unit(head):
                if self.list[i].message.role == "tool":
                    moved.setdefault(self._turn_end(self._caller(found, i)), []).append(self.list[i])
                    gone.add(i)
        for i in apart:  # the other results of their turns only stay in the order in which they came
            self._note("apart", self.list[i], "moved a tool result to its call")
        self.list = [
            p for i, part in enumerate(self.list) for p in (*(() if i in gone else (part,)), *moved.get(i, ()))
        ]

    def _apart(self, found: Structure) -> list[int]:
        """Results with something else between them and the turn that made their calls."""
        answers = (i for i, part in enumerate(self.list) if part.message.role == "tool" and found.head[i] != i)
        return [i for i in answers if i > self._results_end(found, self._caller(found, i))]

    def _caller(self, found: Structure, position: int) -> int:
        """The last message before a result that makes its call."""
        result_of = self.list[position].message.result_of
        return max(i for i in found.unit(position) if i < position and _calls(self.list[i].message, result_of))

    def _answer(self, found: Structure) -> None:
        """Give every call that will not be answered any more a result that says so."""
        added: dict[int, list[Part]] = {}
        for head in self._given_up(found):
            unit = found.unit(head)
            done = [self.list[i].message.result_of for i in unit if self.list[i].message.role == "tool"]
            for i in unit:
                part = self.list[i]
                for call in part.message.calls:
                    if _id(call) in done:
                        done.remove(_id(call))
                    elif _may_answer(part.message, call) and self._is_over(found, i):
                        added.setdefault(self._results_end(found, i), []).append(self._made(part, call))
                        self._note("dead", part, f"answered the call of {call.tool}")
        self.list = [p for i, part in enumerate(self.list) for p in (part, *added.get(i, ()))]

    def _made(self, part: Part, call: Call) -> Part:
        wire = self._format.result(part.message, call, NO_RESULT)
        made = msgspec.structs.replace(self._format.read(wire, 0)[0], result_of=call.id)
        return Part(made, part.place, made=True)

    def _given_up(self, found: Structure) -> list[int]:
        """Units with calls that nothing has answered and nothing will."""
        waiting = sorted({*found.dead, *found.outstanding})
        return [head for head in waiting if any(self._is_over(found, i) for i in found.unit(head))]

    def _is_over(self, found: Structure, position: int) -> bool:
        """True for calls after which the list goes on with something else than results, or whose results, which a
        format has in one message, are in.
        """
        if not self.list[position].message.calls:
            return False
        end, last = self._turn_end(position), self._results_end(found, position)
        return last + 1 < len(self.list) or any(_is_in_user_message(p.message) for p in self.list[end + 1 : last + 1])

    def _turn_end(self, position: int) -> int:
        """The last message of the assistant turn that goes on from here."""
        while position + 1 < len(self.list) and self._goes_on(position + 1):
            position += 1
        return position

    def _results_end(self, found: Structure, position: int) -> int:
        """The last result of the turn that calls here; where it has none, its own last message."""
        last = self._turn_end(position)
        while last + 1 < len(self.list) and self._is_result_of(found, found.head[position], last + 1):
            last += 1
        return last

    def _is_result_of(self, found: Structure, head: int, position: int) -> bool:
        return found.head[position] == head and self.list[position].message.role == "tool"

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


def _id(call: Call) -> str:
    """The id as results give it: nothing where there is none."""
    return call.id or ""


def _calls(message: Message, call_id: str | None) -> bool:
    return any(_id(call) == call_id for call in message.calls)


def _may_answer(message: Message, call: Call) -> bool:
    """True for a call of the assistant that has an id, and that the provider does not run itself."""
    return message.role == "assistant" and bool(call.id) and not _is_served(message.wire, _id(call))


def _is_served(wire: dict[str, Any], call_id: str) -> bool:
    """True for a call that the provider runs: `execution: server` or a container of Responses, the server tools and
    MCP of Anthropic.
    """
    if wire.get("execution") == "server" or kind_of(wire.get("environment")) not in (None, "local"):
        return True
    content = wire.get("content")
    blocks: list[Any] = content if isinstance(content, list) else [content]
    return any((kind_of(b) or "").endswith("_tool_use") and as_text(b.get("id")) == call_id for b in blocks)


def _is_in_user_message(message: Message) -> bool:
    """True for a tool result that is a block of a user message, as Anthropic and Gemini have them."""
    wire: Any = message.wire
    return message.role == "tool" and wire.get("role") == "user" and isinstance(wire.get(blocks_key(wire)), list)
