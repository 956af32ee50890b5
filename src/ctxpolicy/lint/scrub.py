"""Repairs of single messages: what is empty, private or too much leaves."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from ctxpolicy.formats.shared import blocks_key
from ctxpolicy.lint.pairing import Note, Numbered
from ctxpolicy.lint.rule import is_blank

MOST_MARKS = 4  # cache marks that Anthropic takes


def scrub(wires: Sequence[Any], name: str, note: Note) -> list[Numbered]:
    """The list without empty texts and messages, private fields and surplus cache marks."""
    out: list[Numbered] = []
    for index, wire in enumerate(wires):
        full = _without_private(wire, name)
        if full is not wire:
            note("GEM-12", index, "removed fields that are not the provider's")
        bare = _without_blank(full)
        if _says_nothing(bare) and len(wires) > 1:
            note("empty", index, "removed an empty message")
            continue
        if bare is not full:
            note("empty", index, "removed empty texts")
        out.append((index, bare))
    return _fewer_marks(out, note) if name == "anthropic" else out


def _without_blank(wire: dict[str, Any]) -> dict[str, Any]:
    key = blocks_key(wire)
    blocks = wire.get(key)
    if not isinstance(blocks, list):
        return wire
    kept = [block for block in blocks if not _is_blank_block(block)]
    return wire if len(kept) == len(blocks) else {**wire, key: kept}


def _is_blank_block(block: Any) -> bool:
    plain = isinstance(block, dict) and set(block) <= {"type", "text", "cache_control", "annotations"}
    return plain and block.get("type", "text") in ("text", "input_text") and is_blank(block.get("text", ""))


def _without_private(wire: dict[str, Any], name: str) -> dict[str, Any]:
    private = [key for key in wire if key.startswith("_") or (name == "gemini" and key not in ("role", "parts"))]
    return {key: value for key, value in wire.items() if key not in private} if private else wire


def _says_nothing(wire: dict[str, Any]) -> bool:
    if "type" in wire and wire["type"] != "message":
        return False
    says = ("tool_calls", "function_call", "refusal", "audio", "reasoning_content", "reasoning", "reasoning_details")
    content = wire.get(blocks_key(wire))
    blank = content in (None, []) or is_blank(content)
    return blank and wire.get("role") not in ("tool", "function") and not any(wire.get(key) for key in says)


def _fewer_marks(numbered: list[Numbered], note: Note) -> list[Numbered]:
    """At most four cache marks: the last ones stay."""
    marked = [(n, block) for n, wire in numbered for block in _marked(wire)]
    surplus = {id(block) for _, block in marked[: max(0, len(marked) - MOST_MARKS)]}
    for index, _ in marked[: len(surplus)]:
        note("ANT-21", index, "removed a cache mark")
    return [
        (n, _unmarked(wire, surplus) if any(id(block) in surplus for block in _marked(wire)) else wire)
        for n, wire in numbered
    ]


def _marked(wire: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for block in wire["content"] if isinstance(wire.get("content"), list) else ():
        if isinstance(block, dict) and block.get("cache_control"):
            yield block


def _unmarked(wire: dict[str, Any], surplus: set[int]) -> dict[str, Any]:
    return {**wire, "content": [_without_mark(b) if id(b) in surplus else b for b in wire["content"]]}


def _without_mark(block: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in block.items() if key != "cache_control"}
