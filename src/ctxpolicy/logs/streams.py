"""Streamed responses put together: the events of each API as the body that a call without streaming gives."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from ctxpolicy.logs.model import entries, mapping

_Event = dict[str, Any]


def chat(events: Iterable[_Event]) -> _Event:
    """OpenAI Chat Completions chunks."""
    message: _Event = {"role": "assistant", "content": None}
    calls: dict[int, _Event] = {}
    usage: Any = None
    told = False
    for event in events:
        usage = event.get("usage") or usage
        for choice in entries(event.get("choices"))[:1]:
            told = True
            delta = mapping(choice.get("delta"))
            for key in ("content", "reasoning_content", "reasoning", "refusal"):
                if isinstance(delta.get(key), str):
                    message[key] = (message.get(key) or "") + delta[key]
            for piece in entries(delta.get("tool_calls")):
                _grow_call(calls.setdefault(piece.get("index", 0), _new_call()), piece)
            if isinstance(delta.get("function_call"), dict):
                legacy = message.setdefault("function_call", {"name": "", "arguments": ""})
                for key in ("name", "arguments"):
                    legacy[key] += delta["function_call"].get(key) or ""
    if calls:
        message["tool_calls"] = [calls[index] for index in sorted(calls)]
    return {"choices": [{"message": message}] if told else [], "usage": usage}


def _new_call() -> _Event:
    return {"id": None, "type": "function", "function": {"name": "", "arguments": ""}}


def _grow_call(call: _Event, piece: _Event) -> None:
    call["id"] = piece.get("id") or call["id"]
    body = mapping(piece.get("function"))
    call["function"]["name"] += body.get("name") or ""
    call["function"]["arguments"] += body.get("arguments") or ""


_PIECES = {"text_delta": "text", "thinking_delta": "thinking", "signature_delta": "signature"}


def anthropic(events: Iterable[_Event]) -> _Event:
    """Anthropic Messages events."""
    blocks: dict[int, _Event] = {}
    inputs: dict[int, str] = {}
    usage: _Event = {}
    for event in events:
        kind, place = event.get("type"), event.get("index", 0)
        if kind == "message_start":
            usage.update(mapping(mapping(event.get("message")).get("usage")))
        elif kind == "content_block_start":
            blocks[place] = dict(mapping(event.get("content_block")))
        elif kind == "content_block_delta" and place in blocks:
            delta = mapping(event.get("delta"))
            name = _PIECES.get(str(delta.get("type")))
            if name:
                blocks[place][name] = (blocks[place].get(name) or "") + (delta.get(name) or "")
            elif delta.get("type") == "input_json_delta":
                inputs[place] = inputs.get(place, "") + (delta.get("partial_json") or "")
            elif delta.get("type") == "citations_delta":
                blocks[place]["citations"] = [*entries(blocks[place].get("citations")), delta.get("citation")]
        elif kind == "message_delta":
            usage.update({key: value for key, value in mapping(event.get("usage")).items() if value is not None})
    for place, text in inputs.items():
        blocks[place]["input"] = _object(text)
    return {"content": [blocks[place] for place in sorted(blocks)], "usage": usage}


def _object(text: str) -> Any:
    try:
        return json.loads(text or "{}")
    except ValueError:
        return text  # cut off: as it came


def responses(events: Iterable[_Event]) -> _Event:
    """OpenAI Responses events: the last holds the whole response; a stream cut off has its finished items."""
    items: list[Any] = []
    for event in events:
        if event.get("type") in ("response.completed", "response.incomplete", "response.failed"):
            whole = mapping(event.get("response"))
            return {**whole, "output": whole.get("output") or items}
        if event.get("type") == "response.output_item.done":
            items.append(event.get("item"))
    return {"output": items}


def gemini(events: Iterable[_Event]) -> _Event:
    """Gemini chunks: each is a response of its own with a part of the answer."""
    parts: list[Any] = []
    usage: Any = None
    for event in events:
        usage = event.get("usageMetadata") or usage
        for candidate in entries(event.get("candidates"))[:1]:
            parts += entries(mapping(candidate.get("content")).get("parts"))
    return {"candidates": [{"content": {"role": "model", "parts": parts}}], "usageMetadata": usage}
