"""Transcripts in, transcripts out: what `apply`, `lint --fix` and `restore` have in common."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any, Literal

import msgspec

from ctxpolicy.cli.output import TOO_DEEP, Tick, note
from ctxpolicy.errors import MessageTooLarge, TranscriptInvalid
from ctxpolicy.logs import read_log, written_back
from ctxpolicy.transcripts import Broken, Conversation, Output, Part, Unread, read_lines

Transform = Callable[[Conversation], Sequence[Any]]
Piece = Part | Unread | TranscriptInvalid  # the last: why a file cannot be read, or not to its end
Placed = tuple[int, Piece]  # a piece, and the number of its file


class Finished(msgspec.Struct, frozen=True, gc=False):
    """What became of a piece: a conversation is done, refused (read, but not transformed) or broken (not to be read).

    `text` is what to write, and `lead` what separates it from a conversation before it; `told` what went wrong.
    """

    what: Literal["between", "done", "refused", "broken", "unreadable"]
    text: bytes = b""
    lead: bytes = b""
    told: str = ""


Each = Callable[[Iterator[Placed]], Iterator[tuple[int, Finished]]]  # from pieces to what became of them, in order


@dataclass(slots=True)
class Outcome:
    """What became of conversations, by number, and the number of files of which nothing could be read."""

    done: int = 0
    refused: int = 0
    broken: int = 0
    unreadable: int = 0

    @property
    def failed(self) -> int:
        """Conversations that were not written."""
        return self.refused + self.broken

    @property
    def code(self) -> int:
        """The exit code: 1 where something failed, 2 where nothing at all could be read."""
        if not self.failed and not self.unreadable:
            return 0
        return 1 if self.done or self.refused else 2

    def add(self, other: Outcome) -> None:
        """Count another file's outcome in."""
        self.done += other.done
        self.refused += other.refused
        self.broken += other.broken
        self.unreadable += other.unreadable


def rewrite(targets: Iterable[tuple[str, str]], transform: Transform, *, write: bool = True) -> Outcome:
    """Each transcript with its conversations transformed, in the shape it had. What fails is told, and the rest done.

    `targets` are pairs of an input and where its result goes; with `write` False it goes nowhere.
    """
    return rewrite_by(targets, one_by_one(lambda piece: finish(piece, transform)), write=write)


def rewrite_by(
    targets: Iterable[tuple[str, str]], each: Each, *, write: bool = True, tick: Tick = lambda: None
) -> Outcome:
    """`rewrite`, with each piece of the files finished by `each`. `tick` is called for each conversation."""
    total, pairs = Outcome(), list(targets)
    placed = _placed([source for source, _ in pairs])
    for number, group in groupby(each(placed), itemgetter(0)):
        source, target = pairs[number]
        try:
            total.add(_rewrite_file(source, target if write else None, (one for _, one in group), tick))
        except TranscriptInvalid as error:
            note(f"error: {error}")
            total.unreadable += 1
    return total


def one_by_one(work: Callable[[Piece], Iterable[Finished]]) -> Each:
    """Each piece finished when its turn comes."""
    return lambda placed: ((number, one) for number, piece in placed for one in work(piece))


def finish(
    piece: Piece, transform: Transform, untouched: Callable[[bytes], bool] = lambda _: False
) -> Iterator[Finished]:
    """What becomes of a piece. `untouched` says of a line that its conversation would stay as it is."""
    if isinstance(piece, Unread):
        if untouched(piece.data):
            yield Finished("done", piece.data)
        else:
            for part in piece.parts():
                yield from finish(part, transform)
    elif isinstance(piece, Conversation):
        yield _transformed(piece, transform)
    elif isinstance(piece, str):
        yield Finished("between", piece.encode())
    elif isinstance(piece, Broken):
        yield Finished("broken", told=f"error: {piece.error}")
    else:
        yield Finished("unreadable", told=str(piece))


def _transformed(part: Conversation, transform: Transform) -> Finished:
    try:
        return Finished("done", part.render(transform(part)).encode(), part.lead.encode())
    except (MessageTooLarge, TranscriptInvalid) as error:
        place = part.where if error.index is None else part.at(error.index)
        return Finished("refused", told=f"error: {place}: {error}")
    except RecursionError:
        return Finished("refused", told=f"error: {part.where}: {TOO_DEEP}")


def _placed(sources: Iterable[str]) -> Iterator[Placed]:
    for number, source in enumerate(sources):
        yield number, ""  # so that something becomes of every file
        try:
            for piece in _pieces(source):
                yield number, piece
        except TranscriptInvalid as error:
            yield number, error


def _pieces(source: str) -> Iterator[Part | Unread]:
    log = read_log(source)
    if log.format is None and Path(source).is_file():
        log.close()
        return read_lines(source)
    return log.parts()


def _rewrite_file(source: str, target: str | None, finished: Iterable[Finished], tick: Tick) -> Outcome:
    if _same_file(source, target) and not written_back(source):
        raise TranscriptInvalid(f"{source}: is a session log, which is never changed; name another file with -o")
    outcome = Outcome()
    with _sink(target) as out:
        for text in _texts(finished, outcome, tick):
            if out is not None:
                out.write(text)
        if out is not None and not outcome.done:
            out.keep()
        elif out is not None and outcome.failed and _same_file(source, target):
            note(f"error: {source}: is left as it was, or what failed would be lost; name another file with -o")
            out.keep()
    return outcome


def _sink(target: str | None) -> AbstractContextManager[Output | None]:
    if target is None:
        return nullcontext()
    if target != "-":
        Path(target).parent.mkdir(parents=True, exist_ok=True)
    return Output(target)


def _texts(finished: Iterable[Finished], outcome: Outcome, tick: Tick) -> Iterator[bytes]:
    """The text of the result, piece by piece. What stands around conversations waits until there is one."""
    held = b""
    for one in finished:
        if one.what == "between":
            held += one.text
            continue
        if one.what == "unreadable":
            raise TranscriptInvalid(one.told)
        if one.what != "broken":
            tick()
        if one.what == "done":
            yield held + (one.lead if outcome.done else b"")
            yield one.text
            held = b""
            outcome.done += 1
        else:
            note(one.told)
            outcome.broken += one.what == "broken"
            outcome.refused += one.what == "refused"
    if outcome.done:
        yield held


def _same_file(source: str, target: str | None) -> bool:
    return target is not None and source != "-" and os.path.exists(target) and os.path.samefile(source, target)
