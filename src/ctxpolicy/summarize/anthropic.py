"""`anthropic:MODEL`: the Messages API of Anthropic, and of gateways that speak it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ctxpolicy.summarize.request import SummaryReply, SummaryRequest

NAME = "anthropic"
CLIENT = "Anthropic"
HOME = "https://api.anthropic.com"


def send(client: Any, model: str, request: SummaryRequest, home: str) -> Any:
    """The streaming response of one request."""
    return client.messages.with_streaming_response.create(
        model=model, messages=[{"role": "user", "content": request.prompt}], max_tokens=request.max_tokens
    )


def reply(answer: Mapping[str, Any]) -> SummaryReply:
    """The reply in the content blocks. Raises LookupError or TypeError where there are none."""
    blocks = [(block["type"], block) for block in answer["content"]]
    return SummaryReply(
        "".join(block["text"] for kind, block in blocks if kind == "text"),
        answer.get("stop_reason"),
        "".join(block["thinking"] for kind, block in blocks if kind == "thinking") or None,
        [block for kind, block in blocks if kind == "tool_use"] or None,
        answer.get("usage"),
    )
