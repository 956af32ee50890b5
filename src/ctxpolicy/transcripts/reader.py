"""Reading transcript files, one conversation at a time where the file allows it."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from itertools import chain, islice
from pathlib import Path
from typing import Any, BinaryIO

import msgspec

from ctxpolicy.errors import TranscriptInvalid
from ctxpolicy.transcripts import layout
from ctxpolicy.transcripts.decoding import BOM, decode, parse, refuse_foreign
from ctxpolicy.transcripts.jsontext import elements, find
from ctxpolicy.transcripts.model import Broken, Conversation, Embedded, Lines, Part

STDIN = "-"
_Line = tuple[int, bytes]  # number, counted from 1, and bytes with the line end


class Unread(msgspec.Struct, frozen=True, gc=False):
    """A line that is a JSON text of its own, or blank, and was not looked into yet."""

    file: str
    number: int
    data: bytes

    def parts(self) -> Iterator[Part]:
        """What it is made of: conversations, broken ones, and the text between them."""
        try:
            text = decode(self.file, self.number, self.data)
            if text.strip():
                yield from document(self.file, self.number, text, parse(self.file, self.number, text))
            else:
                yield text
        except TranscriptInvalid as error:
            yield Broken(error)


def read(path: str | Path) -> Iterator[Part]:
    """The parts of a transcript file in order: conversations, broken ones, and the text between them.

    Written one after the other (`Conversation.render`), unchanged parts give the file's own bytes. A file with one
    conversation a line is read line by line and never held whole. `-` is standard input.

    Raises TranscriptInvalid, naming `file:line`, where nothing of the file can be read.
    """
    if path == STDIN:
        yield from parts("<stdin>", enumerate(sys.stdin.buffer, 1))
        return
    with open_file(path) as stream:
        yield from parts(str(path), enumerate(stream, 1))


def read_lines(path: str | Path) -> Iterator[Part | Unread]:
    """What `read` gives, but in a file of one JSON text a line those lines as they stand.

    Raises TranscriptInvalid as `read` does.
    """
    with open_file(path) as stream:
        yield from _pieces(str(path), enumerate(stream, 1))


def open_file(path: str | Path) -> BinaryIO:
    """The bytes of a file. Raises TranscriptInvalid where it cannot be opened."""
    name = str(path)
    try:
        return open(path, "rb")
    except FileNotFoundError:
        raise TranscriptInvalid(f"{name}: no such file; check the path") from None
    except IsADirectoryError:
        raise TranscriptInvalid(f"{name}: is a directory; name the transcript files in it") from None
    except OSError as error:
        raise TranscriptInvalid(f"{name}: cannot be read: {error.strerror}") from error


def parts(name: str, lines: Iterator[_Line]) -> Iterator[Part]:
    """The parts of a transcript, from its lines. What `read` says holds."""
    return _looked_into(_pieces(name, lines))


def _pieces(name: str, lines: Iterator[_Line]) -> Iterator[Part | Unread]:
    head, first = _opening(name, lines)
    yield head
    try:
        value = _value(name, first)
    except TranscriptInvalid as error:
        yield from _first_line_faulty(name, [first, *lines], error)
        return
    ahead = [first, *islice(lines, 1)]
    pieces = _by_first_value(name, value, chain(ahead, lines))
    if len(ahead) == 1:  # one document: it is no line among others
        yield from _looked_into(pieces)
    else:
        yield from pieces


def _looked_into(pieces: Iterable[Part | Unread]) -> Iterator[Part]:
    for piece in pieces:
        if isinstance(piece, Unread):
            yield from piece.parts()
        else:
            yield piece


def _opening(name: str, lines: Iterator[_Line]) -> tuple[str, _Line]:
    """The blank beginning of a file, and its first line with something on it."""
    head = ""
    for number, data in lines:
        refuse_foreign(name, data)
        if number == 1 and data.startswith(BOM):
            head, data = BOM.decode(), data[len(BOM) :]
        if data.strip():
            return head, (number, data)
        head += data.decode()
    raise TranscriptInvalid(f"{name}: is empty; a transcript holds at least one message")


def _value(name: str, line: _Line) -> Any:
    number, data = line
    return parse(name, number, decode(name, number, data))


def _by_first_value(name: str, value: Any, lines: Iterable[_Line]) -> Iterator[Part | Unread]:
    if layout.is_message(value):
        return _one_a_line(name, lines)
    return (Unread(name, number, data) for number, data in lines)


def _first_line_faulty(name: str, lines: list[_Line], fault: TranscriptInvalid) -> Iterator[Part | Unread]:
    """A JSON document over several lines, or lines of which the first is faulty and a later one says what they are."""
    number, first = lines[0]
    whole = b"".join(data for _, data in lines)
    try:
        text = decode(name, number, whole)
        value = parse(name, number, text)
    except TranscriptInvalid as error:
        if first.rstrip().endswith((b"[", b"{", b",", b":")):
            raise error from None  # begins as a document: the fault is further on
        sound = next((value for line in lines[1:] if isinstance(value := _value_or_none(line), (dict, list))), None)
        if sound is None:
            raise fault from None
        return _by_first_value(name, sound, lines)
    return document(name, number, text, value)


def _value_or_none(line: _Line) -> Any:
    try:
        return _value("", line)
    except TranscriptInvalid:
        return None


def _one_a_line(name: str, lines: Iterable[_Line]) -> Iterator[Part]:
    """The one conversation of a file with one message a line."""
    messages: list[Any] = []
    texts: list[str] = []
    numbers: list[int] = []
    blank = ""
    for number, data in lines:
        text = decode(name, number, data)
        if not text.strip():
            blank += text
            continue
        message = parse(name, number, text)
        _check(name, number, message, len(messages))
        messages.append(message)
        texts.append(blank + text)
        numbers.append(number)
        blank = ""
    yield Conversation(messages, name, numbers[0], Lines(tuple(texts), tuple(numbers), blank))


def document(name: str, number: int, text: str, value: Any) -> Iterator[Part]:
    """The parts of one JSON text that begins on line `number`, and whose value is known."""
    path = layout.collection_path(value)
    if path is None:
        yield _conversation(name, number, text, value)
        return
    end, line = 0, number
    items = layout.descend(value, path)
    for item, (start, stop) in zip(items, elements(text, find(text, path)), strict=True):
        before, line = text[end:start], line + text.count("\n", end, start)
        if not end:
            yield before  # the text around the array; later ones stand between two conversations
            before = ""
        end = stop
        try:
            yield _conversation(name, line, text[start:stop], item, lead=before)
        except TranscriptInvalid as error:
            yield Broken(error)
        line += text.count("\n", start, stop)
    yield text[end:]


def _conversation(name: str, number: int, text: str, value: Any, lead: str = "") -> Conversation:
    try:
        path = layout.messages_path(value)
    except TranscriptInvalid as error:
        raise TranscriptInvalid(f"{name}:{number}: {error}") from None
    source = Embedded(text, path, number)
    messages = layout.descend(value, path)
    for index, message in enumerate(messages):
        _check(name, number, message, index, source)
    around = value if isinstance(value, dict) else {}
    tools = around.get("tools") or around.get("functions")
    tools = tools if isinstance(tools, list) else None
    return Conversation(messages, name, number, source, tools, layout.system_of(around), lead)


def _check(name: str, number: int, message: Any, index: int, source: Embedded | None = None) -> None:
    try:
        layout.check_message(message, index)
    except TranscriptInvalid as error:
        line = source.line(index) if source else number
        raise TranscriptInvalid(f"{name}:{line}: {error}", index=index) from None
