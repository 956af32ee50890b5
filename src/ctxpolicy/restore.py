"""Putting back what a policy took out."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from ctxpolicy import values
from ctxpolicy.archive import Archive, DirectoryArchive, MemoryArchive, Record
from ctxpolicy.errors import ArchiveError
from ctxpolicy.result import Removed
from ctxpolicy.standing import REFERENCE, standing

_HEX_RUN = re.compile(r"[0-9a-f]{12,}")


class _End:
    """Stands on the stack below the messages of an open record: when it comes up, the record is closed."""

    def __init__(self, key: tuple[str, str]) -> None:
        self.key = key


def restore(messages: Iterable[Any], archive: Archive | str | os.PathLike[str] | Iterable[Removed]) -> list[Any]:
    """The list as it was before any policy acted on it; what no record covers comes back as the same object.

    `archive` is what was given to the run (a directory or an archive), or `Result.removed`. A message is replaced only
    by a record whose reference it names and whose `left` is the digest of all its text, so a quoted or forged marker
    restores nothing. What is put back is looked at in turn, as deep as it goes. Do not edit what comes from an archive
    in memory or from `Result.removed`: it is still theirs.

    Raises ArchiveError when the archive cannot be read.
    """
    find = _finder(archive)
    restored: list[Any] = []
    stack: list[Any] = list(messages)[::-1]
    open_records: set[tuple[str, str]] = set()
    while stack:
        message = stack.pop()
        if isinstance(message, _End):
            open_records.discard(message.key)
            continue
        record = _record_of(message, find, open_records)
        if record is None:
            restored.append(message)
            continue
        key = (record["ref"], record["left"])
        open_records.add(key)
        stack += [_End(key), *reversed(record["removed"])]
    return restored


def _record_of(
    message: Any, find: Callable[[str, str], Iterable[Record]], open_records: set[tuple[str, str]]
) -> Record | None:
    """The record that this message stands for. One that is being expanded is passed over: it would never end."""
    text = standing(message)
    if not REFERENCE.search(text):
        return None
    left = values.text_digest(text)
    for record in find(text, left):
        ref = record.get("ref")
        if isinstance(ref, str) and ref in text and (ref, left) not in open_records and _fits(message, record):
            return record
    return None


def _fits(message: dict[str, Any], record: Record) -> bool:
    """Markers and summaries have role user; anything else was changed in place and stands for one of its own role."""
    removed = record.get("removed")
    if not isinstance(removed, (list, tuple)) or not removed:
        return False
    role = message.get("role")
    only = removed[0] if len(removed) == 1 else None
    return role == "user" or (isinstance(only, dict) and only.get("role") == role)


def _finder(archive: Any) -> Callable[[str, str], Iterable[Record]]:
    """A function of a text and its digest that gives the records which left this text."""
    if isinstance(archive, (str, os.PathLike)):
        archive = DirectoryArchive(archive)
    elif not isinstance(archive, Archive) and isinstance(archive, Iterable):
        archive = MemoryArchive(removed.record() for removed in archive)
    if finder := getattr(archive, "finder", None):
        by_left = finder()
        return lambda _, left: by_left(left)
    if isinstance(archive, Archive):
        return lambda text, left: (r for r in _by_reference(archive, text) if r.get("left") == left)
    raise TypeError(f"archive is {type(archive).__name__}; give a directory, an archive or Result.removed")


def _by_reference(archive: Archive, text: str) -> Iterator[Record]:
    """Every record of whatever in the text looks like a reference.

    A template may put other hex letters directly before or after the reference, not both: so each run of hex digits is
    tried at its two ends, which stays linear for a page of hashes.
    """
    runs = _HEX_RUN.findall(text)
    for ref in dict.fromkeys(end for run in runs for end in (run[:12], run[-12:])):
        try:
            yield from archive.get(ref) or ()
        except (ArchiveError, LookupError):
            continue  # an archive may say so when it has no such reference
        except OSError as error:
            raise ArchiveError(f"cannot read the archive: {error}") from error
