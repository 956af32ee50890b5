"""What the views of all wire formats are made of: gathering the facts of a message, and splitting and joining parts."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

import msgspec

from ctxpolicy.errors import TranscriptInvalid
from ctxpolicy.messages import Call, Message

_HAVING: dict[frozenset[str], frozenset[str]] = {}  # one set for all messages that have the same
ANTHROPIC = frozenset(("tool_use", "tool_result", "server_tool_use", "mcp_tool_use"))  # blocks of no other format
_encode = msgspec.json.Encoder().encode


class Facts:
    """The facts of a message while its blocks are read. What is not text, media or a call counts as its JSON text."""

    __slots__ = ("calls", "extra", "has", "media", "texts")

    def __init__(self) -> None:
        self.texts: list[str] = []
        self.extra: list[str] = []
        self.media: dict[str, int] = {}
        self.has: set[str] = set()
        self.calls: list[Call] = []

    def piece(self, kind: str) -> None:
        """One picture (image), sound (audio) or anything else (file)."""
        self.has.add(kind)
        self.media[kind] = self.media.get(kind, 0) + 1

    def other(self, value: Any, *has: str) -> None:
        """Something else that is sent."""
        self.extra.append(as_text(value))
        self.has.update(has)

    def call(self, call_id: Any, tool: Any, arguments: Any) -> None:
        self.add(call_of(call_id, tool, arguments))

    def add(self, call: Call) -> None:
        self.calls.append(call)
        self.has.add("tool_call")

    def message(
        self,
        wire: Any,
        role: str,
        index: int,
        *,
        name: Any = None,
        result_of: str | None = None,
        follows: bool = False,
    ) -> Message:
        return Message(
            wire,
            role,
            "".join(self.texts),
            name if isinstance(name, str) else None,
            tuple(self.calls) if self.calls else (),
            result_of,
            having(self.has),
            tuple(self.media.items()) if self.media else (),
            tuple(self.extra) if self.extra else (),
            index,
            follows=follows,
        )


def call_of(call_id: Any, tool: Any, arguments: Any) -> Call:
    """A tool call from its fields on the wire."""
    return Call(None if call_id is None else str(call_id), str(tool), as_text(arguments))


def having(kinds: Iterable[str]) -> frozenset[str]:
    """What a message has, as a set that it shares with every other message that has the same."""
    has = frozenset(kinds)
    return _HAVING.setdefault(has, has)


def kind_of(block: Any) -> str | None:
    """The type of a content block, if it is an object that names one."""
    kind = block.get("type") if isinstance(block, dict) else None
    return kind if isinstance(kind, str) else None


def as_text(value: Any) -> str:
    """A text as it is, nothing for None, anything else as JSON."""
    if value is None or isinstance(value, str):
        return value or ""
    try:
        return _encode(value).decode()
    except (UnicodeError, TypeError, OverflowError):  # lone surrogates, what is no JSON, integers past 64 bits
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=str)


def as_object(text: str, key: str) -> dict[str, Any]:
    """The JSON object that a text holds; any other text becomes the value of `key`."""
    try:
        value = json.loads(text)
    except ValueError:
        value = None
    return value if isinstance(value, dict) else {key: text}


def media_kind(mime: Any) -> str:
    """image, audio or file, for a MIME type."""
    kind = str(mime).partition("/")[0]
    return kind if kind in ("image", "audio") else "file"


def role_of(wire: Any, roles: dict[str, str], index: int, default: str | None = None) -> str:
    """The role of a wire message by the format's own names. Raises TranscriptInvalid for what is not a message."""
    if type(wire) is not dict:
        hint = ": pass message.model_dump(exclude_none=True)" if hasattr(wire, "model_dump") else ""
        raise TranscriptInvalid(
            f"message {index} is a {type(wire).__name__}, not a dict with a role{hint}", index=index
        )
    given = wire.get("role", default)
    role = roles.get(given) if isinstance(given, str) else None
    if role is None:
        raise TranscriptInvalid(f"message {index} has role {given!r}; known roles are {', '.join(roles)}", index=index)
    return role


def as_parts(origin: dict[str, Any], messages: Sequence[Message]) -> tuple[Message, ...]:
    """The messages as the parts of one wire message."""
    size = len(messages)
    replace = msgspec.structs.replace
    return tuple(replace(m, origin=origin, part=n, parts=size) for n, m in enumerate(messages))


def families(messages: Iterable[Message]) -> list[list[Message]]:
    """The list cut into wire messages: neighbouring parts of one origin are one, everything else stands alone."""
    found: list[list[Message]] = []
    for message in messages:
        last = found[-1][-1] if found and message.part else None
        if (
            last is not None
            and last.origin is message.origin
            and last.index == message.index
            and last.part < message.part
        ):
            found[-1].append(message)
        else:
            found.append([message])
    return found


def join(messages: Iterable[Message]) -> list[Any]:
    """The wire messages for a list: the parts of one origin joined again, the origin itself where all are there."""
    return [united(family) for family in families(messages)]


def united(family: Sequence[Message]) -> Any:
    """The wire message of neighbouring parts; a message that is no part is its own."""
    first = family[0]
    if first.parts == 1:
        return first.wire
    whole, key = joined([m.wire for m in family]), blocks_key(first.origin)
    return first.origin if _are_same(whole[key], first.origin[key]) else whole


def joined(wires: Sequence[Any]) -> Any:
    """Several parts of one wire message as one: the fields of the first, the blocks of all."""
    if len(wires) == 1:
        return wires[0]
    key = blocks_key(wires[0])
    return {**wires[0], key: [block for wire in wires for block in wire[key]]}


def with_blocks(wire: dict[str, Any], key: str, blocks: Sequence[Any]) -> dict[str, Any]:
    """A copy with these blocks; the message itself where they are its own, or none: an empty message is no message."""
    return wire if not blocks or _are_same(blocks, wire[key]) else {**wire, key: list(blocks)}


def blocks_key(wire: dict[str, Any]) -> str:
    """Where the blocks of a message stand: Gemini's `parts`, else `content`."""
    return "parts" if "parts" in wire else "content"


def _are_same(blocks: Sequence[Any], own: Sequence[Any]) -> bool:
    return len(blocks) == len(own) and all(a is b for a, b in zip(blocks, own, strict=True))
