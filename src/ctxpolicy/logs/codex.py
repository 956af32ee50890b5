"""Codex CLI rollouts: response items one a line, among events for the screen; `compacted` replaces the history."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ctxpolicy.logs.model import Gathering, Session, mapping, scalars
from ctxpolicy.logs.source import Source

_ENVELOPES = ("session_meta", "response_item", "turn_context", "event_msg", "compacted")
_NOT_SENT = ("compaction_trigger", "ghost_snapshot", "other")
_OLD_ITEMS = ("message", "reasoning", "function_call", "function_call_output", "local_shell_call")


def recognises(source: Source) -> bool:
    return any(isinstance(v, dict) and (_is_envelope(v) or _is_old_head(v)) for v in source.head)


def _is_envelope(value: dict[str, Any]) -> bool:
    return value.get("type") in _ENVELOPES and isinstance(value.get("payload"), dict)


def _is_old_head(value: dict[str, Any]) -> bool:
    """The first line of rollouts of early 2025, whose items stand without an envelope."""
    return {"id", "timestamp", "instructions"} <= set(value) and "type" not in value


def read(source: Source) -> Iterator[Session]:
    """What the model saw, a session for each piece between compactions."""
    now = Gathering("codex", "openai-responses", source.name)
    for number, record in source.records():
        kind, payload, time = _open(record)
        if kind == "response_item" and payload.get("type") not in _NOT_SENT:
            now.add(payload, number, scalars(record), time)
        elif kind == "session_meta" and not now.messages:
            now.system = _text(payload.get("base_instructions") or payload.get("instructions"))
        elif kind == "event_msg" and payload.get("type") == "token_count" and isinstance(payload.get("info"), dict):
            _use(now, mapping(payload["info"].get("last_token_usage")))
        elif kind == "compacted":
            if now.messages:
                yield now.session()
            now = _after(source, now, payload, number, time)
        else:
            source.skip(f"{kind}:{payload['type']}" if payload.get("type") else kind)
    if now.messages:
        yield now.session()


def _open(record: Any) -> tuple[str, dict[str, Any], Any]:
    """The kind, payload and time of a line."""
    if not isinstance(record, dict):
        return "unknown", {}, None
    payload, kind = record.get("payload"), record.get("type")
    if isinstance(payload, dict):
        return str(kind), payload, record.get("timestamp")
    if kind in _OLD_ITEMS:
        return "response_item", record, None
    if _is_old_head(record):
        return "session_meta", record, record.get("timestamp")
    return str(record.get("record_type") or kind), {}, None


def _text(value: Any) -> Any:
    return value.get("text") if isinstance(value, dict) else value


def _use(now: Gathering, used: dict[str, Any]) -> None:
    """The usage that closes a call; the same figures are often told twice."""
    before = now.usage[-1].index if now.usage else -1
    if before < len(now.messages) - 1:
        now.used(used.get("input_tokens"), used.get("output_tokens"), used.get("cached_input_tokens"))


def _after(source: Source, old: Gathering, payload: dict[str, Any], number: int, time: Any) -> Gathering:
    """The history after a compaction: the one recorded, else the standing orders, the user's words and the summary."""
    now = Gathering("codex", "openai-responses", source.name)
    now.system = old.system
    history, summary = payload.get("replacement_history"), payload.get("message")
    if not isinstance(history, list):
        kept = [
            m for m in old.messages if m.get("type") == "message" and m.get("role") in ("user", "developer", "system")
        ]
        text = [{"type": "input_text", "text": summary}]
        history = [*kept, *([{"type": "message", "role": "user", "content": text}] if summary else ())]
    before = old.usage[-1].input if old.usage else None
    now.compacted("auto", before, carried=sum(item in old.messages for item in history))
    for item in history:
        now.add(item, number, {"type": "compacted"}, time)
    return now
