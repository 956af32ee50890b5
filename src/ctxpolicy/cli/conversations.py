"""The conversations of transcript files, each put to some use."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Generic, TypeVar

from ctxpolicy.cli.output import TOO_DEEP, note
from ctxpolicy.errors import TranscriptInvalid
from ctxpolicy.logs import read
from ctxpolicy.transcripts import Broken, Conversation

_Made = TypeVar("_Made")


class Conversations(Generic[_Made]):
    """What `use` makes of each conversation, in order. What cannot be read or used is told, and the rest is done."""

    def __init__(self, transcripts: Sequence[str], use: Callable[[Conversation], _Made]) -> None:
        self._transcripts, self._use = transcripts, use
        self._done = self._told = False

    @property
    def code(self) -> int:
        """The exit code so far: 1 where something could not be read or used, 2 where nothing at all could."""
        return 0 if not self._told else 1 if self._done else 2

    def __iter__(self) -> Iterator[_Made]:
        for transcript in self._transcripts:
            for made in self._of_file(transcript):
                self._done = True
                yield made

    def _of_file(self, transcript: str) -> Iterator[_Made]:
        try:
            for part in read(transcript):
                if isinstance(part, Broken):
                    self._tell(str(part.error))
                elif isinstance(part, Conversation):
                    yield from self._of_conversation(part)
        except TranscriptInvalid as error:
            self._tell(str(error))

    def _of_conversation(self, part: Conversation) -> Iterator[_Made]:
        try:
            made = self._use(part)
        except TranscriptInvalid as error:
            self._tell(f"{part.where if error.index is None else part.at(error.index)}: {error}")
        except RecursionError:
            self._tell(f"{part.where}: {TOO_DEEP}")
        else:
            yield made

    def _tell(self, what: str) -> None:
        note(f"error: {what}")
        self._told = True
