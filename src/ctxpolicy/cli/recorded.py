"""What a session log recorded beside its messages, for people and for programs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import Any

import msgspec

from ctxpolicy.cli.output import counted, printable
from ctxpolicy.logs import Compaction, Session
from ctxpolicy.transcripts import Conversation


def as_json(conversation: Conversation) -> dict[str, Any]:
    """Under `recorded`: log format, times, model calls and compactions. Empty for a plain transcript."""
    if not isinstance(conversation, Session):
        return {}
    told = {
        "log": conversation.log,
        "began": _iso(conversation.began),
        "ended": _iso(conversation.ended),
        "calls": msgspec.to_builtins(conversation.usage),
        "compactions": msgspec.to_builtins(conversation.compactions),
    }
    return {"recorded": told}


def _iso(time: datetime | None) -> str | None:
    return time.isoformat() if time else None


def as_text(conversation: Conversation) -> Iterator[str]:
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
    yield from map(_cut, conversation.compactions)


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
