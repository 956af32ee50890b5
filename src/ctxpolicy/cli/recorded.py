"""What a session log recorded beside its messages, for people and for programs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from typing import Any

import msgspec

from ctxpolicy.calibration import FACTOR
from ctxpolicy.calls import RecordedCall, recorded_calls
from ctxpolicy.cli.options import Setup
from ctxpolicy.cli.output import counted, printable
from ctxpolicy.logs import Compaction, Session
from ctxpolicy.transcripts import Conversation


def calls(conversation: Conversation, chosen: Setup) -> list[RecordedCall]:
    """The model calls of a conversation, with the provider's prompt tokens where its log has them."""
    return recorded_calls(
        chosen.policy.pipeline(chosen.format_of(conversation)),
        conversation.messages,
        tools=chosen.tools_of(conversation),
        usage=usage(conversation),
    )


def usage(conversation: Conversation) -> dict[int, int]:
    """The prompt tokens that a log recorded, by the index of the last message that the call gave."""
    return {use.index: use.input for use in conversation.usage} if isinstance(conversation, Session) else {}


def call_json(call: RecordedCall) -> dict[str, Any]:
    """A model call for programs: tokens recorded by the provider and counted for the same list."""
    return {
        "reply": call.index, "recorded": call.recorded, "counted": call.counted,
        "factor": call.factor and round(call.factor, 3),
    }  # fmt: skip


def as_json(conversation: Conversation, chosen: Setup) -> dict[str, Any]:
    """Under `recorded`: log format, times, model calls and compactions. Empty for a plain transcript."""
    if not isinstance(conversation, Session):
        return {}
    told = {
        "log": conversation.log,
        "began": _iso(conversation.began),
        "ended": _iso(conversation.ended),
        "calls": msgspec.to_builtins(conversation.usage),
        "counting": [call_json(call) for call in calls(conversation, chosen) if call.recorded],
        "compactions": msgspec.to_builtins(conversation.compactions),
    }
    return {"recorded": told}


def _iso(time: datetime | None) -> str | None:
    return time.isoformat() if time else None


def as_text(conversation: Conversation, chosen: Setup) -> Iterator[str]:
    """Sentences on it; none for a plain transcript."""
    if not isinstance(conversation, Session):
        return
    told = f"recorded by {conversation.log}"
    if conversation.began and conversation.ended:
        told += f" from {conversation.began:%Y-%m-%d %H:%M} to {conversation.ended:%Y-%m-%d %H:%M} UTC"
    if conversation.usage:
        largest = max(use.input for use in conversation.usage)
        told += f"; {counted(len(conversation.usage), 'model call')}, at most {largest:,} tokens sent"
    yield told
    yield from counting(calls(conversation, chosen))
    yield from map(_cut, conversation.compactions)


def counting(found: Sequence[RecordedCall]) -> Iterator[str]:
    """Sentences on how counting compares with the provider's; none where no usage was recorded.

    The last call says most: what a log leaves out (a system prompt, tools) weighs least in it.
    """
    told = [(call.recorded, call.counted) for call in found if call.recorded is not None]
    if not told:
        return
    (first, counted_first), (last, counted_last) = told[0], told[-1]
    factor = last / max(1, counted_last)
    yield (
        f"at the last recorded call the provider counted {last:,} tokens and this policy {counted_last:,}: "
        f"factor {factor:.2f}"
    )
    if factor > FACTOR[1]:
        yield (
            f"counting is not off by so much: about {first - counted_first:,} tokens that are not in the log were sent "
            "as well (a system prompt, tools); give --tools, or say in the policy's budget.tools_tokens how many"
        )


def compactions(conversations: Iterable[Conversation]) -> Iterator[str]:
    """A sentence on each place where an agent compacted its history itself."""
    for conversation in conversations:
        for cut in conversation.compactions if isinstance(conversation, Session) else ():
            yield f"{printable(conversation.where)}: {_cut(cut)}"


def _cut(cut: Compaction) -> str:
    before = f" at {cut.tokens_before:,} tokens" if cut.tokens_before else ""
    after = f", leaving {cut.tokens_after:,}" if cut.tokens_after else ""
    how = f" ({printable(cut.trigger)})" if cut.trigger else ""
    return (
        f"the agent compacted its history{before}{after}{how}; what it saw from then on begins at message {cut.index}"
    )
