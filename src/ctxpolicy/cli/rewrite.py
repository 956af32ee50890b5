"""Transcripts in, transcripts out: what `apply` and `restore` have in common."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ctxpolicy.cli.output import TOO_DEEP, note
from ctxpolicy.errors import MessageTooLarge, TranscriptInvalid
from ctxpolicy.logs import read, written_back
from ctxpolicy.transcripts import Broken, Conversation, Output

Transform = Callable[[Conversation], Sequence[Any]]


@dataclass(slots=True)
class Outcome:
    """What became of conversations: done, refused (read, but not transformed), broken (not to be read); and the number
    of files of which nothing could be read."""

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
    total = Outcome()
    for source, target in targets:
        try:
            total.add(_rewrite_file(source, target if write else None, transform))
        except TranscriptInvalid as error:
            note(f"error: {error}")
            total.unreadable += 1
    return total


def _rewrite_file(source: str, target: str | None, transform: Transform) -> Outcome:
    if _same_file(source, target) and not written_back(source):
        raise TranscriptInvalid(f"{source}: is a session log, which is never changed; name another file with -o")
    outcome = Outcome()
    with _sink(target) as out:
        for text in _texts(source, transform, outcome):
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


def _texts(source: str, transform: Transform, outcome: Outcome) -> Iterator[str]:
    """The text of the result, piece by piece. What stands around conversations waits until there is one."""
    held = ""
    for part in read(source):
        if isinstance(part, str):
            held += part
        elif (text := _transformed(part, transform, outcome)) is not None:
            yield held + (part.lead if outcome.done and isinstance(part, Conversation) else "") + text
            held = ""
            outcome.done += 1
    if outcome.done:
        yield held


def _transformed(part: Conversation | Broken, transform: Transform, outcome: Outcome) -> str | None:
    """The text of a conversation after its transformation; None where that failed, which is told."""
    if isinstance(part, Broken):
        outcome.broken += 1
        note(f"error: {part.error}")
        return None
    try:
        return part.render(transform(part))
    except (MessageTooLarge, TranscriptInvalid) as error:
        outcome.refused += 1
        note(f"error: {part.where if error.index is None else part.at(error.index)}: {error}")
        return None
    except RecursionError:
        outcome.refused += 1
        note(f"error: {part.where}: {TOO_DEEP}")
        return None


def _same_file(source: str, target: str | None) -> bool:
    return target is not None and source != "-" and os.path.exists(target) and os.path.samefile(source, target)
