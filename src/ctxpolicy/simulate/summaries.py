"""What stands in for a summarising model in a simulation, and the ways in which one fails."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from zlib import crc32

from ctxpolicy.simulate.chance import Maker
from ctxpolicy.summarize.request import Summarize, SummaryReply, SummaryRequest

_TOO_LONG = 20  # times the words allowed


def note(request: SummaryRequest) -> str:
    """Facts out of the span, as `extract` finds them, filled up to the longest note that the rule allows."""
    from ctxpolicy.summarize.extract import NOTHING, extract

    found = extract(request)
    return found if found == NOTHING else _filled(found, request.word_limit)


def _filled(text: str, count: int) -> str:
    """The text with made-up words behind it, `count` words in all."""
    lacking = count - len(text.split())
    return f"{text}\n{Maker(crc32(text.encode())).words(lacking)}" if lacking > 0 else text


def _fail(_: SummaryRequest) -> SummaryReply:
    raise ConnectionError("made-up fault: the model cannot be reached")


def _stall(_: SummaryRequest) -> SummaryReply:
    raise TimeoutError("made-up fault: no answer in time")


def _nothing(request: SummaryRequest) -> str:
    return "NOTHING"


def _long(request: SummaryRequest) -> str:
    return _filled(note(request), _TOO_LONG * request.word_limit)


def _echo(request: SummaryRequest) -> str:
    return request.prompt


FAULTS: dict[str, Summarize] = {
    "fail": _fail,
    "stall": _stall,
    "nothing": _nothing,
    "long": _long,
    "echo": _echo,
}


@dataclass(slots=True)
class Asked:
    """A summariser that counts how often it was asked, and the tokens of what it was asked."""

    summarize: Summarize
    count: Callable[[str], int]
    calls: int = 0
    tokens: int = 0

    def __call__(self, request: SummaryRequest) -> str | SummaryReply:
        self.calls += 1
        self.tokens += self.count(request.prompt)
        return self.summarize(request)  # type: ignore[return-value]  # an async one is refused by the window
