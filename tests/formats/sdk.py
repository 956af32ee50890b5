"""The providers' own Python packages as judges: does a list construct as their request type?"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import pytest


@cache
def judge(name: str) -> Callable[[list[Any]], None]:
    """A function that raises for a list which the provider's package does not take; skips where it is missing."""
    pydantic = pytest.importorskip("pydantic")
    if name == "gemini":
        types = pytest.importorskip("google.genai.types")
        return lambda messages: [types.Content.model_validate(message) for message in messages] and None
    if name == "anthropic":
        shape = list[pytest.importorskip("anthropic.types").MessageParam]  # type: ignore[misc]
    elif name == "openai-responses":
        shape = pytest.importorskip("openai.types.responses.response_input_param").ResponseInputParam
    else:
        shape = list[pytest.importorskip("openai.types.chat").ChatCompletionMessageParam]  # type: ignore[misc]
    adapter = pydantic.TypeAdapter(shape)
    return lambda messages: _exhaust(adapter.validate_python(messages))


def _exhaust(value: Any) -> None:
    """pydantic judges an Iterable only while it is read."""
    if isinstance(value, dict):
        for inner in value.values():
            _exhaust(inner)
    elif not isinstance(value, str | bytes) and hasattr(value, "__iter__"):
        for inner in value:
            _exhaust(inner)
