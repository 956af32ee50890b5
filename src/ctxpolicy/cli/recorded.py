"""What a session log recorded beside its messages, for people and for programs."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import TYPE_CHECKING, Any

from ctxpolicy.cli.output import counted

if TYPE_CHECKING:
    from ctxpolicy.transcripts import Conversation


def as_json(conversation: Conversation) -> dict[str, Any] | None:
    """Log format, times, model calls and compactions; None for a plain transcript."""
    from ctxpolicy.logs import Session

    if not isinstance(conversation, Session):
        return None
    return {
        "log": conversation.log,
        "began": _iso(conversation.began),
        "ended": _iso(conversation.ended),
        "calls": [
            {"index": u.index, "input": u.input, "output": u.output, "cached": u.cached, "written": u.written}
            for u in conversation.usage
        ],
        "compactions": [
            {"index": c.index, "trigger": c.trigger, "tokens_before": c.tokens_before, "tokens_after": c.tokens_after}
            for c in conversation.compactions
        ],
    }  # fmt: skip


def _iso(time: datetime | None) -> str | None:
    return time.isoformat() if time else None


def as_text(conversation: Conversation) -> Iterator[str]:
    """Sentences on it; none for a plain transcript."""
    from ctxpolicy.logs import Session

    if not isinstance(conversation, Session):
        return
    told = f"recorded by {conversation.log}"
    if conversation.began and conversation.ended:
        told += f" from {conversation.began:%Y-%m-%d %H:%M} to {conversation.ended:%Y-%m-%d %H:%M} UTC"
    if conversation.usage:
        largest = max(use.input for use in conversation.usage)
        told += f"; {counted(len(conversation.usage), 'model call')}, at most {largest:,} tokens sent"
    yield told
    for cut in conversation.compactions:
        before = f" at {cut.tokens_before:,} tokens" if cut.tokens_before else ""
        after = f", leaving {cut.tokens_after:,}" if cut.tokens_after else ""
        how = f" ({cut.trigger})" if cut.trigger else ""
        yield f"the agent compacted its history{before}{after}{how}; what it saw from then on begins at {cut.index}"
