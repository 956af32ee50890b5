"""refuse: a message that could never be sent is turned away when it arrives."""

from __future__ import annotations

from typing import Any

import msgspec

from ctxpolicy.errors import MessageTooLarge
from ctxpolicy.formats import Format
from ctxpolicy.items import Item

_HINT = "Shorten it or store it elsewhere and append a reference to it"


def refusal(rule: str, item: Item, limit: int, words: str | None, format: Format) -> MessageTooLarge:
    """The error for an item that the rule turns away; `words` are the policy's own, put before the figures."""
    what = (
        f"the result of {item.tools[0]}" if item.role == "tool" and item.tools else f"the {item.message.role} message"
    )
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


def replacement(item: Item, limit: int, format: Format) -> Any:
    """For a tool result: the message with a short result in its place, to append instead."""
    message = item.message
    if message.result_of is None or message.role != "tool":
        return None
    tool = item.tools[0] if item.tools else "this call"
    words = (
        f"[The result of {tool} was not kept: {item.tokens:,} tokens, the budget limit is {limit:,}. "
        "Ask for a smaller part of it.]"
    )
    short = format.answer(message, words)
    if message.origin is None:
        return short
    parts = list(format.read(message.origin, message.index))
    parts[message.part] = msgspec.structs.replace(message, wire=short)
    (whole,) = format.join(msgspec.structs.replace(part, origin=message.origin) for part in parts)
    return whole
