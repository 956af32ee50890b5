"""AutoGen recordings of model calls (`ChatCompletionClientRecorder`): messages by their class, and the response."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ctxpolicy.logs import chat, growing
from ctxpolicy.logs.chat import speaker
from ctxpolicy.logs.model import Session, entries, mapping
from ctxpolicy.logs.source import Source


def recognises(source: Source) -> bool:
    value = source.document_or_none
    first = value[0] if isinstance(value, list) and value else None
    return isinstance(first, dict) and {"mode", "messages", "response"} <= set(first)


def read(source: Source) -> Iterator[Session]:
    """The recorded calls, joined where one goes on from another."""
    return growing.sessions("autogen", source.name, filter(None, (_call(source, record) for record in source.document)))


def _call(source: Source, record: Any) -> growing.Call | None:
    if not isinstance(record, dict) or not isinstance(record.get("messages"), list):
        source.skip("unknown")
        return None
    given = record.get("response")
    response = {"content": given} if isinstance(given, str) else mapping(given)
    sent = [m for message in entries(record["messages"]) for m in _messages(message)]
    answer = [_assistant(response)] if "content" in response else []
    return growing.Call("openai-chat", sent, answer, response.get("usage"))


def _messages(message: dict[str, Any]) -> list[dict[str, Any]]:
    kind, content = message.get("type"), message.get("content")
    if kind == "AssistantMessage":
        return [_named(_assistant(message), message)]
    if kind == "FunctionExecutionResultMessage":
        return [
            chat.result(r.get("call_id"), r.get("content"), name=r.get("name"), error=bool(r.get("is_error")))
            for r in entries(content)
        ]
    if kind == "SystemMessage":
        return [{"role": "system", "content": content}]
    parts = [_part(part) for part in content] if isinstance(content, list) else content
    return [_named({"role": "user", "content": parts}, message)]


def _named(wire: dict[str, Any], message: dict[str, Any]) -> dict[str, Any]:
    return {**wire, "name": speaker(message["source"])} if message.get("source") else wire


def _assistant(message: dict[str, Any]) -> dict[str, Any]:
    """Content is a text, or a list of calls; beside calls the text is in `thought`."""
    content, thought = message.get("content"), message.get("thought")
    if isinstance(content, list):
        return chat.assistant(
            thought, [chat.call(c.get("id"), c.get("name"), c.get("arguments")) for c in entries(content)]
        )
    return chat.assistant(content, [], thought)


def _part(part: Any) -> Any:
    """A text, or a picture as its base64 data."""
    if isinstance(part, str):
        return {"type": "text", "text": part}
    if isinstance(part, dict) and "data" in part:
        return {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{part['data']}"}}
    return part
