"""Cline and Roo Code: Anthropic messages with notes beside them, in an object or (older, and Roo) a plain array."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from ctxpolicy.logs.model import Gathering, Session, name, scalars
from ctxpolicy.logs.source import Source

_NOTES = {"condenseId", "condenseParent", "truncationId", "truncationParent", "isSummary", "isTruncationMarker"}


def recognises(source: Source) -> bool:
    value = source.document_or_none
    if isinstance(value, dict):
        return isinstance(value.get("messages"), list) and "updated_at" in value and "version" in value
    return isinstance(value, list) and bool(value) and all(map(_is_record, value))


def _is_record(value: Any) -> bool:
    """Whether a value can stand in a plain array of Cline's or Roo's: blocks, or Roo's notes, and a time."""
    if not isinstance(value, dict) or "ts" not in value or value.get("role") not in ("user", "assistant"):
        return False
    return isinstance(value.get("content"), list) or not _NOTES.isdisjoint(value)


def read(source: Source) -> Iterator[Session]:
    """What the model saw: of Roo's condensed and truncated histories what is left, and what stood there before."""
    value = source.document
    around = value if isinstance(value, dict) else {"messages": value}
    records = [m for m in around["messages"] if isinstance(m, dict) and m.get("role") in ("user", "assistant")]
    for _ in range(len(around["messages"]) - len(records)):
        source.skip("unknown")
    views = _views(records)
    for n, view in enumerate(views):
        now = Gathering("cline", "anthropic", source.name)
        now.system = around.get("system_prompt")
        if n or "source_message_count" in around:
            before = next(filter(None, map(_before, view)), None)
            now.compacted(None, before, carried=_carried(view, views[n - 1]) if n else 0)
        for record in view:
            _add(now, record)
        if now.messages:
            yield now.session()


def _before(record: dict[str, Any]) -> Any:
    notes = record.get("metadata")
    return notes.get("tokensBefore") if isinstance(notes, dict) else None


def _carried(view: Sequence[Any], before: Sequence[Any]) -> int:
    known = set(map(id, before))
    return sum(id(record) in known for record in view)


def _views(records: Sequence[dict[str, Any]]) -> list[list[dict[str, Any]]]:
    """The list as the agent saw it before each condensation, and as it sees it now.

    Nothing leaves a Roo list: what a marker hides names it as its parent.
    """
    markers = [m for m in records if m.get("isSummary") or m.get("isTruncationMarker")]
    views = []
    for n in range(len(markers) + 1):
        made, later = set().union(*map(_names, markers[:n])), set(map(id, markers[n:]))
        view = [m for m in records if id(m) not in later and not _parents(m) & made]
        if n < len(markers):  # it ended with the last message that the next marker hides
            ends = [place for place, m in enumerate(view, 1) if _parents(m) & _names(markers[n])]
            view = view[: max(ends, default=0)]
        views.append(view)
    return [view for view in views if view]


def _names(record: dict[str, Any]) -> set[Any]:
    return {name(record.get("condenseId")), name(record.get("truncationId"))} - {None}


def _parents(record: dict[str, Any]) -> set[Any]:
    return {name(record.get("condenseParent")), name(record.get("truncationParent"))} - {None}


def _add(now: Gathering, record: dict[str, Any]) -> None:
    content = record.get("content")
    blocks = [_block(b) for b in content] if isinstance(content, list) else content
    now.add({"role": record["role"], "content": blocks}, 1, scalars(record), record.get("ts"))
    used = record.get("metrics")
    if isinstance(used, dict):  # inputTokens holds what came from the cache
        now.used(
            used.get("inputTokens"), used.get("outputTokens"), used.get("cacheReadTokens"), used.get("cacheWriteTokens")
        )


def _block(block: Any) -> Any:
    """Cline's own block for a file as text; the others are Anthropic's."""
    if isinstance(block, dict) and block.get("type") == "file" and isinstance(block.get("content"), str):
        return {
            "type": "text",
            "text": f'<file_content path="{block.get("path")}">\n{block["content"]}\n</file_content>',
        }
    return block
