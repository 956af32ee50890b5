"""Repairs of calls and results: one result for each call, right after the turn that called."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import msgspec

from ctxpolicy.formats import Format
from ctxpolicy.formats.shared import blocks_key, joined
from ctxpolicy.items import Item
from ctxpolicy.messages import Message
from ctxpolicy.units import Structure, segment

NO_RESULT = "No result: the call was interrupted."

Numbered = tuple[int, Any]  # the place of a message in the list as it was given, and its wire message
Note = Callable[[str, int, str], None]  # a kind of repair or a rule's code, the place, what was done


class Pairing:
    """A list while its calls and results are put in order."""

    def __init__(self, format: Format, numbered: Iterable[Numbered], note: Note) -> None:
        self._format, self._note = format, note
        self._made: set[int] = set()  # wire messages that are new
        self.list = [part for index, wire in numbered for part in format.read(wire, index)]

    def pair(self) -> None:
        """One result for each call, right after its turn."""
        found = self._structure()
        for kind, places in (("orphan", found.orphans), ("double", found.doubles)):
            for i in places:
                which = "that answers no call" if kind == "orphan" else "of a call that has one already"
                self._note(kind, self.list[i].index, f"removed a tool result {which}")
        gone = {*found.orphans, *found.doubles}
        self.list = [message for i, message in enumerate(self.list) if i not in gone]
        self._answer(self._structure())
        self._move(self._structure())

    def _structure(self) -> Structure:
        return segment([Item(message, message.role, 0, i, i + 1) for i, message in enumerate(self.list)])

    def _answer(self, found: Structure) -> None:
        """Give every call that will not be answered any more a result that says so."""
        added: dict[int, list[Message]] = {}
        for head in self._given_up(found):
            unit = found.unit(head)
            done = [self.list[i].result_of for i in unit if self.list[i].role == "tool"]
            last = max(unit) if done else self._turn_end(head)
            for i in unit:
                for call in self.list[i].calls:
                    if call.id in done:
                        done.remove(call.id)
                    elif self.list[i].role == "assistant" and call.id is not None:
                        wire = self._format.result(self.list[i], call, NO_RESULT)
                        made = self._format.read(wire, self.list[i].index)[0]
                        self._made.add(id(made.wire))
                        added.setdefault(last, []).append(msgspec.structs.replace(made, result_of=call.id))
                        self._note("dead", self.list[i].index, f"answered the call of {call.tool}")
        self.list = [m for i, message in enumerate(self.list) for m in (message, *added.get(i, ()))]

    def _given_up(self, found: Structure) -> list[int]:
        """Units with dead calls, and the last one where its results are in, or the list goes on with something else."""
        return sorted({*found.dead, *(head for head in found.outstanding if self._is_over(found, head))})

    def _is_over(self, found: Structure, head: int) -> bool:
        results = (self.list[i] for i in found.unit(head) if self.list[i].role == "tool")
        return any(other != head for other in found.head[head:]) or any(map(_is_in_user_message, results))

    def _turn_end(self, position: int) -> int:
        """The last message of the assistant turn that goes on from here."""
        while position + 1 < len(self.list) and self._goes_on(position + 1):
            position += 1
        return position

    def _goes_on(self, position: int) -> bool:
        return self.list[position].role == "assistant" and self.list[position].follows

    def _move(self, found: Structure) -> None:
        """Put results that stand apart from their calls right after the turn that made these."""
        apart = {found.head[i] for i in range(len(self.list)) if self._is_apart(found, i)}
        moved: dict[int, list[Message]] = {}
        gone: set[int] = set()
        for head in sorted(apart):
            for i in found.unit(head):
                message = self.list[i]
                if message.role == "tool":
                    caller = max(j for j in found.unit(head) if j < i and _calls(self.list[j], message.result_of))
                    moved.setdefault(self._turn_end(caller), []).append(message)
                    gone.add(i)
                    self._note("apart", message.index, "moved a tool result to its call")
        self.list = [
            m for i, message in enumerate(self.list) for m in (*(() if i in gone else (message,)), *moved.get(i, ()))
        ]

    def _is_apart(self, found: Structure, position: int) -> bool:
        """True for a result with something else between it and its call."""
        head = found.head[position]
        return self.list[position].role == "tool" and any(found.head[j] != head for j in range(head, position))

    def join(self) -> list[Numbered]:
        """The wire messages; results that stand in messages of their own, where the format has them in one, in one."""
        out: list[list[Message]] = []
        before: Message | None = None
        for message in self.list:
            same = before is not None and message.origin is not None and message.origin is before.origin
            if before is not None and (same or self._belong_together(before, message)):
                out[-1] = [*out[-1], message]
            else:
                out.append([message])
            before = message
        return [self._one(group) for group in out]

    def _belong_together(self, a: Message, b: Message) -> bool:
        """True for a new result beside another, where the format has them in one user message."""
        new = id(a.wire) in self._made or id(b.wire) in self._made
        return new and _is_in_user_message(a) and _is_in_user_message(b)

    def _one(self, group: list[Message]) -> Numbered:
        wires = self._format.join(group)
        return group[0].index, wires[0] if len(wires) == 1 else joined(wires)


def _calls(message: Message, call_id: str | None) -> bool:
    return any(call.id == call_id for call in message.calls)


def _has_blocks(message: Message) -> bool:
    return isinstance(message.wire.get(blocks_key(message.wire)), list)


def _is_in_user_message(message: Message) -> bool:
    """True for a tool result that is a block of a user message, as Anthropic and Gemini have them."""
    return message.role == "tool" and message.wire.get("role") == "user" and _has_blocks(message)
