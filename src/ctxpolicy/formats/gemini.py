"""Gemini contents: parts under `user` and `model`; `systemInstruction` stands outside the list.

Calls are answered by name and place, ids are rare: so a call's id is its name, and the n-th response of a name answers
the n-th call of that name in the turn. Neighbouring model contents are one turn, as the API sees them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from ctxpolicy.errors import TranscriptInvalid
from ctxpolicy.formats.shared import Facts, as_object, as_parts, as_text, join, media_kind, role_of, with_blocks
from ctxpolicy.messages import Call, Message

__all__ = ["NAME", "answer", "join", "read", "result", "say", "with_arguments", "with_text", "without"]

NAME = "gemini"

_ROLES = {"user": "user", "model": "assistant", "function": "user", "system": "system"}
# The API writes camelCase, the Python SDK takes snake_case too.
_CALL = ("functionCall", "function_call")
_RESPONSE = ("functionResponse", "function_response")
_INLINE = ("inlineData", "inline_data", "fileData", "file_data")
_SIGNATURE = ("thoughtSignature", "thought_signature")


def read(wire: Any, index: int) -> tuple[Message, ...]:
    """The facts of one content: each function response is a message to the rules, and what else it says is another.

    Raises TranscriptInvalid for what is no content.
    """
    role = role_of(wire, _ROLES, index, "user")
    parts = wire.get("parts")
    if not isinstance(parts, list):
        raise TranscriptInvalid(f"message {index} has no list of `parts`, as a Gemini content must", index=index)
    if len(parts) == 1:  # most contents
        (part,) = parts
        if type(part) is dict and len(part) == 1 and type(part.get("text")) is str:
            return (Message(wire, role, part["text"], index=index, follows=role == "assistant"),)
        if role == "user" and (key := _field(part, _RESPONSE)) is not None:
            return (_read_response(wire, part[key], index),)
    elif role == "user" and any(_field(part, _RESPONSE) for part in parts):
        return _read_responses(wire, parts, index)
    return (_read_words(wire, role, parts, index),)


def _field(part: Any, names: Iterable[str]) -> str | None:
    """Under which of these names a part holds an object."""
    if isinstance(part, dict):
        for name in names:
            if isinstance(part.get(name), dict):
                return name
    return None


def _read_responses(wire: dict[str, Any], parts: list[Any], index: int) -> tuple[Message, ...]:
    found: list[Message] = []
    words: list[Any] = []
    for part in [*parts, None]:
        key = _field(part, _RESPONSE)
        if words and (part is None or key is not None):
            found.append(_read_words({**wire, "parts": words}, "user", words, index))
            words = []
        if key is not None:
            found.append(_read_response({**wire, "parts": [part]}, part[key], index))
        elif part is not None:
            words.append(part)
    return as_parts(wire, found)


def _read_response(wire: dict[str, Any], body: Any, index: int) -> Message:
    name, response = as_text(body.get("name")), body.get("response")
    key = _only_text(response)
    text = as_text(response if key is None else response[key])
    if key is not None and key != "error" and "parts" not in body:  # most responses
        return Message(wire, "tool", text, name, result_of=name, index=index)
    facts = Facts()
    facts.texts.append(text)
    for piece in body.get("parts") or ():
        _part(facts, piece)
    if isinstance(response, dict) and response.get("error"):
        facts.has.add("error")
    return facts.message(wire, "tool", index, name=name, result_of=name)


def _only_text(response: Any) -> str | None:
    """The key of a response that is one text ({"result": "..."}): then that is what it says."""
    if not isinstance(response, dict) or len(response) != 1:
        return None
    ((key, value),) = response.items()
    return key if isinstance(value, str) else None


def _read_words(wire: dict[str, Any], role: str, parts: Iterable[Any], index: int) -> Message:
    facts = Facts()
    for part in parts:
        if type(part) is dict and len(part) == 1 and type(part.get("text")) is str:  # most words
            facts.texts.append(part["text"])
        elif (key := _field(part, _CALL)) is not None:
            name = as_text(part[key].get("name"))
            facts.call(name, name, part[key].get("args") or {})
            _signature(facts, part)
        else:
            _part(facts, part)
    return facts.message(wire, role, index, follows=role == "assistant")


def _part(facts: Facts, part: Any) -> None:
    """Note one part that is no call. What is not known here counts as its JSON text."""
    if isinstance(part, str):
        facts.texts.append(part)
    elif isinstance(part, dict) and part.get("thought"):
        facts.other(part, "reasoning")
    elif isinstance(part, dict) and isinstance(part.get("text"), str):
        facts.texts.append(part["text"])
        _signature(facts, part)
    elif (key := _field(part, _INLINE)) is not None:
        facts.piece(media_kind(part[key].get("mimeType", part[key].get("mime_type"))))
    else:
        facts.other(part)


def _signature(facts: Facts, part: dict[str, Any]) -> None:
    for name in _SIGNATURE:
        if part.get(name):
            facts.other(part[name], "reasoning")


def say(text: str) -> dict[str, Any]:
    """A user content."""
    return {"role": "user", "parts": [{"text": text}]}


def answer(message: Message, text: str) -> dict[str, Any]:
    """A short function response in place of this one."""
    (part,) = message.wire["parts"]
    key = _field(part, _RESPONSE) or ""
    body = {k: v for k, v in part[key].items() if k != "parts"}
    return {**message.wire, "parts": [{key: {**body, "response": {"result": text}}}]}


def result(message: Message, call: Call, text: str) -> dict[str, Any]:
    """A tool result for a call of the message."""
    body: dict[str, Any] = {"name": call.tool, "response": {"error": text}}
    own = [part[key] for part in message.wire["parts"] if (key := _field(part, _CALL)) is not None]
    call_id = next((c["id"] for c, seen in zip(own, message.calls, strict=True) if seen is call and c.get("id")), None)
    return {"role": "user", "parts": [{"functionResponse": body if call_id is None else {"id": call_id, **body}}]}


def with_text(wire: dict[str, Any], text: str) -> dict[str, Any]:
    """A copy that says `text`: the first text part takes it and the others go; a function response stays an object."""
    swapped: list[Any] = []
    said = False
    for part in wire["parts"]:
        if (key := _field(part, _RESPONSE)) is not None:
            swapped.append({**part, key: {**part[key], "response": _response(part[key].get("response"), text)}})
            said = True
        elif isinstance(part, dict) and isinstance(part.get("text"), str) and not part.get("thought"):
            if not said:
                swapped.append({**part, "text": text})
            said = True
        else:
            swapped.append(part)
    return {**wire, "parts": swapped if said else [{"text": text}, *swapped]}


def _response(old: Any, text: str) -> dict[str, Any]:
    key = _only_text(old)
    return {key: text} if key is not None else as_object(text, "result")


def with_arguments(wire: dict[str, Any], arguments: Sequence[str]) -> dict[str, Any]:
    """A copy whose calls have these arguments."""
    rest = iter(arguments)
    parts = [
        {**part, key: {**part[key], "args": as_object(next(rest), "input")}}
        if (key := _field(part, _CALL)) is not None
        else part
        for part in wire["parts"]
    ]
    return {**wire, "parts": parts}


def without(wire: dict[str, Any], parts: frozenset[str], note: str) -> dict[str, Any]:
    """A copy with its thoughts, or each piece of media, replaced by a text part saying `note`.

    A signature belongs to the call or the words that it stands on, and stays: the API asks for those of the running
    turn. A content that is nothing but thoughts stays: it would be empty.
    """
    return with_blocks(wire, "parts", list(_drop(wire["parts"], parts, note)))


def _drop(given: Iterable[Any], parts: frozenset[str], note: str) -> Iterable[Any]:
    noted = not note
    for part in given:
        if "reasoning" in parts and isinstance(part, dict) and part.get("thought"):
            if not noted:
                yield {"text": note}
            noted = True
        elif "media" not in parts:
            yield part
        elif _field(part, _INLINE) is not None:
            yield {"text": note}
        elif (key := _field(part, _RESPONSE)) is not None and part[key].get("parts"):
            yield {**part, key: {k: v for k, v in part[key].items() if k != "parts"}}
        else:
            yield part
