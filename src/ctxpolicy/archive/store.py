"""Where the originals go: append-only, looked up by reference or by the text left in their place.

A record is `{ref, removed, left}`: the reference, the wire messages as they stood, and the SHA-256 (hex) of the text
that stands there now.
"""

from __future__ import annotations

import json
import os
import secrets
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple, Protocol, runtime_checkable

import msgspec

from ctxpolicy import values
from ctxpolicy.errors import ArchiveError

Record = dict[str, Any]


@runtime_checkable
class Archive(Protocol):
    """What an archive must be able to do; anything with these two methods is one.

    It may also have `finder() -> Callable[[str], list[dict]]`: a look-up of records by `left`, over what the archive
    holds at that moment. `restore` uses it where there is one, else `get` for all that looks like a reference.
    """

    def put(self, records: Sequence[Record]) -> None:
        """Keep these records. When it returns they are safe; an OSError means that they are not."""

    def get(self, ref: str) -> list[Record]:
        """All records of a reference. Raises ArchiveError when there is none or the archive cannot be read."""


class MemoryArchive:
    """An archive in memory: `records` holds everything put, as copies, in order."""

    def __init__(self, records: Iterable[Record] = ()) -> None:
        self.records = list(records)

    def put(self, records: Sequence[Record]) -> None:
        """Keep copies of the records."""
        self.records.extend(values.copy(record) for record in records)

    def get(self, ref: str) -> list[Record]:
        """All records of a reference. Raises ArchiveError when there is none."""
        return _known([record for record in self.records if record["ref"] == ref], ref, "this archive in memory")

    def finder(self) -> Callable[[str], list[Record]]:
        """A look-up of records by `left`, over what is here now."""
        by_left = defaultdict(list)
        for record in self.records:
            by_left[record["left"]].append(record)
        return lambda left: by_left.get(left, [])


class DirectoryArchive:
    """JSON Lines files in a directory, one for each writer, so that no two processes ever write to the same file.

    Nothing is created before the first `put`. Files are 0600 in a directory of 0700: transcripts hold secrets.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path).absolute()  # the process may change its directory
        self._file: Path | None = None
        self._writer = 0  # the process that owns the file: a fork must not write to its parent's
        self._written: set[tuple[str, str]] = set()
        self._index = _Index(self.path)

    def put(self, records: Sequence[Record]) -> None:
        """Append the records and have them on disk on return. What this writer wrote before is not written again.

        Raises OSError, with the path in it, when that fails; the next `put` then begins a new file, as this one may
        end in half a line.
        """
        if self._file is None or self._writer != os.getpid() or not self._file.exists():
            self._file, self._writer, self._written = None, os.getpid(), set()
        fresh = {(record["ref"], record["left"]): record for record in records}
        fresh = {key: record for key, record in fresh.items() if key not in self._written}
        if not fresh:
            return
        lines = b"".join(map(_line, fresh.values()))
        file, self._file = self._file or self._create(), None
        _append(file, lines)
        self._file = file
        self._written.update(fresh)

    def get(self, ref: str) -> list[Record]:
        """All records of a reference, over all files. Raises ArchiveError when there is none or it cannot be read."""
        self._index.refresh()
        return _known(self._index.read(self._index.by_ref.get(ref, [])), ref, f"the archive {self.path}")

    def finder(self) -> Callable[[str], list[Record]]:
        """A look-up of records by `left`, over what the directory holds now; a missing directory holds nothing.

        Raises ArchiveError when a file cannot be read.
        """
        self._index.refresh()
        return lambda left: self._index.read(self._index.by_left.get(left, []))

    def records(self) -> Iterator[Record]:
        """Every record, the oldest file first. Raises ArchiveError when a file cannot be read."""
        self._index.refresh()
        return (record for place in self._index.places() for record in self._index.read([place]))

    def _create(self) -> Path:
        self.path.mkdir(mode=0o700, parents=True, exist_ok=True)
        file = self.path / f"{os.getpid()}-{secrets.token_hex(8)}.jsonl"
        os.close(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
        with suppress(OSError):  # the new name must survive a crash too; not every system lets a directory be synced
            _sync(self.path)
        return file


class _Place(NamedTuple):
    """One line of one file: `start` and `size` are bytes."""

    file: Path
    start: int
    size: int


class _Keys(msgspec.Struct):
    """What the index needs of a record; the messages are skipped over, not built."""

    ref: str
    left: str
    removed: list[msgspec.Raw]


class _Index:
    """Where each record of a directory stands. Files only grow, so each byte is read once."""

    def __init__(self, directory: Path) -> None:
        self.by_ref: defaultdict[str, list[_Place]] = defaultdict(list)
        self.by_left: defaultdict[str, list[_Place]] = defaultdict(list)
        self._directory = directory
        self._ends: dict[Path, int] = {}

    def refresh(self) -> None:
        """Take in what was appended since the last time, by any writer."""
        try:
            if not self._directory.exists():
                return  # nothing was ever archived here
            for file in sorted(self._directory.iterdir()):
                if file.suffix == ".jsonl" and file.is_file() and file.stat().st_size > self._ends.get(file, 0):
                    self._take(file)
        except OSError as error:
            raise ArchiveError(f"cannot read the archive {self._directory}: {error}") from error

    def _take(self, file: Path) -> None:
        start = self._ends.get(file, 0)
        with file.open("rb") as lines:
            lines.seek(start)
            for line in lines:
                if not line.endswith(b"\n"):
                    break  # torn, or being written: looked at again when the file has grown
                if keys := _keys(line):
                    place = _Place(file, start, len(line))
                    self.by_ref[keys.ref].append(place)
                    self.by_left[keys.left].append(place)
                start += len(line)
        self._ends[file] = start

    def places(self) -> list[_Place]:
        """Every record's place: the files by age, in each from the first line on."""
        places = (place for found in self.by_ref.values() for place in found)
        ages = {file: _age(file) for file in self._ends}
        return sorted(places, key=lambda place: (ages[place.file], place.file, place.start))

    def read(self, places: Iterable[_Place]) -> list[Record]:
        """The records at these places. Raises ArchiveError when a file is gone or unreadable."""
        try:
            return [_loads(_read(place)) for place in places]
        except (OSError, ValueError) as error:
            raise ArchiveError(f"cannot read the archive {self._directory}: {error}") from error


