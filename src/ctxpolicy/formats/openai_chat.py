"""OpenAI Chat Completions messages, the legacy `function_call` form included."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

from ctxpolicy.errors import TranscriptInvalid
from ctxpolicy.messages import Call, Message

NAME = "openai-chat"

_ROLES = {r: r for r in ("system", "developer", "user", "assistant", "tool")} | {"function": "tool"}
_TEXT = frozenset(("text", "input_text", "output_text"))
_MEDIA = {
    "image_url": "image",
    "input_image": "image",
    "image": "image",
    "input_audio": "audio",
    "audio": "audio",
    "file": "file",
    "input_file": "file",
    "document": "file",
}
_REASONING_FIELDS = ("reasoning_content", "reasoning", "reasoning_details", "thinking_blocks")
_NONE: frozenset[str] = frozenset()


def read(wire: Any, index: int) -> tuple[Message, ...]:
    """The facts of one message: here each is one to the rules too. Raises TranscriptInvalid for what is not one."""
    if type(wire) is not dict:
        raise TranscriptInvalid(_not_a_message(wire, index), index=index)
    given = wire.get("role")
    role = _ROLES.get(given) if isinstance(given, str) else None
    if role is None:
        known = ", ".join(_ROLES)
        raise TranscriptInvalid(f"message {index} has role {given!r}; known roles are {known}", index=index)
    content = wire.get("content")
    if len(wire) == 2 and type(content) is str:  # most messages
        return (Message(wire, role, content, index=index),)
    return (_read_whole(wire, role, content, index),)


def join(messages: Iterable[Message]) -> list[Any]:
    """The wire messages of a list."""
    return [message.wire for message in messages]


def _read_whole(wire: dict[str, Any], role: str, content: Any, index: int) -> Message:
    text, media, extra, has = _read_content(content)
    calls = _read_calls(wire, index)
    if calls:
        has.add("tool_call")
    for field in _REASONING_FIELDS:
        if wire.get(field):
            has.add("reasoning")
            extra.append(_as_text(wire[field]))
    if wire.get("refusal"):
        extra.append(_as_text(wire["refusal"]))
    if wire.get("audio"):
        has.add("audio")
        media["audio"] = media.get("audio", 0) + 1
    if wire.get("is_error") is True or wire.get("status") == "error":
        has.add("error")
    name = wire.get("name")
    return Message(
        wire,
        role,
        text,
        name if isinstance(name, str) else None,
        calls,
        _result_of(wire, role),
        frozenset(has) if has else _NONE,
        tuple(media.items()),
        tuple(extra),
        index,
    )


def _read_content(content: Any) -> tuple[str, dict[str, int], list[str], set[str]]:
    """Text joined, media counted by kind, other text that is sent, and what the message has."""
    media: dict[str, int] = {}
    extra: list[str] = []
    has: set[str] = set()
    if content is None or isinstance(content, str):
        return content or "", media, extra, has
    texts: list[str] = []
    for part in content if isinstance(content, list) else [content]:
        kind = part.get("type") if isinstance(part, dict) else None
        if isinstance(part, str):
            texts.append(part)
        elif kind in _TEXT and isinstance(part.get("text"), str):
            texts.append(part["text"])
        elif kind in _MEDIA:
            has.add(_MEDIA[kind])
            media[_MEDIA[kind]] = media.get(_MEDIA[kind], 0) + 1
        else:
            if kind in ("thinking", "redacted_thinking", "reasoning"):
                has.add("reasoning")
            extra.append(_as_text(part))
    return "".join(texts), media, extra, has


def _read_calls(wire: dict[str, Any], index: int) -> tuple[Call, ...]:
    calls = [_read_call(c, index) for c in _listed(wire.get("tool_calls"), index)]
    legacy = wire.get("function_call")
    if isinstance(legacy, dict):
        name = str(legacy.get("name"))
        calls.append(Call(_legacy_id(name), name, _as_text(legacy.get("arguments"))))
    return tuple(calls)


def _listed(calls: Any, index: int) -> list[Any]:
    if calls is None:
        return []
    if not isinstance(calls, list):
        raise TranscriptInvalid(f"message {index}: `tool_calls` is not a list", index=index)
    return calls


def _read_call(call: Any, index: int) -> Call:
    if not isinstance(call, dict):
        raise TranscriptInvalid(f"message {index}: an entry of `tool_calls` is not an object", index=index)
    body = call.get("function") or call.get("custom") or call
    if not isinstance(body, dict):
        raise TranscriptInvalid(f"message {index}: the `function` of a tool call is not an object", index=index)
    call_id = call.get("id")
    arguments = body.get("arguments", body.get("input"))
    return Call(None if call_id is None else str(call_id), str(body.get("name")), _as_text(arguments))


def _result_of(wire: dict[str, Any], role: str) -> str | None:
    """The id this message answers; a legacy function result answers the nearest call of its name."""
    if role != "tool":
        return None
    call_id = wire.get("tool_call_id")
    return str(call_id) if call_id is not None else _legacy_id(str(wire.get("name")))


def _legacy_id(name: str) -> str:
    return f"function:{name}"


def _as_text(value: Any) -> str:
    if value is None or isinstance(value, str):
        return value or ""
    return json.dumps(value, ensure_ascii=False, default=str)


def _not_a_message(wire: Any, index: int) -> str:
    hint = ": pass message.model_dump(exclude_none=True)" if hasattr(wire, "model_dump") else ""
    return f"message {index} is a {type(wire).__name__}, not a dict with a role{hint}"


def say(text: str) -> dict[str, Any]:
    """A user message."""
    return {"role": "user", "content": text}


def answer(call_id: str, text: str) -> dict[str, Any]:
    """A tool result."""
    if call_id.startswith("function:"):
        return {"role": "function", "name": call_id.removeprefix("function:"), "content": text}
    return {"role": "tool", "tool_call_id": call_id, "content": text}


def with_text(wire: dict[str, Any], text: str) -> dict[str, Any]:
    """A copy that says `text`: in list content the first text part takes it and the other text parts go."""
    content = wire.get("content")
    if not isinstance(content, list):
        return {**wire, "content": text}
    return {**wire, "content": list(_swap_text(content, text))}


def _swap_text(parts: Iterable[Any], text: str) -> Iterable[Any]:
    said = False
    for part in parts:
        plain = isinstance(part, str)
        if plain or (isinstance(part, dict) and part.get("type") in _TEXT):
            if not said:
                yield text if plain else {**part, "text": text}
            said = True
        else:
            yield part
    if not said:
        yield {"type": "text", "text": text}


def with_arguments(wire: dict[str, Any], arguments: Sequence[str]) -> dict[str, Any]:
    """A copy whose calls have these arguments, the legacy call last."""
    out = dict(wire)
    rest = list(arguments)
    if wire.get("tool_calls"):
        out["tool_calls"] = [_with_argument(c, rest.pop(0)) for c in wire["tool_calls"]]
    if isinstance(wire.get("function_call"), dict):
        out["function_call"] = {**wire["function_call"], "arguments": rest.pop(0)}
    return out


def _with_argument(call: dict[str, Any], arguments: str) -> dict[str, Any]:
    key = next((k for k in ("function", "custom") if isinstance(call.get(k), dict)), None)
    if key is None:
        return {**call, "arguments": arguments}
    field = "arguments" if "arguments" in call[key] or key == "function" else "input"
    return {**call, key: {**call[key], field: arguments}}


def without(wire: dict[str, Any], parts: frozenset[str], note: str) -> dict[str, Any]:
    """A copy without its reasoning fields and parts, or with each piece of media replaced by a note."""
    out = {k: v for k, v in wire.items() if "reasoning" not in parts or k not in _REASONING_FIELDS}
    content = wire.get("content")
    if isinstance(content, list):
        out["content"] = list(_drop_parts(content, parts, note))
    return out


def _drop_parts(content: Iterable[Any], parts: frozenset[str], note: str) -> Iterable[Any]:
    for part in content:
        kind = part.get("type") if isinstance(part, dict) else None
        if "reasoning" in parts and kind in ("thinking", "redacted_thinking", "reasoning"):
            continue
        if "media" in parts and kind in _MEDIA:
            yield {"type": "text", "text": note}
        else:
            yield part
