"""What a transcript file is made of: conversations, those that cannot be read, and the text between them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from ctxpolicy.errors import TranscriptInvalid
from ctxpolicy.transcripts.jsontext import elements, find, style_of


class Source(Protocol):
    """The text a conversation was read from."""

    def line(self, index: int) -> int:
        """The line on which message `index` begins, counted from 1."""

    def render(self, old: Sequence[Any], new: Sequence[Any]) -> str:
        """The text with the messages `old` replaced by `new`; those of `new` that are objects of `old` keep theirs."""


@dataclass(frozen=True, slots=True)
class Conversation:
    """One conversation of a file.

    `messages` are the wire messages; `tools` and `system` are what the object around them holds, else None. `lead` is
    the text that separates it from the conversation before it. `format` is the wire format where the file says it, and
    `fields` the other scalar fields of each message's record where the file is a session log.
    """

    messages: list[Any]
    file: str
    first_line: int
    source: Source
    tools: list[Any] | None = None
    system: Any = None
    lead: str = ""
    format: str | None = None
    fields: Sequence[Mapping[str, Any]] = ()

    @property
    def where(self) -> str:
        """`file:line` of the conversation's beginning."""
        return f"{self.file}:{self.first_line}"

    def at(self, index: int) -> str:
        """`file:line` of message `index`."""
        return f"{self.file}:{self.source.line(index)}"

    def render(self, messages: Sequence[Any]) -> str:
        """The text to write in place of this conversation when `messages` stand in it.

        A message that is one of this conversation's own objects is written as it was read, byte for byte.
        """
        return self.source.render(self.messages, messages)


@dataclass(frozen=True, slots=True)
class Broken:
    """A conversation that cannot be read, in a file where others may be. The error's text names file and line."""

    error: TranscriptInvalid


Part = str | Conversation | Broken


def _same(old: Sequence[Any], new: Sequence[Any]) -> bool:
    return len(old) == len(new) and all(a is b for a, b in zip(old, new, strict=True))


@dataclass(frozen=True, slots=True)
class Embedded:
    """A conversation inside one JSON text, with the keys that lead to its list of messages."""

    text: str
    path: tuple[str, ...]
    first_line: int

    def line(self, index: int) -> int:
        for place, (start, _) in enumerate(elements(self.text, find(self.text, self.path))):
            if place == index:
                return self.first_line + self.text.count("\n", 0, start)
        return self.first_line

    def render(self, old: Sequence[Any], new: Sequence[Any]) -> str:
        if _same(old, new):
            return self.text
        text, opening = self.text, find(self.text, self.path)
        spans = list(elements(text, opening)) or [(opening + 1, opening + 1)]
        start, end = spans[0][0], spans[-1][1]
        joint = text[spans[0][1] : spans[1][0]] if len(spans) > 1 else "," + (text[opening + 1 : start] or " ")
        style = style_of(text[slice(*spans[0])], ascii_only=text.isascii())
        kept = {id(message): text[a:b] for message, (a, b) in zip(old, spans, strict=False)}
        body = joint.join(kept.get(id(message)) or style.dumps(message) for message in new)
        return text[:start] + body + text[end:]


@dataclass(frozen=True, slots=True)
class Lines:
    """A conversation with one message a line. `texts` are the lines with their ends, and blank lines before them."""

    texts: tuple[str, ...]
    numbers: tuple[int, ...]
    tail: str = ""

    def line(self, index: int) -> int:
        return self.numbers[index]

    def render(self, old: Sequence[Any], new: Sequence[Any]) -> str:
        if _same(old, new):
            return "".join(self.texts) + self.tail
        end = "\r\n" if self.texts[0].endswith("\r\n") else "\n"
        style = style_of(self.texts[0].strip(), ascii_only=all(map(str.isascii, self.texts)))
        kept = {id(message): text for message, text in zip(old, self.texts, strict=True)}
        lines = [kept.get(id(message)) or style.dumps(message) for message in new]
        text = "".join(line if line.endswith("\n") else line + end for line in lines)
        return text + self.tail if self.texts[-1].endswith("\n") else text.removesuffix(end)