class _Callback:
    """An archive that is only a function: records go in, and only the function knows where they went."""

    def __init__(self, function: Callable[[Sequence[Record]], Any]) -> None:
        self.put = function

    def get(self, ref: str) -> list[Record]:
        """Always raises ArchiveError."""
        raise ArchiveError(f"cannot look up {ref!r}: this archive is a function; give an object with put() and get()")

    def finder(self) -> Callable[[str], list[Record]]:
        """Always raises ArchiveError."""
        raise ArchiveError("cannot restore from this archive: it is a function; give an object with put() and get()")


def open_archive(what: object) -> Archive | None:
    """The archive a caller means: a directory, an object with `put` and `get`, a function of the records; False: none.

    Raises TypeError for anything else.
    """
    if what is False or what is None:
        return None
    if isinstance(what, (str, os.PathLike)):
        return DirectoryArchive(what)
    if isinstance(what, Archive):
        return what
    if callable(what):
        return _Callback(what)
    raise TypeError(
        f"archive= is {type(what).__name__}; give a directory, an object with put() and get(), a function, or False"
    )


def _known(records: list[Record], ref: str, where: str) -> list[Record]:
    if not records:
        raise ArchiveError(f"{where} has no record of {ref!r}; check the reference and that this is the right archive")
    return records


def _line(record: Record) -> bytes:
    try:
        line = msgspec.json.encode(record)
        if b"null" not in line or values.is_finite(record):
            return line + b"\n"
    except (UnicodeEncodeError, OverflowError):
        pass
    # What msgspec cannot carry through: a lone surrogate needs an escape, NaN and infinities (null to it) their names.
    return json.dumps(record, separators=(",", ":")).encode() + b"\n"


def _append(file: Path, data: bytes) -> None:
    try:
        handle = os.open(file, os.O_WRONLY | os.O_APPEND | getattr(os, "O_BINARY", 0))
        try:
            while data:  # a disk that fills up takes a part first
                data = data[os.write(handle, data) :]
            os.fsync(handle)
        finally:
            os.close(handle)
    except OSError as error:
        error.filename = error.filename or str(file)  # write and fsync know only a number
        raise


def _age(file: Path) -> float:
    with suppress(OSError):
        return file.stat().st_mtime
    return 0.0


def _sync(directory: Path) -> None:
    handle = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


_decode_keys = msgspec.json.Decoder(_Keys).decode


def _keys(line: bytes) -> _Keys | None:
    """The keys of a line, or None when it is not a record."""
    with suppress(msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return _decode_keys(line)
    with suppress(ValueError, RecursionError):
        record = json.loads(line)  # knows lone surrogates and NaN
        if isinstance(record, dict) and isinstance(record.get("removed"), list):
            return msgspec.convert({**record, "removed": []}, _Keys)
    return None


def _read(place: _Place) -> bytes:
    with place.file.open("rb") as file:
        file.seek(place.start)
        return file.read(place.size)


def _loads(line: bytes) -> Record:
    try:
        record: Record = msgspec.json.decode(line)
    except msgspec.MsgspecError:
        record = json.loads(line)
    return record
