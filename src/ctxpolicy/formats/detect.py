"""Which wire format messages are written in, told by what stands in them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ctxpolicy.formats.shared import ANTHROPIC, kind_of

_CHAT_ROLES = ("tool", "function", "developer")
_RESPONSES_PARTS = ("input_text", "output_text", "input_image", "input_file")


def format_of(wire: Any) -> str | None:
    """The format that this one message can only be of, by name; None where it may be of several, or is no message."""
    if not isinstance(wire, dict):
        return None
    content = wire.get("content")
    if isinstance(wire.get("parts"), list) and content is None:
        return "gemini"
    kind = wire.get("type")
    if isinstance(kind, str) and kind != "message" and "role" not in wire:
        return "openai-responses"
    if wire.get("role") in _CHAT_ROLES or "tool_calls" in wire or "function_call" in wire:
        return "openai-chat" if kind is None else None
    kinds = set(map(kind_of, content)) if isinstance(content, list) else set()
    if kinds & ANTHROPIC or "redacted_thinking" in kinds or (kinds & {"image", "document"} and _has_source(content)):
        return "anthropic"
    return "openai-responses" if kinds.intersection(_RESPONSES_PARTS) else None


def detect(messages: Iterable[Any]) -> str:
    """The format of a list: that of the first message which can only be of one; OpenAI Chat where none tells."""
    return next((name for name in map(format_of, messages) if name is not None), "openai-chat")


def _has_source(blocks: Any) -> bool:
    return any(isinstance(block, dict) and isinstance(block.get("source"), dict) for block in blocks)
