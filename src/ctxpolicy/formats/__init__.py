"""Wire formats. A format is a thin view: it reads facts from the caller's message and writes a changed copy of it.

No rule, action or command knows which format it works on; everything they need from one is in `Format`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from importlib import import_module
from typing import Any, Protocol, cast

from ctxpolicy.errors import CtxPolicyError
from ctxpolicy.messages import Call, Message

FORMATS = {
    "openai-chat": "ctxpolicy.formats.openai_chat",
    "anthropic": "ctxpolicy.formats.anthropic",
    "openai-responses": "ctxpolicy.formats.openai_responses",
    "gemini": "ctxpolicy.formats.gemini",
}


class Format(Protocol):
    """What the engine asks of a wire format. Implemented by the modules in this package."""

    NAME: str

    def read(self, wire: Any, index: int) -> tuple[Message, ...]:
        """What the rules see of one wire message: one message, or several where it holds results and words at once.

        Raises TranscriptInvalid, naming `index`, for what is not a message.
        """

    def join(self, messages: Iterable[Message]) -> list[Any]:
        """The wire messages for a list: the parts of one origin joined again, the origin itself where all are there."""

    def say(self, text: str) -> dict[str, Any]:
        """A new message with role user that says `text` (summaries and markers)."""

    def with_text(self, wire: Any, text: str) -> dict[str, Any]:
        """A copy of the message whose text parts say `text`; every other part and field is kept.

        The wire message itself where its form leaves no place for a text.
        """

    def with_arguments(self, wire: Any, arguments: Sequence[str]) -> dict[str, Any]:
        """A copy of the message whose calls, in order, have these arguments (JSON texts)."""

    def without(self, wire: Any, parts: frozenset[str], note: str) -> dict[str, Any]:
        """A copy with its `reasoning` or each piece of its `media` replaced by `note`; empty, it replaces nothing.

        Signed reasoning goes whole or stays byte for byte. The wire message itself where what is asked for is not
        there, or may not be taken out alone.
        """

    def answer(self, message: Message, text: str) -> dict[str, Any]:
        """A short tool result, saying `text`, to take the place of this one."""

    def result(self, message: Message, call: Call, text: str) -> dict[str, Any]:
        """A tool result, saying `text`, for this call of the message."""


def get(name: str | None) -> Format:
    """The format of that name (None: OpenAI Chat Completions). Raises CtxPolicyError for an unknown one."""
    found = FORMATS.get(name or "openai-chat")
    if found is None:
        raise CtxPolicyError(f"unknown format {name!r}: this version reads {', '.join(FORMATS)}")
    return cast(Format, import_module(found))
