"""OpenAI Responses: a list of items. One assistant turn is several: its reasoning, its words, each of its calls."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from ctxpolicy.errors import TranscriptInvalid
from ctxpolicy.formats.shared import Facts, as_text, join, kind_of, role_of
from ctxpolicy.messages import Call, Message

__all__ = ["NAME", "answer", "join", "read", "result", "say", "with_arguments", "with_text", "without"]

NAME = "openai-responses"

_ROLES = {role: role for role in ("system", "developer", "user", "assistant")}
_TEXT = ("input_text", "output_text", "text")
_MEDIA = {"input_image": "image", "computer_screenshot": "image", "input_audio": "audio", "input_file": "file"}
_ARGUMENTS = {"function_call": "arguments", "custom_tool_call": "input"}  # those that may be written anew
_OUTPUTS = {"mcp_approval_request": "mcp_approval_response", "tool_search_call": "tool_search_output"}
_NOTHING_SEEN = (  # a picture of one white pixel
    "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR42mP4DwABAQEAHLCMmQAAAABJRU5ErkJggg=="
)
_STANDS_ALONE = ("compaction", "context_compaction", "compaction_summary")


def read(wire: Any, index: int) -> tuple[Message, ...]:
    """The facts of one item, which is one message to the rules. Raises TranscriptInvalid for what is no item."""
    if type(wire) is not dict or wire.get("type", "message") == "message":
        role = role_of(wire, _ROLES, index)
        content = wire.get("content")
        if type(content) is str:
            return (Message(wire, role, content, index=index, follows=role == "assistant"),)
        facts = Facts()
        _content(facts, content)
        return (facts.message(wire, role, index, follows=role == "assistant"),)
    kind = wire["type"]
    if not isinstance(kind, str):
        raise TranscriptInvalid(f"message {index} has the type {kind!r}, not the name of an item type", index=index)
    return (_read_item(wire, kind, index),)


def _read_item(wire: dict[str, Any], kind: str, index: int) -> Message:
    answers = _answers(wire, kind)
    failed = wire.get("status") in ("failed", "incomplete")
    if answers is not None and not failed and type(wire.get("output")) is str:  # most results
        return Message(wire, "tool", wire["output"], result_of=answers, index=index)
    facts = Facts()
    if answers is not None:
        if kind == "mcp_approval_response":
            facts.other(wire)
        else:
            _content(facts, wire.get("output"))
        if failed:
            facts.has.add("error")
        return facts.message(wire, "tool", index, result_of=answers)
    if _is_call(wire, kind):
        arguments = wire.get(_ARGUMENTS.get(kind, ""), wire.get("action", wire.get("operation", wire.get("arguments"))))
        facts.call(wire.get("call_id", wire.get("id")), wire.get("name", kind.removesuffix("_call")), arguments)
    else:
        facts.other(wire, *(("reasoning",) if kind == "reasoning" else ()))
    return facts.message(wire, "assistant", index, follows=kind not in _STANDS_ALONE)


def _answers(wire: dict[str, Any], kind: str) -> str | None:
    """The id of the call that this item answers."""
    if kind == "mcp_approval_response":
        return as_text(wire.get("approval_request_id"))
    if kind.endswith("_output"):
        return as_text(wire.get("call_id", wire.get("id")))
    return None


def _is_call(wire: dict[str, Any], kind: str) -> bool:
    """True for a call that the client answers. The provider's own calls hold their results, or need none."""
    return kind in ("mcp_approval_request", "local_shell_call") or (kind.endswith("_call") and "call_id" in wire)


def _content(facts: Facts, content: Any) -> None:
    """Note what an item says. What is not known here counts as its JSON text."""
    for part in content if isinstance(content, list) else [content]:
        kind = kind_of(part)
        if part is None or isinstance(part, str):
            facts.texts.append(part or "")
        elif kind in _TEXT and isinstance(part.get("text"), str):
            facts.texts.append(part["text"])
            if part.get("annotations"):
                facts.other(part["annotations"])
        elif kind in _MEDIA:
            facts.piece(_MEDIA[kind])
        elif _is_stream(part):
            facts.texts += [part["stdout"], part["stderr"]]
        else:
            facts.other(part)


