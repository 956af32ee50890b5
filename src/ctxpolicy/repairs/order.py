"""Repairs of who speaks when: neighbours of one role merged, a user message first, and one last."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ctxpolicy.formats import Format
from ctxpolicy.formats.shared import blocks_key, kind_of
from ctxpolicy.marks import END, GO_ON, LEAD, RECORD
from ctxpolicy.messages import Message
from ctxpolicy.repairs.model import Note, Place

_MERGES = {"openai-chat": "OAC-09", "anthropic": "ANT-20", "gemini": "GEM-06"}  # a Responses turn is several items
_LEADS = {"anthropic": "ANT-19", "gemini": "GEM-06"}
_TRAILS = {"openai-chat": "OAC-11", "anthropic": "ANT-17", "gemini": "GEM-06"}
_SYSTEM = ("system", "developer")
_COMPACTION = ("compaction", "context_compaction", "compaction_summary")
_RESPONSES = ("functionResponse", "function_response")


def in_order(places: Sequence[Place], format: Format, note: Note, *, strict: bool, opens: bool) -> list[Place]:
    """The list with the order of roles that servers ask for: all of them (`strict`), or this provider itself.

    `opens` is false for a list that goes on with another.
    """
    out = list(places)
    if strict and format.NAME in _MERGES:
        out = _merge(out, format, note)
    if opens and (strict or format.NAME == "gemini"):
        _lead(out, format, note)
    if strict:
        _trail(out, format, note)
    return out


def _merge(places: Sequence[Place], format: Format, note: Note) -> list[Place]:
    out: list[Place] = []
    before: Any = {}  # as it was before it was merged
    for place in places:
        alike = out and before.get("role") == place.wire.get("role")
        merged = _merged(out[-1].wire, place.wire, _is_record(before)) if alike else None
        if merged is None:
            out.append(place)
        else:
            system = format.NAME == "openai-chat" and before.get("role") in _SYSTEM
            code = "OAC-10" if system else _MERGES[format.NAME]
            note(code, (place.of or out[-1].of)[0], "merged with the message before it")
            out[-1] = Place(merged, (*out[-1].of, *place.of))
        before = place.wire
    return out


def _merged(a: dict[str, Any], b: dict[str, Any], after_record: bool) -> dict[str, Any] | None:
    """Two messages of one role as one; None where one has fields that cannot be put together."""
    role = a.get("role")
    if role not in (*_SYSTEM, "user", "assistant", "model") or blocks_key(a) != blocks_key(b):
        return None
    if (set(_filled(a)) | set(_filled(b) if role != "assistant" else ())) - {"role", "type", "content", "parts"}:
        return None  # an assistant message may be led by words: its calls and reasoning come after them
    if _answers(a) or _answers(b):
        return None
    key = blocks_key(a)
    first, last = a.get(key) or "", b.get(key) or ""
    if not (isinstance(first, (str, list)) and isinstance(last, (str, list))):
        return None  # what is no content stays for `lint` to tell
    end = END if after_record and not _is_record(b) else ""
    if isinstance(first, str) and isinstance(last, str):
        return {**b, key: "\n\n".join(filter(None, (first, end, last)))}
    between = _as_blocks(f"\n{END}\n", key) if end else []
    return {**b, key: [*_as_blocks(first, key), *between, *_as_blocks(last, key)]}


def _filled(wire: dict[str, Any]) -> list[str]:
    """The fields that hold something: packages write out those that do not, too."""
    return [key for key, value in wire.items() if value or value is False]


def _answers(wire: dict[str, Any]) -> bool:
    """True for a content of Gemini with function responses: words beside them are refused."""
    parts = wire.get("parts") or ()
    return any(name in part for part in parts if isinstance(part, dict) for name in _RESPONSES)


def _is_record(wire: dict[str, Any]) -> bool:
    """True for a summary of ours, in its own message."""
    content = wire.get(blocks_key(wire))
    if isinstance(content, list):
        first = content[0] if len(content) == 1 and isinstance(content[0], dict) else {}
        content = first.get("text")
    return wire.get("role") == "user" and isinstance(content, str) and f"\n{RECORD}\n" in content


def _as_blocks(said: Any, key: str) -> list[Any]:
    if not isinstance(said, str):
        return list(said)
    block = {"text": said} if key == "parts" else {"type": "text", "text": said}
    return [block] if said else []


def _lead(places: list[Place], format: Format, note: Note) -> None:
    """Put a user message before what the assistant says first. Gemini itself asks for it."""
    n = 0
    while n < len(places) and _read(format, places[n]).role in _SYSTEM:
        n += 1
    first = places[n] if n < len(places) else None
    if first and _read(format, first).role == "assistant" and not _is_compaction(first.wire):
        note(_LEADS.get(format.NAME, "X-06"), first.of[0], "put a user message before it")
        places.insert(n, Place(format.say(LEAD), ()))


def _trail(places: list[Place], format: Format, note: Note) -> None:
    """Put a user message behind what the assistant said last, unless a call of that turn waits for its result."""
    for place in reversed(places):
        said = format.read(place.wire, 0)  # several messages, where it holds late results of server tools
        if any(message.calls for message in said):
            return
        if said[-1].role != "assistant":
            break
    if places and _read(format, places[-1]).role == "assistant":
        note(_TRAILS.get(format.NAME, "X-07"), places[-1].of[0], "put a user message after it")
        places.append(Place(format.say(GO_ON), ()))


def _read(format: Format, place: Place) -> Message:
    return format.read(place.wire, 0)[-1]


def _is_compaction(wire: dict[str, Any]) -> bool:
    """True for what stands for a history that the provider compacted: it must come first."""
    content = wire.get("content")
    first = content[0] if isinstance(content, list) and content else None
    return kind_of(wire) in _COMPACTION or kind_of(first) in _COMPACTION
