"""Putting back what a policy took out."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import msgspec

from ctxpolicy import formats, values
from ctxpolicy.archive.standing import REFERENCE, START, behind, digests, fingerprint, parts_of, texts_of
from ctxpolicy.archive.store import Archive, DirectoryArchive, MemoryArchive, Record
from ctxpolicy.errors import ArchiveError
from ctxpolicy.formats.detect import format_of
from ctxpolicy.formats.shared import joined
from ctxpolicy.messages import Message
from ctxpolicy.result import Removed

_HEX_RUN = re.compile(r"[0-9a-f]{12,}")
_BEGINNINGS = 8  # as many forms of what stands before a message are followed, where it was rewritten step by step
Find = Callable[[str, str], Iterable[Record]]


class _Share(msgspec.Struct, frozen=True):
    """Which part of a message this is: `origin` is the reference of the whole, `parts` how many it had."""

    origin: str
    part: int
    parts: int


class _Whole:
    """A wire message, and of how many parts it is."""

    def __init__(self, wire: Any, size: int) -> None:
        self.wire, self.size = wire, size


class _Piece(msgspec.Struct, frozen=True):
    """A message, or one part of the wire message `whole`."""

    message: Any
    whole: _Whole
    share: _Share | None = None


class _Given(msgspec.Struct, frozen=True):
    """A wire message still to be looked at, its share as a record gives it, and the repairs undone on the way to it.

    None is undone twice: a forged archive could go round in a circle.
    """

    wire: Any
    share: Any = None
    undone: frozenset[str] = frozenset()


class _End(msgspec.Struct, frozen=True):
    """Stands on the stack below the messages of an open record: when it comes up, the record is closed."""

    key: tuple[str, str]


class _Next(msgspec.Struct, frozen=True):
    """Stands on the stack below all that comes of a message: `before` and `behind` are the beginnings of the list as
    it stands, up to the message and with it.
    """

    before: tuple[bytes, ...]
    behind: tuple[bytes, ...]
    undone: bool = False

    def then(self, now: tuple[bytes, ...]) -> tuple[bytes, ...]:
        """The beginnings for what comes next: the list as it stands, then those in which something was put back.

        Policies rewrite the oldest messages first. So it is enough to put back what stands behind some place, and not
        every choice of rewritten messages; where more places are rewritten than are followed, the oldest go, but for
        the one that has everything put back.
        """
        if self.undone or now is self.before:
            return self.behind
        found = (self.behind[0], *now)
        return found if len(found) <= _BEGINNINGS else (*found[: _BEGINNINGS - 1], found[-1])


def restore(messages: Iterable[Any], archive: Archive | str | os.PathLike[str] | Iterable[Removed]) -> list[Any]:
    """The list as it was before any policy acted on it; what no record covers comes back as the same object.

    `archive` is what was given to the run (a directory or an archive), or `Result.removed`. A message is replaced only
    by a record whose reference it names and whose `left` is the digest of all its text, so a quoted or forged marker
    restores nothing; a repaired message, which names none, only where all of it stands behind all that it was made
    behind. What is put back is looked at in turn, as deep as it goes; parts of one wire message that left apart are
    joined again. Do not edit what comes from
    an archive in memory or from `Result.removed`: it is still theirs.

    Raises ArchiveError when the archive cannot be read, or is not there although the list needs it. What an archive
    does not hold stays as it is; `ctxpolicy.archive.unresolved.unresolved` names the references left in a list.
    """
    find = finder(archive)
    restored = _put_back(messages, find)
    if isinstance(archive, (str, os.PathLike)) and not os.path.exists(archive):
        _need_none(restored, archive)
    known: set[str] = set()
    # Parts that left apart may, joined again, be a message that had been repaired.
    while fresh := {left for left in digests(restored) if _repair(left, find)} - known:
        known |= fresh
        restored = _put_back(restored, find)
    return restored


def _need_none(messages: Sequence[Any], missing: str | os.PathLike[str]) -> None:
    from ctxpolicy.archive.unresolved import unresolved  # compiles patterns

    refs = unresolved(messages)
    if refs:
        raise ArchiveError(f"there is no archive at {os.fspath(missing)}; the list stands for {', '.join(refs[:5])}")


def _put_back(messages: Iterable[Any], find: Find) -> list[Any]:
    restored: list[_Piece] = []
    stack: list[_Given | _Piece | _End | _Next] = []
    stack += [_Given(wire) for wire in messages][::-1]
    open_records: set[tuple[str, str]] = set()
    before: tuple[bytes, ...] = (START,)  # digests of what may have stood before the message on top
    while stack:
        top = stack.pop()
        if isinstance(top, _End):
            open_records.discard(top.key)
        elif isinstance(top, _Next):
            before = top.then(before)
        elif isinstance(top, _Given):
            stack += _looked_at(top, before, find)
        elif (record := record_of(top.message, find, open_records)) is None:
            restored.append(top)
        else:
            key = (record["ref"], record["left"])
            open_records.add(key)
            removed = record["removed"]
            shares = record.get("parts") or [None] * len(removed)
            stack.append(_End(key))
            stack += [_Given(wire, share) for wire, share in zip(removed, shares, strict=False)][::-1]
    return _united(restored)


def _looked_at(given: _Given, before: tuple[bytes, ...], find: Find) -> Iterator[_Given | _Piece | _Next]:
    """What comes on the stack for a message: what it was before it was repaired for a provider, else its parts."""
    own = fingerprint(given.wire)
    following = tuple(behind(digest, own) for digest in before)
    for left in () if given.share else map(bytes.hex, following):
        if left not in given.undone and (record := _repair(left, find)) is not None:
            yield _Next(before, following, undone=True)
            undone = given.undone | {left}
            yield from (_Given(wire, None, undone) for wire in reversed(record["removed"]))
            return
    yield _Next(before, following)
    yield from _pieces(given)


def _repair(left: str, find: Find) -> Record | None:
    """The record of a repair that left this beginning of a list."""
    return next(iter(find("", left)), None)


def _pieces(given: _Given) -> list[_Piece]:
    """A message as pieces, the first on top."""
    wires = [part.wire for part in parts_of(given.wire)] or [given.wire]
    whole, share = _Whole(given.wire, len(wires)), given.share
    return [
        _Piece(part, whole, _Share(share[0], share[1] + n, share[2]) if share else None) for n, part in enumerate(wires)
    ][::-1]


def _united(pieces: Sequence[_Piece]) -> list[Any]:
    """The wire messages of the pieces: where the parts of one message stand side by side again, it is whole again."""
    ends = _found_again(pieces)
    messages: list[Any] = []
    at = 0
    while at < len(pieces):
        stop = ends.get(at)
        if stop is None:
            stop = at + 1
            while stop < len(pieces) and stop not in ends and pieces[stop].whole is pieces[at].whole:
                stop += 1
        messages.append(_one(pieces[at:stop]))
        at = stop
    return messages


def _one(pieces: Sequence[_Piece]) -> Any:
    """The wire message of neighbouring pieces: the object they came from where they are all of it."""
    whole = pieces[0].whole
    if len(pieces) == whole.size and all(piece.whole is whole for piece in pieces):
        return whole.wire
    return joined([piece.message for piece in pieces])


def _found_again(pieces: Sequence[_Piece]) -> dict[int, int]:
    """Where the parts of a message that had been parted stand side by side: first position to the one after the last.

    The reference of the joined message tells; the largest come first, as a parted message may have been parted again.
    """
    wanted = {
        (i - piece.share.part, piece.share.parts, piece.share.origin) for i, piece in enumerate(pieces) if piece.share
    }
    ends: dict[int, int] = {}
    taken: set[int] = set()
    for start, size, origin in sorted(wanted, key=lambda w: -w[1]):
        places = range(start, start + size)
        if start < 0 or places.stop > len(pieces) or not taken.isdisjoint(places):
            continue
        if _reference_of(pieces[start : places.stop]) == origin:
            ends[start] = places.stop
            taken.update(places)
    return ends


def _reference_of(pieces: Sequence[_Piece]) -> str | None:
    """The reference of the message that these pieces make together, if they can be one."""
    try:
        return values.reference([joined([piece.message for piece in pieces])])
    except (KeyError, TypeError):
        return None


def record_of(wire: Any, find: Find, open_records: set[tuple[str, str]]) -> Record | None:
    """The record that this message stands for. One that is being expanded is passed over: it would never end."""
    seen = parts_of(wire)
    if len(seen) != 1:
        return None
    for text in dict.fromkeys(texts_of(seen[0])):
        named = REFERENCE.search(text) is not None
        if not named and seen[0].role != "assistant":
            continue
        left = values.text_digest(text)
        for record in find(text, left):
            ref = record.get("ref")
            if not isinstance(ref, str) or (ref, left) in open_records:
                continue
            if (ref in text and _fits(seen[0], record)) or _only_lacks_reasoning(seen[0], record):
                return record
    return None


def _only_lacks_reasoning(message: Message, record: Record) -> bool:
    """True for a message whose reasoning was taken out without a trace: the original but for that, exactly."""
    removed = record.get("removed")
    if message.role != "assistant" or not isinstance(removed, (list, tuple)) or len(removed) != 1:
        return False
    original = removed[0]
    bare = formats.get(format_of(original)).without(original, frozenset(("reasoning",)), "")
    return bare != original and bool(bare == message.wire)


def _fits(message: Message, record: Record) -> bool:
    """Markers and summaries have role user; anything else was changed in place and stands for one of its own role."""
    removed = record.get("removed")
    if not isinstance(removed, (list, tuple)) or not removed:
        return False
    if message.role == "user":
        return True
    only = parts_of(removed[0]) if len(removed) == 1 else ()
    return len(only) == 1 and only[0].role == message.role


def finder(archive: Any) -> Find:
    """A function of a text and its digest that gives the records which left this text, over what is archived now."""
    if isinstance(archive, (str, os.PathLike)):
        archive = DirectoryArchive(archive)
    elif not isinstance(archive, Archive) and isinstance(archive, Iterable):
        archive = MemoryArchive(removed.record() for removed in archive)
    if make := getattr(archive, "finder", None):
        by_left = make()
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
