"""OpenAI Chat Completions messages, the legacy `function_call` form included."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from ctxpolicy.errors import TranscriptInvalid
from ctxpolicy.formats.shared import ANTHROPIC, Facts, as_text, call_of, having, kind_of, role_of
from ctxpolicy.messages import Call, Message

__all__ = ["NAME", "answer", "join", "read", "result", "say", "with_arguments", "with_text", "without"]

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
_NONE, _CALLS = having(()), having(("tool_call",))
_OFTEN = frozenset(("role", "content", "tool_call_id", "name", "tool_calls"))
_REASONING_TEXTS = ("reasoning_content", "reasoning")
_REASONING_FIELDS = (*_REASONING_TEXTS, "reasoning_details", "thinking_blocks")
_REASONING_PARTS = ("thinking", "redacted_thinking", "reasoning")


def read(wire: Any, index: int) -> tuple[Message, ...]:
    """The facts of one message: here each is one to the rules too. Raises TranscriptInvalid for what is not one."""
    role = role_of(wire, _ROLES, index)
    content = wire.get("content")
    if (type(content) is str or content is None) and wire.keys() <= _OFTEN:  # most messages: little to look into
        calls = tuple(_calls(wire, index)) if "tool_calls" in wire else ()
        has = _CALLS if calls else _NONE
        return (Message(wire, role, content or "", _name(wire), calls, _result_of(wire, role), has, (), (), index),)
    _refuse_others(wire, content, index)
    facts = Facts()
    _content(facts, content)
    for call in _calls(wire, index):
        facts.add(call)
    _fields(facts, wire)
    return (facts.message(wire, role, index, name=wire.get("name"), result_of=_result_of(wire, role)),)


def join(messages: Iterable[Message]) -> list[Any]:
    """The wire messages of a list: here each message is one."""
    return [message.wire for message in messages]


def _name(wire: dict[str, Any]) -> str | None:
    name = wire.get("name")
    return name if isinstance(name, str) else None


def _refuse_others(wire: dict[str, Any], content: Any, index: int) -> None:
    """Raise TranscriptInvalid for a message that another format's rules must keep together with its neighbours.

    This format is what is read where none is named: taken for texts, calls and results would be parted.
    """
    kinds = set(map(kind_of, content)) if isinstance(content, list) else set()
    other = "anthropic" if kinds & ANTHROPIC else "gemini" if "parts" in wire and content is None else None
    if other is not None:
        raise TranscriptInvalid(
            f"message {index} is of the format {other}, not of {NAME}: pass format={other!r}", index=index
        )


def _content(facts: Facts, content: Any) -> None:
    """Note text and media. What is not known here counts as its JSON text."""
    if isinstance(content, str):
        facts.texts.append(content)
        return
    for part in content if isinstance(content, list) else [content]:
        kind = kind_of(part)
        if part is None or isinstance(part, str):
            facts.texts.append(part or "")
        elif kind in _TEXT and isinstance(part.get("text"), str):
            facts.texts.append(part["text"])
        elif kind in _MEDIA:
            facts.piece(_MEDIA[kind])
        elif kind in _REASONING_PARTS:
            facts.other(part, "reasoning", *_signed([part]))
        else:
            facts.other(part)


def _fields(facts: Facts, wire: dict[str, Any]) -> None:
    """Note what stands beside the content."""
    for field in _REASONING_FIELDS:
        if wire.get(field):
            facts.other(wire[field], "reasoning", *_signed(wire[field]))
    if wire.get("refusal"):
        facts.other(wire["refusal"])
    if wire.get("audio"):
        facts.piece("audio")
    if wire.get("is_error") is True or wire.get("status") == "error":
        facts.has.add("error")


def _signed(blocks: Any) -> tuple[str, ...]:
    """("signed",) where a gateway passes on reasoning with its signature (LiteLLM, OpenRouter)."""
    given = blocks if isinstance(blocks, list) else ()
    return ("signed",) if any(isinstance(b, dict) and (b.get("signature") or b.get("data")) for b in given) else ()


def _calls(wire: dict[str, Any], index: int) -> Iterator[Call]:
    calls = wire.get("tool_calls")
    if calls is not None and not isinstance(calls, list):
        raise TranscriptInvalid(f"message {index}: `tool_calls` is not a list", index=index)
    for call in calls or ():
        yield _call(call, index)
    legacy = wire.get("function_call")
    if isinstance(legacy, dict):
        name = str(legacy.get("name"))
        yield Call(_legacy_id(name), name, as_text(legacy.get("arguments")))


def _call(call: Any, index: int) -> Call:
    if not isinstance(call, dict):
        raise TranscriptInvalid(f"message {index}: an entry of `tool_calls` is not an object", index=index)
    body = call.get("function") or call.get("custom") or call
    if not isinstance(body, dict):
        raise TranscriptInvalid(f"message {index}: the `function` of a tool call is not an object", index=index)
    return call_of(call.get("id"), body.get("name"), body.get("arguments", body.get("input")))


def _result_of(wire: dict[str, Any], role: str) -> str | None:
    """The id this message answers; a legacy function result answers the nearest call of its name."""
    if role != "tool":
        return None
    call_id = wire.get("tool_call_id")
    return str(call_id) if call_id is not None else _legacy_id(str(wire.get("name")))


def _legacy_id(name: str) -> str:
    return f"function:{name}"


def say(text: str) -> dict[str, Any]:
    """A user message."""
    return {"role": "user", "content": text}


def answer(message: Message, text: str) -> dict[str, Any]:
    """A short tool result in place of this one."""
    keys = ("role", "tool_call_id", "name")
    return {**{key: message.wire[key] for key in keys if key in message.wire}, "content": text}


def result(message: Message, call: Call, text: str) -> dict[str, Any]:
    """A tool result for a call of the message."""
    if message.wire.get("function_call") is not None and call.id == _legacy_id(call.tool):
        return {"role": "function", "name": call.tool, "content": text}
    return {"role": "tool", "tool_call_id": call.id, "content": text}


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
        if plain or kind_of(part) in _TEXT:
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
    """A copy whose reasoning in text fields, or each piece of its media, is replaced by a note.

    Reasoning in parts and in lists of details stays where there is a note: it may be signed, and has no place for one.
    """
    out = dict(wire)
    if "reasoning" in parts and note:
        out |= {key: note for key in _REASONING_TEXTS if isinstance(wire.get(key), str) and wire[key]}
    elif "reasoning" in parts:
        out = _without_reasoning(out)
    content = out.get("content")
    if "media" in parts and isinstance(content, list):
        out["content"] = [{"type": "text", "text": note} if _is_media(part) else part for part in content]
    return out


def _without_reasoning(wire: dict[str, Any]) -> dict[str, Any]:
    out = {key: value for key, value in wire.items() if key not in _REASONING_FIELDS}
    if isinstance(wire.get("content"), list):
        out["content"] = [p for p in wire["content"] if kind_of(p) not in _REASONING_PARTS]
    return out


def _is_media(part: Any) -> bool:
    return kind_of(part) in _MEDIA
