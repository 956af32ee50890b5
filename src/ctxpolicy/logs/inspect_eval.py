"""Inspect logs: one JSON document, or an `.eval`, which is a zip of a JSON file for each sample.

Long or repeated strings stand apart as attachments and are put back.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ctxpolicy.logs import chat, packed
from ctxpolicy.logs.model import Gathering, Session, entries, mapping, name, scalars
from ctxpolicy.logs.source import Source

_ATTACHED = ("attachment://", "tc://")


def recognises(source: Source) -> bool:
    if source.is_zip:
        return True
    value = source.document_or_none
    return (
        isinstance(value, dict) and "eval" in value and "version" in value and ("samples" in value or "status" in value)
    )


def read(source: Source) -> Iterator[Session]:
    """A conversation for each sample."""
    samples = packed.documents(source, _is_sample) if source.is_zip else iter(entries(source.document.get("samples")))
    for sample in samples:
        if not isinstance(sample, dict) or not isinstance(sample.get("messages"), list):
            source.skip("sample:without messages")
        elif sample["messages"]:
            yield _session(source, sample)


def _is_sample(name: str) -> bool:
    return name.startswith("samples/") and name.endswith(".json")


def _session(source: Source, sample: dict[str, Any]) -> Session:
    now = Gathering("inspect", "openai-chat", source.name)
    transcript = mapping(sample.get("transcript"))
    attachments = mapping(sample.get("attachments") or transcript.get("content"))
    places: dict[Any, int] = {}
    for message in entries(sample["messages"]):
        whole = _restored(message, attachments) if attachments else message
        places[name(whole.get("id"))] = len(now.messages)
        fields = {key: value for key, value in scalars(whole).items() if key != "content"}
        now.add(_message(whole), 1, {"sample": sample.get("id"), "epoch": sample.get("epoch"), **fields})
    for event in entries(sample.get("events") or transcript.get("events")):
        _note(now, source, event, places)
    return now.session()


def _note(now: Gathering, source: Source, event: dict[str, Any], places: dict[Any, int]) -> None:
    """Usage and compactions, which only the events tell. The messages are the agent's whole history."""
    kind = event.get("event")
    if kind == "model":
        output = mapping(event.get("output"))
        first = mapping(next(iter(entries(output.get("choices"))), None))
        place = places.get(name(mapping(first.get("message")).get("id")))
        if place is not None:
            now.used(*chat.usage(output.get("usage")), index=place)
    elif kind == "compaction":
        now.compacted(event.get("type"), event.get("tokens_before"), event.get("tokens_after"))
    else:
        source.skip(f"event:{kind}")


def _restored(value: Any, attachments: dict[str, Any]) -> Any:
    """A value with its attachments in place."""
    if isinstance(value, str):
        prefix = next((p for p in _ATTACHED if value.startswith(p)), None)
        return value if prefix is None else attachments.get(value[len(prefix) :], value)
    if isinstance(value, list):
        return [_restored(item, attachments) for item in value]
    if isinstance(value, dict):
        return {key: _restored(item, attachments) for key, item in value.items()}
    return value


def _message(message: dict[str, Any]) -> dict[str, Any]:
    role, content = message.get("role"), message.get("content")
    parts = [_part(part) for part in content] if isinstance(content, list) else content
    if role == "assistant":
        calls = [
            chat.call(c.get("id"), c.get("function"), c.get("arguments")) for c in entries(message.get("tool_calls"))
        ]
        return chat.assistant(parts, calls)
    if role == "tool":
        error = message.get("error")
        told = parts or (error.get("message") if isinstance(error, dict) else error)
        return chat.result(message.get("tool_call_id"), told, name=message.get("function"), error=bool(error))
    return {"role": role, "content": parts}


def _part(part: Any) -> Any:
    """A content part; media as the API takes them, what it does not know as it is."""
    kind = part.get("type") if isinstance(part, dict) else None
    if kind == "image":
        return {"type": "image_url", "image_url": {"url": part.get("image")}}
    if kind == "audio":
        return {"type": "input_audio", "input_audio": {"data": part.get("audio"), "format": part.get("format")}}
    if kind in ("video", "document"):
        return {"type": "file", "file": {"file_data": part.get(kind), "filename": part.get("filename")}}
    return part
