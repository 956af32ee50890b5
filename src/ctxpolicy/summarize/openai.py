"""`openai:MODEL`: OpenAI, and every endpoint that speaks its Chat Completions (llama.cpp, vLLM, Ollama, gateways)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from ctxpolicy.summarize.request import SummaryReply, SummaryRequest

NAME = "openai"
CLIENT = "OpenAI"
HOME = "https://api.openai.com/v1"
_OWN_HOSTS = ("openai.com", "openai.azure.com")  # newer models there take the newer name of the limit only


def send(client: Any, model: str, request: SummaryRequest, home: str) -> Any:
    """The streaming response of one request."""
    own = (urlsplit(home).hostname or "").endswith(_OWN_HOSTS)
    limit = "max_completion_tokens" if own else "max_tokens"
    return client.chat.completions.with_streaming_response.create(
        model=model, messages=[{"role": "user", "content": request.prompt}], **{limit: request.max_tokens}
    )


def reply(answer: Mapping[str, Any]) -> SummaryReply:
    """The reply in the first choice. Raises LookupError or TypeError where there is none."""
    choice = answer["choices"][0]
    message = choice["message"]
    return SummaryReply(
        message.get("content"),
        choice.get("finish_reason"),
        message.get("reasoning_content"),
        message.get("tool_calls") or None,
        answer.get("usage"),
    )
