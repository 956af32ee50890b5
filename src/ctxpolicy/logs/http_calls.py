"""What a request to a model provider and its response say, for each API that is known."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

from ctxpolicy.logs import bedrock, streams
from ctxpolicy.logs.growing import Call
from ctxpolicy.logs.model import entries, mapping

_Body = dict[str, Any]


def call(path: str, sent: _Body, got: Any) -> Call | None:
    """The model call of an exchange: `sent` is its JSON body, `got` a JSON value or the text of an event stream.

    None where it is no model call.
    """
    made = _api(path, sent)
    return made(sent, got) if made else None


def _api(path: str, sent: _Body) -> Callable[[_Body, Any], Call] | None:
    if isinstance(sent.get("contents"), list):
        return _gemini
    if "input" in sent and "/responses" in path:
        return _responses
    if not isinstance(sent.get("messages"), list):
        return None
    if path.endswith(("/converse", "/converse-stream")):
        return _bedrock
    return (
        _anthropic if path.endswith(("/messages", "/messages/count_tokens")) or "anthropic_version" in sent else _chat
    )


def _events(got: Any) -> Iterator[_Body]:
    """The JSON values of a stream of server-sent events; of a JSON body none."""
    for line in got.splitlines() if isinstance(got, str) else ():
        if line.startswith("data:") and line[5:].strip() != "[DONE]":
            try:
                value = json.loads(line[5:])
            except ValueError:
                continue
            if isinstance(value, dict):
                yield value


def _whole(got: Any, join: Callable[[Iterator[_Body]], _Body]) -> _Body:
    """The response: as it is, or put together from its events."""
    return got if isinstance(got, dict) else join(_events(got))


def _chat(sent: _Body, got: Any) -> Call:
    response = _whole(got, streams.chat)
    choices = entries(response.get("choices"))
    answer = [choice["message"] for choice in choices[:1] if choice.get("message")]
    return Call(
        "openai-chat", sent["messages"], answer, response.get("usage"), tools=sent.get("tools") or sent.get("functions")
    )


def _anthropic(sent: _Body, got: Any) -> Call:
    response = _whole(got, streams.anthropic)
    answer = [{"role": "assistant", "content": response["content"]}] if response.get("content") else []
    return Call("anthropic", sent["messages"], answer, response.get("usage"), sent.get("system"), sent.get("tools"))


def _responses(sent: _Body, got: Any) -> Call:
    response = _whole(got, streams.responses)
    given = sent["input"]
    items = given if isinstance(given, list) else [{"type": "message", "role": "user", "content": given}]
    return Call(
        "openai-responses", items, entries(response.get("output")), response.get("usage"), sent.get("instructions"),
        sent.get("tools"), id=response.get("id"), follows=sent.get("previous_response_id"),
    )  # fmt: skip


def _gemini(sent: _Body, got: Any) -> Call:
    response = _whole(got[-1] if isinstance(got, list) and len(got) == 1 else got, streams.gemini)
    candidates = entries(response.get("candidates"))
    answer = [c["content"] for c in candidates[:1] if isinstance(c.get("content"), dict) and c["content"].get("parts")]
    system = sent.get("systemInstruction") or sent.get("system_instruction")
    return Call("gemini", sent["contents"], answer, response.get("usageMetadata"), system, sent.get("tools"))


def _bedrock(sent: _Body, got: Any) -> Call:
    response = got if isinstance(got, dict) else {}
    message = mapping(response.get("output")).get("message")
    tools = [bedrock.tool(t) for t in entries(mapping(sent.get("toolConfig")).get("tools"))]
    return Call(
        "anthropic", list(map(bedrock.message, sent["messages"])), [bedrock.message(message)] if message else [],
        response.get("usage"), [bedrock.block(b) for b in entries(sent.get("system"))] or None, tools or None,
    )  # fmt: skip
