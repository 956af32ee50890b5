"""Recorded model calls, joined into conversations: most calls repeat the one before and go on from there."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import msgspec

from ctxpolicy.logs.chat import usage
from ctxpolicy.logs.model import Gathering, Session, Time


class Call(msgspec.Struct):
    """One recorded call: the messages sent, those that came back, and the usage record of any provider's.

    `follows` is the id of an earlier call whose messages the provider kept, `id` what a later one names this by.
    """

    format: str
    sent: Sequence[Any]
    answer: Sequence[Any] = ()
    usage: Any = None
    system: Any = None
    tools: list[Any] | None = None
    line: int = 1
    time: Time = None
    id: str | None = None
    follows: str | None = None


def sessions(log: str, file: str, calls: Iterable[Call]) -> Iterator[Session]:
    """A session for each conversation, in the order in which they began."""
    chains: list[list[Call]] = []
    for call in calls:
        chain = next((c for c in reversed(chains) if _continues(call, c[-1])), None)
        if chain is None:
            chains.append([call])
        else:
            chain.append(call)
    for chain in chains:
        session = _session(log, file, chain)
        if session.messages:
            yield session


def _continues(call: Call, earlier: Call) -> bool:
    """Whether a call sends all that an earlier one sent, and more; or the same, and that one got no answer."""
    if call.follows is not None:
        if call.follows != earlier.id:
            return False
        call.sent = [*earlier.sent, *earlier.answer, *call.sent]
        return True
    size = len(earlier.sent) + bool(earlier.answer)
    return (
        call.format == earlier.format
        and size <= len(call.sent)
        and list(call.sent[: len(earlier.sent)]) == list(earlier.sent)
    )


def _session(log: str, file: str, chain: Sequence[Call]) -> Session:
    """What the last call sent and got; the usage of every call stands where its answer does."""
    last = chain[-1]
    now = Gathering(log, last.format, file)
    now.system, now.tools = last.system, last.tools
    said = [*last.sent, *last.answer]
    for place, message in enumerate(said):
        call = next((c for c in chain if place < len(c.sent)), last)
        now.add(message, call.line, {}, call.time)
    for call in chain:
        end = len(call.sent) + max(1, len(call.answer)) - 1
        now.used(*usage(call.usage), index=min(end, len(said) - 1))
    return now.session()
