"""Repairs of single messages: what is empty or not the provider's leaves."""

from __future__ import annotations

from typing import Any

import msgspec

from ctxpolicy.formats import Format
from ctxpolicy.formats.shared import blocks_key, kind_of
from ctxpolicy.messages import Message

NO_OUTPUT = "(no output)"
_EMPTY = {"openai-chat": "OAC-05", "anthropic": "ANT-15", "openai-responses": "X-08", "gemini": "GEM-07"}
_SAYS = ("tool_calls", "function_call", "refusal", "audio", "reasoning_content", "reasoning", "reasoning_details")
_THINKING = ("thinking", "redacted_thinking")


class Scrubbed(msgspec.Struct, frozen=True):
    """A message by itself: as it may be sent (None: not at all), how it reads then, and what was done, with codes."""

    wire: Any
    messages: tuple[Message, ...]
    done: tuple[tuple[str, str], ...]


def scrub(wire: Any, index: int, format: Format, *, strict: bool) -> Scrubbed:
    """The message without empty texts and foreign fields. Raises TranscriptInvalid for what is no message."""
    as_read = format.read(wire, index)  # before anything looks inside
    done: list[tuple[str, str]] = []
    own = _own_fields(wire) if format.NAME == "gemini" else wire
    if own is not wire:
        done.append(("GEM-12", "removed fields that are not the provider's"))
    bare = _without_blank(own)
    if _says_nothing(bare) and not _is_bound(bare, format):
        return Scrubbed(None, (), (*done, (_EMPTY[format.NAME], "removed an empty message")))
    if bare is not own:
        done.append((_EMPTY[format.NAME], "removed empty texts"))
    if strict and format.NAME == "openai-chat" and bare.get("role") in ("tool", "function") and _is_blank(bare):
        bare = format.with_text(bare, NO_OUTPUT)
        done.append(("OAC-14", "said that a result has no text"))
    return Scrubbed(bare, as_read if bare is wire else format.read(bare, index), tuple(done))


def _own_fields(wire: dict[str, Any]) -> dict[str, Any]:
    own = {key: value for key, value in wire.items() if key in ("role", "parts")}
    return wire if len(own) == len(wire) else own


def _without_blank(wire: dict[str, Any]) -> dict[str, Any]:
    """Without empty text blocks, those in tool results too; thinking that would then come last goes with them."""
    key = blocks_key(wire)
    blocks = wire.get(key)
    if not isinstance(blocks, list):
        return wire
    kept = [_within(block) for block in blocks if not _is_blank_block(block)]
    if len(kept) == len(blocks):
        same = all(a is b for a, b in zip(kept, blocks, strict=True))
        return wire if same else {**wire, key: kept}
    while kept and kind_of(kept[-1]) in _THINKING:
        kept.pop()
    return {**wire, key: kept}


def _within(block: Any) -> Any:
    if kind_of(block) != "tool_result":
        return block
    inner = _without_blank(block)
    return inner if inner is block or inner["content"] else {**block, "content": ""}


def _is_blank_block(block: Any) -> bool:
    if not isinstance(block, dict) or block.get("type", "text") not in ("text", "input_text"):
        return False
    more = (value for key, value in block.items() if key not in ("type", "text", "cache_control"))
    text = block.get("text", "")
    return isinstance(text, str) and not text.strip() and not any(more)


def _is_blank(wire: dict[str, Any]) -> bool:
    content = wire.get(blocks_key(wire))
    return content in (None, []) or (isinstance(content, str) and not content.strip())


def _says_nothing(wire: dict[str, Any]) -> bool:
    if "type" in wire and wire["type"] != "message":
        return False
    return _is_blank(wire) and wire.get("role") not in ("tool", "function") and not any(map(wire.get, _SAYS))


def _is_bound(wire: dict[str, Any], format: Format) -> bool:
    """True for a Responses item that the assistant said: the reasoning before it must not lose it."""
    return format.NAME == "openai-responses" and wire.get("role") == "assistant"
