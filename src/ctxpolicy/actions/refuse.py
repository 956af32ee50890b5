"""refuse: a message that could never be sent is turned away when it arrives."""

from __future__ import annotations

from typing import Any

from ctxpolicy.errors import MessageTooLarge
from ctxpolicy.formats import Format
from ctxpolicy.items import Item

_HINT = "Shorten it or store it elsewhere and append a reference to it"


def refusal(rule: str, item: Item, limit: int, words: str | None, format: Format) -> MessageTooLarge:
    """The error for an item that the rule turns away; `words` are the policy's own, put before the figures."""
    what = f"the result of {item.tools[0]}" if item.role == "tool" and item.tools else f"the {item.message.role} message"
    text = (
        f"message {item.message.index} cannot be sent: {what} has {item.tokens} tokens and rule {rule} turns it away "
        f"(budget limit {limit} tokens). {_HINT}."
    )
    return MessageTooLarge(
        f"{words.strip()} {text}" if words else text,
        size=item.tokens,
        limit=limit,
        rule=rule,
        index=item.message.index,
        replacement=replacement(item, limit, format),
    )


def replacement(item: Item, limit: int, format: Format) -> dict[str, Any] | None:
    """For a tool result: a short result with the same id to append instead."""
    call_id = item.message.result_of
    if call_id is None:
        return None
    tool = item.tools[0] if item.tools else "this call"
    return format.answer(
        call_id,
        f"[The result of {tool} was not kept: {item.tokens:,} tokens, the budget limit is {limit:,}. "
        "Ask for a smaller part of it.]",
    )
