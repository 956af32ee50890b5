"""From shorthand to messages: what a case gives, in OpenAI's wire format, with names to speak of them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ctxpolicy.errors import TranscriptInvalid
from ctxpolicy.formats import openai_chat
from ctxpolicy.policy.findings import Finding
from ctxpolicy.policy.node import Node
from ctxpolicy.tokens import Meter
from ctxpolicy.transcripts import Conversation, read

_WORDS = "lorem ipsum dolor sit amet consectetur adipiscing elit sed do eiusmod tempor\n"
_PICTURE = {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgo="}}
_SHORTHAND = ("text", "tokens", "tool", "arguments", "calls", "name", "image", "error", "fields")


class Misstated(Exception):
    """A message of a case that cannot be made; `finding` says where and why."""

    def __init__(self, finding: Finding) -> None:
        super().__init__(finding.message)
        self.finding = finding


@dataclass(slots=True)
class Given:
    """The messages given so far, their metadata, the places of each name, and where each message is written."""

    messages: list[Any] = field(default_factory=list)
    meta: list[Mapping[str, Any] | None] = field(default_factory=list)
    names: dict[str, list[int]] = field(default_factory=dict)
    label: dict[int, str] = field(default_factory=dict)


class Maker:
    """Makes the messages of one case; `folder` is where transcript files are looked for."""

    def __init__(self, meter: Meter, folder: Path) -> None:
        self.given = Given()
        self._meter, self._folder = meter, folder
        self._count = 0
        self._lengths: dict[tuple[int, int], int] = {}  # of filler, by tokens wanted and tokens of the rest

    def take(self, node: Node | None) -> None:
        """Add what a step gives. Raises Misstated."""
        if node is None:
            return
        if isinstance(node.value, str):
            for message in self._transcript(node):
                self._add(message)
            return
        for entry in node.items:
            self._entry(entry)

    def _transcript(self, node: Node) -> list[Any]:
        name = str(node.value)
        try:
            found = [part for part in read(self._folder / name) if isinstance(part, Conversation)]
        except TranscriptInvalid as error:
            raise Misstated(node.span.finding("CT304", str(error), "the path is relative to this file")) from None
        if not found:
            raise Misstated(node.span.finding("CT304", f"{name} holds no conversation"))
        return found[0].messages

    def _entry(self, entry: Node) -> None:
        keys = entry.mapping
        for _ in range(keys["repeat"].plain() if "repeat" in keys else 1):
            if "messages" in keys:
                self._only(entry, "messages")
                for inner in keys["messages"].items:
                    self._entry(inner)
            elif "message" in keys:
                self._only(entry, "message")
                self._add(keys["message"].plain(), keys)
            else:
                self._shorthand(entry)

    def _only(self, entry: Node, key: str) -> None:
        for other in ("role", *_SHORTHAND):
            if other in entry.mapping:
                message = f"`{other}` does not go with `{key}`"
                raise Misstated(entry.keys[other].finding("CT303", message, f"put it into `{key}`"))

    def _shorthand(self, entry: Node) -> None:
        keys = entry.mapping
        role = self._role(entry)
        if role == "tool":
            (call_id,) = self._ask(entry, [entry])
            self._answer(entry, call_id)
        elif "calls" in keys:
            calls = keys["calls"].items
            for call, call_id in zip(calls, self._ask(entry, calls, keys), strict=True):
                if "text" in call.mapping or "tokens" in call.mapping:
                    self._answer(call, call_id)
        else:
            self._add(self._filled({"role": role}, entry), keys)

    def _role(self, entry: Node) -> str:
        keys = entry.mapping
        implied = "tool" if "tool" in keys else "assistant" if "calls" in keys else None
        role = str(keys["role"].plain()) if "role" in keys else implied
        if role is None:
            span = next(iter(entry.keys.values()), entry.span)
            raise Misstated(span.finding("CT303", "this message has no `role`", "say who it is from: `role: user`"))
        for key, owner in (("tool", "tool"), ("arguments", "tool"), ("error", "tool"), ("calls", "assistant")):
            if key in keys and role != owner:
                message = f"`{key}` does not go with `role: {role}`"
                raise Misstated(entry.keys[key].finding("CT303", message, f"it belongs to `role: {owner}`"))
        return role

    def _ask(self, entry: Node, calls: list[Node], own: Mapping[str, Node] | None = None) -> list[str]:
        """Add the assistant message with these calls; the ids they got."""
        ids, asked = [], []
        for call in calls:
            self._count += 1
            ids.append(f"call_{self._count}")
            arguments = call.mapping["arguments"].plain() if "arguments" in call.mapping else {"n": self._count}
            if isinstance(arguments, int):
                arguments = {"n": self._count, "text": self._lorem_of(arguments)}
            tool = call.mapping["tool"].plain() if "tool" in call.mapping else "tool"
            function = {"name": tool, "arguments": json.dumps(arguments)}
            asked.append({"id": ids[-1], "type": "function", "function": function})
        wire: dict[str, Any] = {"role": "assistant", "content": None, "tool_calls": asked}
        if own is None:
            self._add(wire)
        else:
            self._add(self._filled(wire, entry), own)
        return ids

    def _answer(self, call: Node, call_id: str) -> None:
        keys = call.mapping
        wire: dict[str, Any] = {"role": "tool", "tool_call_id": call_id}
        if "error" in keys and keys["error"].plain():
            wire["is_error"] = True
        self._add(self._filled(wire, call), keys)

    def _filled(self, wire: dict[str, Any], entry: Node) -> dict[str, Any]:
        """The message with its content and fields; `content` stays None where an assistant says nothing."""
        keys = entry.mapping
        wire |= keys["fields"].plain() if "fields" in keys else {}
        if "name" in keys:
            wire["name"] = keys["name"].plain()
        text = keys["text"].plain() if "text" in keys else None
        if "tokens" in keys:
            text = self._filler(wire, text or "", keys["tokens"], "image" in keys)
        if text is not None or "content" not in wire:
            wire["content"] = _content(text or "", "image" in keys and keys["image"].plain())
        return wire

    def _filler(self, wire: dict[str, Any], text: str, tokens: Node, image: bool) -> str:
        """The text made so long that the message has the wanted tokens, or as near below them as the counter allows."""
        wanted = int(tokens.plain())
        self._count += 1
        head = f"{text}\n" if text else f"({self._count:06d}) "
        least = self._tokens(wire, text, image)
        if least > wanted:
            message = f"without any filler this message has {least:,} tokens, more than {wanted:,}"
            raise Misstated(tokens.span.finding("CT303", message, "ask for more, or give a shorter text"))
        if self._tokens(wire, head, image) > wanted:
            return text
        key = (wanted, len(head))
        length = self._lengths.get(key)
        if length is None or self._tokens(wire, head + _lorem(length), image) != wanted:
            length = self._lengths[key] = self._longest(wire, head, wanted, image)
        return head + _lorem(length)

    def _longest(self, wire: dict[str, Any], head: str, wanted: int, image: bool) -> int:
        return _most(wanted, lambda length: self._tokens(wire, head + _lorem(length), image) <= wanted)

    def _lorem_of(self, tokens: int) -> str:
        return _lorem(_most(tokens, lambda length: self._meter.text(_lorem(length)) <= tokens))

    def _tokens(self, wire: dict[str, Any], text: str, image: bool) -> int:
        (message,) = openai_chat.read({**wire, "content": _content(text, image)}, 0)
        return self._meter.message(message)

    def _add(self, wire: Any, keys: Mapping[str, Node] | None = None) -> None:
        keys = keys or {}
        index = len(self.given.messages)
        self.given.messages.append(wire)
        self.given.meta.append(keys["meta"].plain() if "meta" in keys else None)
        if "id" in keys:
            name = str(keys["id"].plain())
            self.given.names.setdefault(name, []).append(index)
            self.given.label[index] = name


def _content(text: str, image: bool) -> Any:
    return [{"type": "text", "text": text}, _PICTURE] if image else text


def _most(tokens: int, fits: Callable[[int], bool]) -> int:
    """The greatest length of filler that fits; a token has 16 characters at most."""
    low, high = 0, 16 * tokens + 64
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if fits(middle) else (low, middle - 1)
    return low


def _lorem(length: int) -> str:
    return (_WORDS * (length // len(_WORDS) + 1))[:length]


def names_in(node: Node | None) -> Iterator[str]:
    """The names that a `given` makes, without making it."""
    for entry in node.items if node else ():
        keys = entry.mapping
        if "id" in keys:
            yield str(keys["id"].plain())
        for key in ("messages", "calls"):
            if key in keys:
                yield from names_in(keys[key])
