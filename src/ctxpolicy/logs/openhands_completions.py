"""OpenHands logs of single model calls: what was sent, and the response of LiteLLM."""

from __future__ import annotations

from collections.abc import Iterator

from ctxpolicy.logs import growing
from ctxpolicy.logs.model import Session, entries, mapping
from ctxpolicy.logs.source import Source


def recognises(source: Source) -> bool:
    value = source.document_or_none
    return (
        isinstance(value, dict)
        and isinstance(value.get("messages"), list)
        and isinstance(value.get("response"), dict)
        and not {"kwargs", "cost", "latency_sec"}.isdisjoint(value)
    )


def read(source: Source) -> Iterator[Session]:
    """The messages sent, and the answer."""
    value = source.document
    response = value["response"]
    answer = [
        choice["message"] for choice in entries(response.get("choices"))[:1] if isinstance(choice.get("message"), dict)
    ]
    tools = value.get("tools") or mapping(value.get("kwargs")).get("tools")
    call = growing.Call(
        "openai-chat", value["messages"], answer, response.get("usage"), tools=tools, time=value.get("timestamp")
    )
    return growing.sessions("openhands-completions", source.name, [call])
