"""Cache marks: Anthropic takes four in a request, and those on tools and system text count."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ctxpolicy.formats.shared import kind_of
from ctxpolicy.repairs.model import Place, Repair, Repaired

MOST = 4
_MARK = "cache_control"


def fewer_marks(done: Repaired, room: int) -> Repaired:
    """The list with at most `room` cache marks, the last ones: a request finds again what an earlier one wrote near
    its end, and what stands before that is in its prefix anyway.
    """
    marked = [(n, block) for n, place in enumerate(done.places) for block in _marked(place.wire.get("content"))]
    surplus = marked[: max(0, len(marked) - room)]
    if not surplus:
        return done
    places, repairs = list(done.places), list(done.repairs)
    for n in dict.fromkeys(n for n, _ in surplus):
        gone = {id(block) for at, block in surplus if at == n}
        wire, of = places[n].wire, places[n].of
        places[n] = Place({**wire, "content": _unmarked(wire["content"], gone)}, of)
        says = f"removed {'a cache mark' if len(gone) == 1 else f'{len(gone)} cache marks'}"
        repairs.append(Repair("ANT-21", of[0], says))
    return Repaired(done.given, places, sorted(repairs, key=lambda repair: repair.index))


def room_for_marks(beside: Any) -> int:
    """How many marks a list may have, beside those on the tools and system text that are sent with it."""
    rest, found = [beside], 0
    while rest:
        value = rest.pop()
        if isinstance(value, dict):
            found += bool(value.get(_MARK))
            rest += value.values()
        elif isinstance(value, (list, tuple)):
            rest += value
    return max(0, MOST - found)


def _marked(content: Any) -> Iterator[dict[str, Any]]:
    """Blocks with a mark in the order in which they are sent, those inside tool results too."""
    for block in content if isinstance(content, list) else ():
        if kind_of(block) == "tool_result":
            yield from _marked(block.get("content"))
        if isinstance(block, dict) and block.get(_MARK):
            yield block


def _unmarked(content: list[Any], gone: set[int]) -> list[Any]:
    return [_without(block, gone) if isinstance(block, dict) else block for block in content]


def _without(block: dict[str, Any], gone: set[int]) -> dict[str, Any]:
    kept = {key: value for key, value in block.items() if key != _MARK} if id(block) in gone else block
    if kind_of(block) == "tool_result" and isinstance(block.get("content"), list):
        return {**kept, "content": _unmarked(block["content"], gone)}
    return kept
