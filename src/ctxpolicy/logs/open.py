"""Opening inputs of any kind: session logs, transcripts, folders of them, globs, standard input."""

from __future__ import annotations

import glob
import shutil
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import BinaryIO, cast

from ctxpolicy.errors import TranscriptInvalid
from ctxpolicy.logs import registry
from ctxpolicy.logs.find import event_files, find
from ctxpolicy.logs.registry import LogFormat
from ctxpolicy.logs.source import Source
from ctxpolicy.transcripts.model import Broken, Conversation, Part
from ctxpolicy.transcripts.reader import STDIN, open_file, parts

# What reading a value as something else raises: the last resort where a record is not as its format has it.
_NOT_AS_WRITTEN = (AttributeError, IndexError, KeyError, TypeError, ValueError)
_IN_MEMORY = 64 * 2**20  # bytes of standard input; more goes to a temporary file


class LogFile:
    """An open input. `format` is the log format it is in, None for a plain transcript.

    `skipped` counts the records that hold nothing for a conversation, by type; it grows while the parts are read.
    """

    def __init__(self, source: Source, format: LogFormat | None) -> None:
        self._source, self.format = source, format

    @property
    def name(self) -> str:
        """The file as messages name it."""
        return self._source.name

    @property
    def skipped(self) -> Counter[str]:
        return self._source.skipped

    def parts(self) -> Iterator[Part]:
        """Conversations, broken ones, and for formats that are written back in place the text between them.

        To be read once; the file is closed at the end. Raises TranscriptInvalid where nothing can be read.
        """
        source = self._source
        with source.stream:
            if self.format is None:
                source.stream.seek(0)
                yield from parts(source.name, enumerate(source.stream, 1))
                return
            found = 0
            try:
                for part in self.format.reader.read(source):
                    yield from self._faults()
                    yield part
                    found += isinstance(part, Conversation)
            except TranscriptInvalid:
                raise
            except _NOT_AS_WRITTEN as error:
                what = f"{type(error).__name__}: {error}"
                source.fail(f"a record is not as {self.format.writer} writes it ({what}); the rest is left out")
            faults = list(self._faults())
            yield from faults
            if not found and not faults:
                raise TranscriptInvalid(
                    f"{source.name}: is a {self.format.name} log without a conversation; {self._why()}"
                )

    def close(self) -> None:
        """Close the file without reading it."""
        self._source.stream.close()

    def conversations(self) -> Iterator[Conversation]:
        """The conversations alone. Raises TranscriptInvalid, naming the place, for the first that cannot be read."""
        for part in self.parts():
            if isinstance(part, Broken):
                raise part.error
            if isinstance(part, Conversation):
                yield part

    def _faults(self) -> Iterator[Broken]:
        while self._source.faults:
            yield Broken(self._source.faults.pop(0))

    def _why(self) -> str:
        kinds = ", ".join(f"{count} {kind}" for kind, count in self.skipped.most_common(3))
        return f"it holds only {kinds}" if kinds else "it holds no record at all"


def read_log(path: str | Path) -> LogFile:
    """Open a file as a session log, or as a plain transcript where it is in no log format.

    `-` is standard input; a folder is the event folder of one OpenHands conversation. Raises TranscriptInvalid for
    what cannot be opened or is no text.
    """
    source = Source("<stdin>" if path == STDIN else str(path), _stream(path))
    try:
        return LogFile(source, registry.detect(source))
    except BaseException:
        source.stream.close()
        raise


def read(path: str | Path) -> Iterator[Part]:
    """The parts of a log or transcript, as `read_log(path).parts()` gives them."""
    yield from read_log(path).parts()


def detect(path: str | Path) -> LogFormat | None:
    """The log format of a file, told by its content; None where it is in none of them. Raises what `read_log` does."""
    log = read_log(path)
    log.close()
    return log.format


def written_back(path: str | Path) -> bool:
    """Whether a changed conversation is written in the file's own shape: true of transcripts, false of most logs."""
    found = detect(path)
    return found is None or found.in_place


def open_inputs(paths: Iterable[str], last: int | None = None) -> Iterator[LogFile | Broken]:
    """Every log and transcript that the paths name, one after the other; what cannot be opened is broken.

    A path is a file, `-`, a glob or a folder, of which the newest come first; `last` takes the newest N of all.
    """
    for path in find(paths, last):
        try:
            yield read_log(path)
        except TranscriptInvalid as error:
            yield Broken(error)


def _stream(path: str | Path) -> BinaryIO:
    if path == STDIN:
        return _spooled(sys.stdin.buffer)
    if (events := event_files(Path(path))) is not None:
        return _joined(events)
    if glob.has_magic(str(path)) and not Path(path).exists():
        raise TranscriptInvalid(f"{path}: matches no log or transcript; check the pattern")
    if Path(path).is_dir():
        raise TranscriptInvalid(f"{path}: holds no session log or transcript; `ctxpolicy formats` lists what is read")
    return open_file(path)


def _spooled(stream: BinaryIO) -> BinaryIO:
    """Standard input as a file that can be read again."""
    copy = cast(BinaryIO, tempfile.SpooledTemporaryFile(_IN_MEMORY))  # noqa: SIM115 - closed with the source
    shutil.copyfileobj(stream, copy)
    return copy


def _joined(files: Iterable[Path]) -> BinaryIO:
    """The JSON documents of several files as the lines of one."""
    copy = cast(BinaryIO, tempfile.SpooledTemporaryFile(_IN_MEMORY))  # noqa: SIM115 - closed with the source
    for file in files:
        copy.write(file.read_bytes().replace(b"\r\n", b"\n").replace(b"\n", b" ") + b"\n")
    return copy
