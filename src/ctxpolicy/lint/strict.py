"""Repairs that only strict servers ask for: neighbours of one role merged, a user message first."""

from __future__ import annotations

from typing import Any

from ctxpolicy.formats import Format
from ctxpolicy.formats.shared import blocks_key
from ctxpolicy.lint.pairing import Note, Numbered

LEAD = "(The conversation goes on from here.)"
_SYSTEM = ("system", "developer")
_MERGES = {"anthropic": "ANT-20", "gemini": "GEM-06"}


def merge_and_lead(numbered: list[Numbered], format: Format, note: Note) -> list[Numbered]:
    """The list with neighbours of one role merged and a user message before what the assistant says."""
    merged: list[Numbered] = []
    for index, wire in numbered:
        if merged and _may_merge(merged[-1][1], wire):
            merged[-1] = (merged[-1][0], _merged(merged[-1][1], wire))
            note(_MERGES.get(format.NAME, "OAC-09"), index, "merged with the message before it")
        else:
            merged.append((index, wire))
    lead = next((n for n, (_, wire) in enumerate(merged) if wire.get("role") not in _SYSTEM), len(merged))
    if lead < len(merged) and merged[lead][1].get("role") in ("assistant", "model"):
        note("X-06", merged[lead][0], "put a user message first")
        merged.insert(lead, (merged[lead][0], format.say(LEAD)))
    return merged


def _may_merge(a: Any, b: Any) -> bool:
    """True for messages of one role whose content can be put together; turns with calls of Chat cannot."""
    same = a.get("role") == b.get("role") and a.get("role") in ("user", "assistant", "model")
    fields = {"role", "type", blocks_key(a)}
    return bool(same) and blocks_key(a) == blocks_key(b) and set(a) <= fields and set(b) <= fields


def _merged(a: Any, b: Any) -> Any:
    key = blocks_key(a)
    if isinstance(a.get(key), str) and isinstance(b.get(key), str):
        return {**a, key: f"{a[key]}\n\n{b[key]}"}
    return {**a, key: [*_as_blocks(a[key]), *_as_blocks(b[key])]}


def _as_blocks(content: Any) -> list[Any]:
    return [{"type": "text", "text": content}] if isinstance(content, str) else list(content)
