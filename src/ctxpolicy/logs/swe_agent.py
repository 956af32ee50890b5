"""SWE-agent trajectories: `history` is what the agent kept; its tool messages name their calls in a list."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ctxpolicy.logs.model import Gathering, Session, entries, scalars
from ctxpolicy.logs.source import Source

_SIGNS = ("message_type", "agent", "tool_call_ids", "is_demo")
_SENT = ("role", "content", "name", "tool_calls", "tool_call_id", "thinking_blocks", "cache_control")


def recognises(source: Source) -> bool:
    value = source.document_or_none
    history = value.get("history") if isinstance(value, dict) else None
    return isinstance(history, list) and any(
        isinstance(m, dict) and "role" in m and not set(_SIGNS).isdisjoint(m) for m in history[:3]
    )


def read(source: Source) -> Iterator[Session]:
    """The history, and that of each earlier attempt of an agent that retries."""
    value = source.document
    tries = [t for t in entries(value.get("attempts")) if isinstance(t, dict) and isinstance(t.get("history"), list)]
    for attempt in (*tries, value):
        if attempt is value and any(t["history"] == value["history"] for t in tries):
            continue  # the last attempt is told twice
        now = Gathering("swe-agent", "openai-chat", source.name)
        for record in attempt["history"]:
            if isinstance(record, dict) and "role" in record:
                now.add(_message(record), 1, scalars(record))
            else:
                source.skip("unknown")
        if now.messages:
            yield now.session()


def _message(record: dict[str, Any]) -> dict[str, Any]:
    message = {key: record[key] for key in _SENT if record.get(key) is not None}
    ids = record.get("tool_call_ids")
    if record["role"] == "tool" and isinstance(ids, list) and ids:
        message["tool_call_id"] = ids[0]
    message.setdefault("content", "")
    return message
