"""The bytes of a log, and the ways in which formats read them: line by line, or as one document."""

from __future__ import annotations

import io
from collections import Counter
from collections.abc import Iterator
from functools import cached_property
from typing import Any, BinaryIO

import msgspec

from ctxpolicy.errors import TranscriptInvalid
from ctxpolicy.transcripts.decoding import BOM, decode, parse, refuse_foreign

LONGEST_LINE = 64 * 2**20  # bytes; real records reach 3 MB (base64 images), and each is held whole
_HEAD = 50  # lines in which one must tell the format
_decode = msgspec.json.Decoder().decode

Record = tuple[int, Any]  # line number, counted from 1, and JSON value


class Line(msgspec.Struct, frozen=True):
    """One line of a file: its number, from 1, where it begins, and its bytes (the first of them where not `whole`)."""

    number: int
    offset: int
    data: bytes
    whole: bool = True


def json_value(name: str, number: int, data: bytes) -> Any:
    """The JSON value of bytes that begin on line `number`. Raises TranscriptInvalid, naming the place."""
    try:
        return _decode(data)
    except (msgspec.DecodeError, UnicodeError, RecursionError):  # to be told, or what only json reads
        return parse(name, number, decode(name, number, data))


class Source:
    """A log being read. `skipped` counts records that hold nothing for a conversation, by type; `faults` are the parts
    that cannot be read, each named by file and line."""

    def __init__(self, name: str, stream: BinaryIO) -> None:
        self.name = name
        self.stream = stream if stream.seekable() else io.BytesIO(stream.read())
        self.skipped: Counter[str] = Counter()
        self.faults: list[TranscriptInvalid] = []

    def skip(self, kind: Any) -> None:
        """Count a record of a type that holds nothing for a conversation."""
        self.skipped[str(kind)] += 1

    def fail(self, why: str, line: int = 1) -> None:
        """Note a part of the log that cannot be read; the rest still is."""
        self.faults.append(TranscriptInvalid(f"{self.name}:{line}: {why}"))

    def beginning(self, size: int) -> bytes:
        """The first bytes."""
        self.stream.seek(0)
        return self.stream.read(size)

    @cached_property
    def is_zip(self) -> bool:
        """Whether the file is a zip, and no text."""
        return self.beginning(4) == b"PK\x03\x04"

    def lines(self) -> Iterator[Line]:
        """The lines with something on them, in order."""
        self.stream.seek(0)
        number = offset = 0
        while data := self.stream.readline(LONGEST_LINE):
            number += 1
            size = len(data) if data.endswith(b"\n") else len(data) + self._rest_of_line()
            if size > len(data):
                yield Line(number, offset, data[:1000], whole=False)
            elif data.strip():
                yield Line(number, offset, data)
            offset += size

    def _rest_of_line(self) -> int:
        size = 0
        while data := self.stream.readline(LONGEST_LINE):
            size += len(data)
            if data.endswith(b"\n"):
                break
        return size

    def line_at(self, line: Line) -> bytes:
        """The bytes of a line whose own were let go of; `line.data` is empty then."""
        self.stream.seek(line.offset)
        return self.stream.readline(LONGEST_LINE)

    def records(self) -> Iterator[Record]:
        """The JSON values of the lines. What cannot be read is noted; a torn last line is normal, and counted."""
        fault: TranscriptInvalid | None = None
        for line in self.lines():
            if fault is not None:
                self.faults.append(fault)
                fault = None
            try:
                yield line.number, self.value(line)
            except TranscriptInvalid as error:
                fault = error
        if fault is not None:
            self.tear(fault)

    def tear(self, fault: TranscriptInvalid) -> None:
        """What to make of a last line that cannot be read."""
        if "is cut off" in str(fault) or "is not UTF-8" in str(fault):
            self.skip("torn last line")
        else:
            self.faults.append(fault)

    def value(self, line: Line) -> Any:
        """The JSON value of a line. Raises TranscriptInvalid, naming the place."""
        if not line.whole:
            limit = LONGEST_LINE // 2**20
            raise TranscriptInvalid(
                f"{self.name}:{line.number}: is a line of over {limit} MB, which no agent writes; remove it"
            )
        data = line.data
        if line.number == 1 and data.startswith(BOM):
            data = data[len(BOM) :]
        return json_value(self.name, line.number, data)

    @cached_property
    def document(self) -> Any:
        """The whole file as one JSON value. Raises TranscriptInvalid where it is none."""
        return json_value(self.name, 1, self.beginning(-1).removeprefix(BOM))

    @cached_property
    def document_or_none(self) -> Any:
        """The whole file as one JSON value; None where it is none. A file of records, one a line, is not tried."""
        if self.is_zip or len(self.head) > 1:
            return None
        try:
            return self.head[0] if self.head else self.document
        except TranscriptInvalid:
            return None

    @cached_property
    def head(self) -> list[Any]:
        """The JSON values of the first lines, those that can be read; empty where the file is one document over
        several lines, or no JSON."""
        values: list[Any] = []
        for line in () if self.is_zip else self.lines():
            if line.number > _HEAD:
                break
            if not line.whole:
                continue
            if line.number == 1:
                refuse_foreign(self.name, line.data)
            try:
                values.append(self.value(line))
            except TranscriptInvalid:
                if not values and line.data.rstrip().endswith((b"[", b"{", b",", b":")):
                    break  # begins as a document
        return [value for value in values if isinstance(value, (dict, list))]
