"""recall: a tool by which the agent reads again what the policy took out of its own list, by reference or by search.

It sees what its list stands for and nothing else: other conversations may share the archive.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any

import msgspec

from ctxpolicy.archive.restoring import finder, record_of
from ctxpolicy.archive.standing import REFERENCE, parts_of
from ctxpolicy.archive.store import Archive, Record
from ctxpolicy.cut import cut
from ctxpolicy.errors import ArchiveError
from ctxpolicy.messages import Message
from ctxpolicy.policy.model import Truncate

NAME = "recall"
_ABOUT = (
    "Read again what was taken out of this conversation to save room. Notes such as "
    "'[12 earlier turns left out, ref 3f9a12c0d4e1.]' name a reference. Give `ref` to read the messages behind it, or "
    "`search` to find words in all that was taken out."
)
_PARAMETERS = {
    "type": "object",
    "properties": {
        "ref": {"type": "string", "description": "A reference: the 12 letters and digits after 'ref'."},
        "from": {"type": "integer", "description": "With ref: the number of the message to begin with, from 1."},
        "search": {"type": "string", "description": "Words to look for, in place of ref."},
    },
}
_USAGE = 'Give {"ref": "3f9a12c0d4e1"} or {"search": "words"}.'
_LINES = 4  # of a message that a search shows
_LINE = 200  # characters of each


def schema(format: str) -> dict[str, Any]:
    """The tool as an entry of the `tools` of a call, in a wire format."""
    if format == "anthropic":
        return {"name": NAME, "description": _ABOUT, "input_schema": _PARAMETERS}
    function = {"name": NAME, "description": _ABOUT, "parameters": _PARAMETERS}
    if format == "gemini":
        return {"functionDeclarations": [function]}
    if format == "openai-responses":
        return {"type": "function", **function, "strict": False}
    return {"type": "function", "function": function}


class _Found(msgspec.Struct, frozen=True):
    """A message of a record: its number there, from 1, and what it is called and says."""

    ref: str
    number: int
    label: str
    text: str


class Recall:
    """The tool and its handler: put `schema` among the tools, and answer a call of `name` with `tool(arguments)`."""

    name = NAME

    def __init__(
        self,
        messages: Callable[[], Sequence[Any]],
        archive: Archive,
        format: str,
        count: Callable[[str], int],
        max_tokens: int,
    ) -> None:
        """`messages` gives the list as it stands, `count` the tokens of a text; an answer has at most `max_tokens`."""
        self.schema = schema(format)
        self._messages, self._archive = messages, archive
        self._count, self._max_tokens = count, max_tokens

    def __call__(self, arguments: Mapping[str, Any] | str) -> str:
        """The answer to a call. Raises nothing: what is wrong with the arguments or the archive is the answer."""
        given = _decoded(arguments)
        ref, words = (given.get(key) for key in ("ref", "search"))
        try:
            if isinstance(ref, str) and ref.strip():
                return self._read(ref, given.get("from"))
            if isinstance(words, str) and words.strip():
                return self._search(words)
        except ArchiveError as error:
            return f"What was taken out cannot be read now: {error}"
        return _USAGE

    def _read(self, asked: str, start: Any) -> str:
        named = REFERENCE.search(asked.lower())
        wanted = named.group() if named else asked.strip()
        for record in self._records():
            if record["ref"] == wanted:
                return self._page(_messages_of(record), _number(start))
        return f"Nothing in this conversation has the reference {wanted!r}. {_USAGE}"

    def _page(self, messages: Sequence[_Found], first: int) -> str:
        """Messages from number `first` on, as many as there is room for, the first of them cut where it must be."""
        more = f"\n[More: from {len(messages)} of {len(messages)}.]"
        room = self._max_tokens - self._count(more)
        shown: list[str] = []
        for found in messages[first - 1 :]:
            piece = f"[{found.number}] {found.label}:\n{found.text}"
            if shown and self._count("\n".join([*shown, piece])) > room:
                return "\n".join(shown) + f"\n[More: from {found.number} of {len(messages)}.]"
            shown.append(piece if shown else self._cut(piece, room))
        return "\n".join(shown) or f"It has {len(messages):,} messages; there is none from {first:,} on."

    def _search(self, words: str) -> str:
        wanted = list(dict.fromkeys(words.casefold().split()))
        found = [one for record in self._records() for one in _messages_of(record)]
        ranked = sorted(found, key=lambda one: -_hits(one, wanted))  # stable: the newest first among equals
        answer: list[str] = []
        for one in ranked:
            if not _hits(one, wanted):
                break
            piece = f"[ref {one.ref}, message {one.number}] {one.label}:\n{_lines(one, wanted)}"
            if answer and self._count("\n".join([*answer, piece])) > self._max_tokens:
                break
            answer.append(piece if answer else self._cut(piece, self._max_tokens))
        return "\n".join(answer) or f"Nothing that was taken out has any of these words: {words}"

    def _records(self) -> Iterator[Record]:
        """Every record that the list stands for, and what stood in those in turn, the newest place first."""
        find = finder(self._archive)
        stack = list(self._messages())
        seen: set[tuple[str, str]] = set()
        while stack:
            record = record_of(stack.pop(), find, seen)
            if record is not None:
                seen.add((record["ref"], record["left"]))
                stack += record["removed"]
                yield record

    def _cut(self, text: str, room: int) -> str:
        caps = Truncate(max_tokens=max(1, room), json="text")
        return cut(text, caps, self._count, "", lambda **v: f"\n[... {v['chars']} characters not shown ...]\n") or text


def shown(record: Record) -> Iterator[tuple[str, str]]:
    """The messages of a record as a reader sees them: a label with the number, from 1, and the text."""
    return ((f"[{found.number}] {found.label}", found.text) for found in _messages_of(record))


def _messages_of(record: Record) -> list[_Found]:
    messages = [message for wire in record["removed"] for message in parts_of(wire)]
    tools = {call.id: call.tool for message in messages for call in message.calls}
    return [_Found(record["ref"], n, _label(m, tools), _text(m)) for n, m in enumerate(messages, 1)]


def _label(message: Message, tools: Mapping[str | None, str]) -> str:
    tool = tools.get(message.result_of) or message.name
    return message.role if message.role != "tool" else f"tool result of {tool}" if tool else "tool result"


def _text(message: Message) -> str:
    calls = (f"calls {call.tool} {call.arguments}" for call in message.calls)
    media = (f"[{count} {kind} not shown]" for kind, count in message.media)
    return "\n".join(filter(None, [message.text, *calls, *media]))


def _hits(found: _Found, words: Iterable[str]) -> int:
    text = found.text.casefold()
    return sum(word in text for word in words)


def _lines(found: _Found, words: Sequence[str]) -> str:
    """The lines of a message that have one of the words, each shortened around it."""
    shown: list[str] = []
    for line in found.text.split("\n"):
        at = min((p for p in (line.casefold().find(word) for word in words) if p >= 0), default=-1)
        if at >= 0:
            start = max(0, at - _LINE // 3)
            shown.append(line[start : start + _LINE].strip())
    more = f"\n[{len(shown) - _LINES:,} more lines]" if len(shown) > _LINES else ""
    return "\n".join(shown[:_LINES]) + more


def _decoded(arguments: Any) -> Mapping[str, Any]:
    """The arguments of a call as a mapping; models also write a bare reference."""
    value = arguments
    if isinstance(arguments, str):
        with suppress(ValueError):
            value = json.loads(arguments)
    if isinstance(value, str) and (named := re.fullmatch(r"\W*(?:ref )?([0-9a-f]{12})\W*", value)):
        return {"ref": named.group(1)}
    return value if isinstance(value, Mapping) else {}


def _number(start: Any) -> int:
    try:
        return max(1, int(start))
    except (TypeError, ValueError):
        return 1
