"""Model calls in a recorded list: where each stands, what it sent, and what the provider counted for it."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from itertools import accumulate
from typing import Any, Protocol

import msgspec

from ctxpolicy.intake import Intake
from ctxpolicy.items import Item, Tally
from ctxpolicy.rules import Pipeline


class Spoken(Protocol):
    """What says whether a message begins a reply: see `Message`."""

    @property
    def role(self) -> str: ...

    @property
    def follows(self) -> bool: ...


class RecordedCall(msgspec.Struct, frozen=True):
    """One model call. `index` is the message with which its reply begins.

    `counted` are the tokens of everything in front of it, by the policy's counter; `recorded` are those that the
    provider counted, None where nothing says.
    """

    index: int
    counted: int
    recorded: int | None = None

    @property
    def factor(self) -> float | None:
        """Recorded over counted tokens."""
        return None if self.recorded is None else self.recorded / max(1, self.counted)


def begins_reply(message: Spoken, before: Spoken | None) -> bool:
    """Whether a model was called for this message: an assistant message that goes on with no earlier one.

    `before` is the message in front of it. Where there is none nothing was sent, so it is no reply.
    """
    if message.role != "assistant" or before is None:
        return False
    return not (message.follows and before.role == "assistant")


def reply_places(items: Iterable[Item]) -> list[int]:
    """The positions at which replies begin."""
    places, before = [], None
    for position, item in enumerate(items):
        if begins_reply(item.message, before):
            places.append(position)
        before = item.message
    return places


def recorded_calls(
    pipeline: Pipeline,
    messages: Sequence[Any],
    *,
    tools: Sequence[Any] | None = None,
    system: Any = None,
    usage: Mapping[int, int] | None = None,
) -> list[RecordedCall]:
    """The model calls of a recorded list, in order.

    `usage` has prompt tokens, cached ones included, by the index of a message that the call gave or of one behind it
    and before the next reply. Raises TranscriptInvalid for what is no message.
    """
    items = Intake(pipeline.reading).read_all(messages, None)
    sent = list(accumulate((item.tokens for item in items), initial=pipeline.load(tools, system).used(Tally())))
    places = reply_places(items)
    begins = [items[place].message.index for place in places]
    told = {bisect_right(begins, index): tokens for index, tokens in sorted((usage or {}).items()) if tokens > 0}
    return [
        RecordedCall(begin, sent[place], told.get(number))
        for number, (place, begin) in enumerate(zip(places, begins, strict=True), 1)
    ]
