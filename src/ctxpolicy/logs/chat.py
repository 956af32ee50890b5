"""What the readers that give OpenAI Chat messages have in common."""

from __future__ import annotations

import re
from typing import Any

from ctxpolicy.formats.shared import as_text
from ctxpolicy.logs.model import amount, mapping

_NOT_IN_A_NAME = re.compile(r"[^a-zA-Z0-9_-]+")  # the API takes these in the name of a speaker


def call(call_id: Any, name: Any, arguments: Any) -> dict[str, Any]:
    """A tool call; arguments that are no text become one."""
    text = arguments if isinstance(arguments, str) else as_text({} if arguments is None else arguments)
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": text}}


def result(call_id: Any, content: Any, *, name: Any = None, error: bool = False) -> dict[str, Any]:
    """A tool result."""
    message = {
        "role": "tool",
        "tool_call_id": call_id,
        "content": content if isinstance(content, list) else as_text(content),
    }
    if name:
        message["name"] = name
    return {**message, "is_error": True} if error else message


def assistant(content: Any, calls: list[dict[str, Any]], reasoning: Any = None) -> dict[str, Any]:
    """What the model said; `tool_calls` and `reasoning_content` only where there are any."""
    message: dict[str, Any] = {"role": "assistant", "content": content}
    if reasoning:
        message["reasoning_content"] = reasoning
    if calls:
        message["tool_calls"] = calls
    return message


def speaker(name: Any) -> str:
    """The name of a speaker as the API takes it."""
    return _NOT_IN_A_NAME.sub("_", str(name)).strip("_")


def usage(used: Any) -> tuple[int | None, int, int, int]:
    """Input, output, cached and written tokens of a usage record of any provider's; None where it tells no input."""
    if not isinstance(used, dict):
        return None, 0, 0, 0
    sent = _first(used, "prompt_tokens", "input_tokens", "inputTokens", "promptTokenCount")
    got = _first(used, "completion_tokens", "output_tokens", "outputTokens", "candidatesTokenCount")
    details = mapping(_first(used, "prompt_tokens_details", "input_tokens_details", "input_token_details"))
    within = amount(
        _first(details, "cached_tokens", "cache_read")
        or _first(used, "cachedContentTokenCount", "input_tokens_cache_read")
    )
    beside = amount(_first(used, "cache_read_input_tokens", "cacheReadInputTokens"))
    written = amount(_first(used, "cache_creation_input_tokens", "cacheWriteInputTokens"))
    apart = beside + written if "input_tokens" in used or "inputTokens" in used else 0  # Anthropic, Bedrock
    output = amount(got) + amount(used.get("thoughtsTokenCount"))
    return None if sent is None else amount(sent) + apart, output, within or beside, written


def _first(values: dict[str, Any], *keys: str) -> Any:
    return next((values[key] for key in keys if values.get(key) is not None), None)
