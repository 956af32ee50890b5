"""Wire formats. A format is a thin view: it reads facts from the caller's message and writes a changed copy of it.

No rule, action or command knows which format it works on; everything they need from one is in `Format`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from importlib import import_module
from typing import Any, Protocol, cast

from ctxpolicy.errors import CtxPolicyError
from ctxpolicy.messages import Message

FORMATS = {"openai-chat": "ctxpolicy.formats.openai_chat"}


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
        """A copy of the message whose text parts say `text`; every other part and field is kept."""

    def with_arguments(self, wire: Any, arguments: Sequence[str]) -> dict[str, Any]:
        """A copy of the message whose calls, in order, have these arguments (JSON texts)."""

    def without(self, wire: Any, parts: frozenset[str], note: str) -> dict[str, Any]:
        """A copy without its `reasoning`, or with each piece of its `media` replaced by a text part saying `note`."""

    def answer(self, call_id: str, text: str) -> dict[str, Any]:
        """A tool result for that call."""


def get(name: str | None) -> Format:
    """The format of that name (None: OpenAI Chat Completions). Raises CtxPolicyError for an unknown one."""
    found = FORMATS.get(name or "openai-chat")
    if found is None:
        raise CtxPolicyError(f"unknown format {name!r}: this version reads {', '.join(FORMATS)}")
    return cast(Format, import_module(found))
