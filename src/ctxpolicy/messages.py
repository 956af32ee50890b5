"""What one message is to the rules: facts read once from the wire message, which itself stays untouched."""

from __future__ import annotations

from typing import Any

import msgspec

# gc=False here and on items: they are many, and never part of a cycle, so the collector need not walk them.
WIRE_ROLES = ("system", "developer", "user", "assistant", "tool")


class Call(msgspec.Struct, frozen=True, gc=False):
    """A tool call. `arguments` is the text as it stands on the wire (normally a JSON object)."""

    id: str | None
    tool: str
    arguments: str


class Message(msgspec.Struct, frozen=True, gc=False):
    """One item of the list, as a format read it.

    `wire` is the caller's own object, or a part of it. `role` is the wire role (see WIRE_ROLES).
    `text` is the text parts joined; media, reasoning and unknown parts are not in it. `result_of` is the id of the
    call this message answers. `has` holds any of image, audio, file, reasoning, signed
    (reasoning with a signature), tool_call, error. `media` counts
    pictures, sounds and files. `extra` is other text that is sent and counted (reasoning, refusals).

    `index` is the place of the caller's message in his list. Where a format reads several messages from one of the
    caller's (results and words in one), `origin` is that one, and `wire` and `part` of `parts` are what of it this is.
    `follows` is true for an assistant message that goes on with the turn of an assistant message right before it.
    An assistant message with `result_of` holds the result of a provider's own tool that an earlier one used.
    """

    wire: Any
    role: str
    text: str
    name: str | None = None
    calls: tuple[Call, ...] = ()
    result_of: str | None = None
    has: frozenset[str] = frozenset()
    media: tuple[tuple[str, int], ...] = ()
    extra: tuple[str, ...] = ()
    index: int = 0
    origin: Any = None
    part: int = 0
    parts: int = 1
    follows: bool = False
