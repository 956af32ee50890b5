"""From wire messages to items: everything about a message that does not depend on its place is settled here, once."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec

from ctxpolicy.arguments import message_list
from ctxpolicy.formats import Format
from ctxpolicy.items import Edit, Item
from ctxpolicy.marks import Marks
from ctxpolicy.messages import Message
from ctxpolicy.oddities import Watch
from ctxpolicy.tokens import Meter

ReadRole = Callable[[Item], str | None]  # `read_as`: the role by which the rules see it, or None for its own


class Reading(msgspec.Struct, frozen=True):
    """How a policy reads a list: the wire format, the counter, its own marks, and a maker of `read_as` readers."""

    format: Format
    meter: Meter
    marks: Marks
    read_as: Callable[[], ReadRole] | None

    def price(self, text: str) -> int:
        """Tokens of a message of ours that says `text`."""
        return self.meter.MESSAGE_OVERHEAD + self.meter.text(text)


class Intake:
    """Reads one list, message by message in order. Remembers which tool each call id asked for, and what was odd."""

    def __init__(self, reading: Reading) -> None:
        self._reading = reading
        self._read_as = reading.read_as() if reading.read_as else None
        self._asked: dict[str, str] = {}
        self._alone: dict[str, tuple[str, ...]] = {}  # a tuple for each name, not for each message
        self._watch = Watch()

    def read(self, wire: Any, index: int, start: int, meta: Mapping[str, Any] | None = None) -> list[Item]:
        """The items of the caller's message `index`, the first of them at place `start`.

        Raises TranscriptInvalid for what is not a message.
        """
        messages = self._reading.format.read(wire, index)
        return [self._item(message, start + n, meta) for n, message in enumerate(messages)]

    def read_all(self, messages: Sequence[Any], metas: Sequence[Mapping[str, Any] | None] | None) -> list[Item]:
        """The items of a whole list, from its first message on. Raises TranscriptInvalid for what is no list."""
        items: list[Item] = []
        read = self._reading.format.read
        for index, wire in enumerate(message_list(messages)):
            for message in read(wire, index):
                items.append(self._item(message, len(items), metas[index] if metas else None))
        return items

    def _item(self, message: Message, start: int, meta: Mapping[str, Any] | None) -> Item:
        reading = self._reading
        self._watch.see(message, pending=meta is not None and meta.get("pending") is True)
        item = Item(message, message.role, reading.meter.message(message), start, start + 1, (), None, 1, meta)
        if message.role == "user":
            known = reading.marks.know(message.text)
            if known is not None:
                item.ours, item.count, item.role = known.kind, known.count, "injected"
                return item
        elif message.calls or message.role == "tool":
            item.tools = self._tools(message)
        if self._read_as is not None:
            masked = message.role == "user" and reading.marks.is_masked_result(message.text)
            item.role = self._read_as(item) or ("tool" if masked else message.role)
        return item

    def keep(self, items: Sequence[Item]) -> None:
        """Forget the calls that are not in this list: a result that comes for one has no call, here as in any list."""
        self._asked = {call.id or "": call.tool for item in items for call in item.message.calls}
        self._watch.keep(self._asked)

    def oddities(self) -> list[str]:
        """What was odd in the messages read since this was last asked, in words."""
        return self._watch.report()

    def _tools(self, message: Message) -> tuple[str, ...]:
        calls = message.calls
        for call in calls:
            self._asked[call.id or ""] = call.tool
        if len(calls) > 1:
            return tuple(call.tool for call in calls)
        tool = calls[0].tool if calls else self._asked.get(message.result_of or "") or message.name
        if not tool:
            return ()
        return self._alone.get(tool) or self._alone.setdefault(tool, (tool,))


def changed(reading: Reading, item: Item, wire: Any, edit: Edit) -> Item:
    """The item with another wire message in its place; its role as read and its tools stay."""
    (message,) = reading.format.read(wire, item.message.index)
    message = msgspec.structs.replace(message, **_kinship(item.message))
    tokens = reading.meter.message(message)
    return Item(message, item.role, tokens, item.start, item.end, item.tools, None, 1, item.meta, edit)


def _kinship(message: Message) -> dict[str, Any]:
    """What a changed message keeps of the one it was: which part of whose message, and of whose turn."""
    return {
        "result_of": message.result_of,
        "origin": message.origin,
        "part": message.part,
        "parts": message.parts,
        "follows": message.follows,
    }


def mark(reading: Reading, text: str, start: int, end: int, edit: Edit) -> Item:
    """A summary or marker of ours, standing for the caller's messages from `start` to `end`."""
    (message,) = reading.format.read(reading.format.say(text), -1)
    known = reading.marks.know(text)
    ours, count = (known.kind, known.count) if known else ("gap", 0)
    count = count or end - start  # the template may not say it
    return Item(message, "injected", reading.meter.message(message), start, end, (), ours, count, None, edit)
