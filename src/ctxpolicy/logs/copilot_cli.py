"""GitHub Copilot CLI: one event a line. Calls are told twice, in the messages and as tool executions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ctxpolicy.logs import chat
from ctxpolicy.logs.model import Gathering, Session, entries, mapping, name, scalars
from ctxpolicy.logs.source import Source

_SIGNS = ("session.start", "user.message", "assistant.message", "tool.execution_complete", "assistant.turn_start")


def recognises(source: Source) -> bool:
    return any(isinstance(v, dict) and v.get("type") in _SIGNS and isinstance(v.get("data"), dict) for v in source.head)


def read(source: Source) -> Iterator[Session]:
    """The main conversation, cut where it was compacted, then each sub-agent's."""
    threads: dict[str | int | None, Gathering] = {None: _new(source)}
    for number, value in source.records():
        record = mapping(value)
        data, kind, time = mapping(record.get("data")), str(record.get("type")), record.get("timestamp")
        message = _message(kind, data)
        if message is not None:
            threads.setdefault(name(data.get("parentToolCallId")), _new(source)).add(
                message, number, scalars(record), time
            )
        elif kind == "session.compaction_complete" and data.get("summaryContent"):
            if threads[None].messages:
                yield threads[None].session()
            threads[None] = _after(source, threads[None], data, number, time)
        else:
            source.skip(kind)
    for thread in threads.values():
        if thread.messages:
            yield thread.session()


def _new(source: Source) -> Gathering:
    return Gathering("copilot-cli", "openai-chat", source.name)


def _message(kind: str, data: dict[str, Any]) -> dict[str, Any] | None:
    """What an event says; None where it says nothing to the model."""
    if kind == "system.message":
        return {"role": data.get("role", "system"), "content": data.get("content")}
    if kind == "user.message":
        return {"role": "user", "content": data.get("transformedContent") or data.get("content")}
    if kind == "system.notification":
        return {"role": "user", "content": data.get("content")}
    if kind == "assistant.message":
        return _assistant(data)
    if kind == "tool.execution_complete":
        return _result(data)
    return None


def _assistant(data: dict[str, Any]) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": data.get("content")}
    if data.get("reasoningText"):
        message["reasoning_content"] = data["reasoningText"]
    if data.get("reasoningOpaque"):
        message["reasoning_opaque"] = data["reasoningOpaque"]
    if data.get("toolRequests"):
        message["tool_calls"] = [
            chat.call(r.get("toolCallId"), r.get("name"), r.get("arguments")) for r in entries(data["toolRequests"])
        ]
    return message


def _result(data: dict[str, Any]) -> dict[str, Any]:
    result, error = data.get("result"), data.get("error")
    content = result.get("content") if isinstance(result, dict) else result
    if content is None and error is not None:
        content = error.get("message") if isinstance(error, dict) else str(error)
    return chat.result(data.get("toolCallId"), content, error=data.get("success") is False)


def _after(source: Source, old: Gathering, data: dict[str, Any], number: int, time: Any) -> Gathering:
    """The history after a compaction: the system prompt and the summary."""
    now = _new(source)
    system = [m for m in old.messages if m["role"] == "system"]
    now.compacted("auto", data.get("preCompactionTokens"), data.get("postCompactionTokens"), len(system))
    for message in system:
        now.add(message, number, {}, time)
    now.add({"role": "user", "content": data["summaryContent"]}, number, {"type": "session.compaction_complete"}, time)
    return now
