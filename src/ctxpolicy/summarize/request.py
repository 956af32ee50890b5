"""What a summariser is asked and what it may answer."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

import msgspec


class SummaryRequest(msgspec.Struct, frozen=True):
    """One call to a summariser.

    `prompt` is the whole text to send, the rendered span included. `span` is that rendered span alone, `messages`
    the wire messages behind it (those kept in place included), `word_limit` the words the note may have,
    `max_tokens` the most tokens the reply should be allowed, `rule` the id of the rule that asks, `previous` the
    newest earlier summary under `summaries: merge`, `link` which of the rule's summarisers is asked, from 0.
    """

    prompt: str
    span: str
    word_limit: int
    rule: str
    max_tokens: int
    messages: Sequence[Any] = ()
    previous: str | None = None
    link: int = 0


class SummaryReply(msgspec.Struct, frozen=True):
    """A summariser's answer with what is known about it; a plain string is the same with nothing known."""

    text: str | None
    finish_reason: str | None = None
    reasoning: str | None = None
    tool_calls: Sequence[Any] | None = None
    usage: Mapping[str, Any] | None = None


Reply = str | SummaryReply | Awaitable[str | SummaryReply]
Summarize = Callable[[SummaryRequest], Reply]