def _is_stream(part: Any) -> bool:
    """True for what a command of the shell tool printed."""
    return isinstance(part, dict) and isinstance(part.get("stdout"), str) and isinstance(part.get("stderr"), str)


def say(text: str) -> dict[str, Any]:
    """A user message."""
    return {"type": "message", "role": "user", "content": text}


def answer(message: Message, text: str) -> dict[str, Any]:
    """A short tool result in place of this one."""
    return _output(message.wire["type"], message.result_of, text)


def result(message: Message, call: Call, text: str) -> dict[str, Any]:
    """A tool result for a call of the message."""
    kind = message.wire["type"]
    return _output(_OUTPUTS.get(kind, f"{kind}_output"), call.id, text)


def _output(kind: str, call_id: str | None, text: str) -> dict[str, Any]:
    """An output of that type; those of built-in tools have forms of their own."""
    if kind == "mcp_approval_response":
        return {"type": kind, "approval_request_id": call_id, "approve": False, "reason": text}
    more: dict[str, Any] = {"output": text}
    if kind == "shell_call_output":
        more = {"output": [{"stdout": "", "stderr": text, "outcome": {"type": "exit", "exit_code": 1}}]}
    elif kind == "computer_call_output":  # has no place for words
        more = {"output": {"type": "computer_screenshot", "image_url": _NOTHING_SEEN}}
    elif kind == "local_shell_call_output":  # the guide names the call by `call_id`, the reference by `id`
        more |= {"id": call_id}
    elif kind == "apply_patch_call_output":
        more = {"status": "failed", "output": text}
    elif kind == "tool_search_output":
        more = {"execution": "client", "tools": []}
    return {"type": kind, "call_id": call_id, **more}


def with_text(wire: dict[str, Any], text: str) -> dict[str, Any]:
    """A copy that says `text`: the first text part, or first output of a shell, takes it and the others go.

    An output of another fixed form stays.
    """
    key = "output" if "output" in wire else "content"
    content = wire.get(key)
    if content is None or isinstance(content, str):
        return {**wire, key: text}
    if isinstance(content, list) and content and all(map(_is_stream, content)):
        return {**wire, key: [{**part, "stdout": "" if n else text, "stderr": ""} for n, part in enumerate(content)]}
    if not _is_content(content):
        return wire
    kind = "output_text" if wire.get("role") == "assistant" else "input_text"
    return {**wire, key: list(_swap(content, text, kind))}


def _is_content(value: Any) -> bool:
    """True for a list of content parts, False for the outputs of built-in tools."""
    known = (*_TEXT, *_MEDIA, "refusal")
    return isinstance(value, list) and all(kind_of(p) in known for p in value)


def _swap(parts: Iterable[dict[str, Any]], text: str, kind: str) -> Iterable[dict[str, Any]]:
    said = False
    for part in parts:
        if part.get("type") in _TEXT:
            if not said:
                yield {**part, "text": text, **({"annotations": []} if "annotations" in part else {})}
            said = True
        else:
            yield part
    if not said:
        yield {"type": kind, "text": text, **({"annotations": []} if kind == "output_text" else {})}


def with_arguments(wire: dict[str, Any], arguments: Sequence[str]) -> dict[str, Any]:
    """A copy whose call has these arguments. A call of a fixed form (shell, computer) stays."""
    key = _ARGUMENTS.get(wire["type"])
    return wire if key is None else {**wire, key: arguments[0]}


def without(wire: dict[str, Any], parts: frozenset[str], note: str) -> dict[str, Any]:
    """A copy with each piece of media replaced by a text part saying `note`. Reasoning, an item by itself, stays."""
    key = "output" if "output" in wire else "content"
    content = wire.get(key)
    if "media" not in parts or not _is_content(content):
        return wire
    kind = "output_text" if wire.get("role") == "assistant" else "input_text"
    text = {"type": kind, "text": note}
    return {**wire, key: _each(content, lambda part: text if part.get("type") in _MEDIA else part)}


def _each(parts: Any, change: Callable[[Any], Any]) -> list[Any]:
    return [change(part) for part in parts]
