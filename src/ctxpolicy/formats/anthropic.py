"""Anthropic Messages: content blocks; tool results stand in user messages, `system` outside the list.

Neighbouring assistant messages are one turn, as the API merges them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from ctxpolicy.formats.shared import Facts, as_object, as_parts, as_text, join, kind_of, role_of, with_blocks
from ctxpolicy.messages import Call, Message

__all__ = ["NAME", "answer", "join", "read", "result", "say", "with_arguments", "with_text", "without"]

NAME = "anthropic"

_ROLES = {"user": "user", "assistant": "assistant", "system": "system"}  # system: the mid-conversation beta
_REASONING = ("thinking", "redacted_thinking")
_MEDIA = ("image", "document")
_KNOWN = ("text", "tool_use", *_REASONING, *_MEDIA)


def read(wire: Any, index: int) -> tuple[Message, ...]:
    """The facts of one message: each tool result is one to the rules, and what else a user message says is another.

    Raises TranscriptInvalid for what is no message.
    """
    role = role_of(wire, _ROLES, index)
    content = wire.get("content")
    if type(content) is str:
        return (Message(wire, role, content, index=index, follows=role == "assistant"),)
    blocks = content if isinstance(content, list) else [] if content is None else [content]
    if role == "assistant":
        return _read_turn(wire, blocks, index)
    if role == "user" and any(map(_is_result, blocks)):
        return _read_results(wire, blocks, index)
    return (_read_words(wire, role, blocks, index),)


def _is_result(block: Any) -> bool:
    return kind_of(block) == "tool_result"


def _read_results(wire: dict[str, Any], blocks: list[Any], index: int) -> tuple[Message, ...]:
    if len(blocks) == 1:
        return (_read_result(wire, blocks[0], index),)
    parts: list[Message] = []
    words: list[Any] = []
    for block in [*blocks, None]:
        if words and (block is None or _is_result(block)):
            parts.append(_read_words({**wire, "content": words}, "user", words, index))
            words = []
        if _is_result(block):
            parts.append(_read_result({**wire, "content": [block]}, block, index))
        elif block is not None:
            words.append(block)
    return as_parts(wire, parts)


def _read_result(wire: dict[str, Any], block: dict[str, Any], index: int) -> Message:
    content, result_of = block.get("content"), as_text(block.get("tool_use_id"))
    if type(content) is str and not block.get("is_error"):  # most results
        return Message(wire, "tool", content, result_of=result_of, index=index)
    facts = Facts()
    for piece in content if isinstance(content, list) else [content]:
        _block(facts, piece)
    if block.get("is_error") is True:
        facts.has.add("error")
    return facts.message(wire, "tool", index, result_of=result_of)


def _read_words(wire: dict[str, Any], role: str, blocks: Iterable[Any], index: int) -> Message:
    facts = Facts()
    for block in blocks:
        _block(facts, block)
    return facts.message(wire, role, index)


def _read_turn(wire: dict[str, Any], blocks: list[Any], index: int) -> tuple[Message, ...]:
    """An assistant message: one, unless it holds the late results of several server tools that an earlier one used."""
    facts = Facts()
    opened: dict[str, dict[str, Any]] = {}  # server tool uses whose result does not stand in this message
    late: list[int] = []
    for n, block in enumerate(blocks):
        kind = _block(facts, block)
        if kind is None or kind in _KNOWN:
            continue
        if kind.endswith("_tool_use"):
            opened[as_text(block.get("id"))] = block
        elif kind.endswith("_tool_result") and opened.pop(as_text(block.get("tool_use_id")), None) is None:
            late.append(n)
    if len(late) > 1:
        return _read_pieces(wire, blocks, late, index)
    for call_id, block in opened.items():
        facts.call(call_id, block.get("name"), "")
    answers = as_text(blocks[late[0]].get("tool_use_id")) if late else None
    return (facts.message(wire, "assistant", index, result_of=answers, follows=True),)


def _read_pieces(wire: dict[str, Any], blocks: list[Any], late: list[int], index: int) -> tuple[Message, ...]:
    """Each late result as a message of its own, with what follows it: a message answers one call."""
    starts = [0, *late[1:]]
    pieces = [blocks[start:stop] for start, stop in zip(starts, [*late[1:], None], strict=True)]
    return as_parts(wire, [m for piece in pieces for m in _read_turn({**wire, "content": piece}, piece, index)])


def _block(facts: Facts, block: Any) -> str | None:
    """Note one block and give its type. What is not known here counts as its JSON text."""
    if block is None or isinstance(block, str):
        facts.texts.append(block or "")
        return None
    kind = kind_of(block)
    if kind == "text" and isinstance(block.get("text"), str):
        facts.texts.append(block["text"])
        if block.get("citations"):
            facts.other(block["citations"])
    elif kind == "tool_use":
        facts.call(block.get("id"), block.get("name"), block.get("input"))
    elif kind in _MEDIA:
        _media(facts, block, kind)
    elif kind in _REASONING:
        facts.other(block, "reasoning", *(("signed",) if block.get("signature") or block.get("data") else ()))
    else:
        facts.other(block)
    return kind


def _media(facts: Facts, block: dict[str, Any], kind: str) -> None:
    """A picture or document; a document that is text counts as that text."""
    source = block.get("source")
    if kind == "document" and kind_of(source) in ("text", "content"):
        facts.other(source, "file")
    else:
        facts.piece("image" if kind == "image" else "file")


def say(text: str) -> dict[str, Any]:
    """A user message."""
    return {"role": "user", "content": text}


def answer(message: Message, text: str) -> dict[str, Any]:
    """A short tool result in place of this one."""
    return {"role": "user", "content": [{"type": "tool_result", "tool_use_id": message.result_of, "content": text}]}


def result(message: Message, call: Call, text: str) -> dict[str, Any]:
    """A tool result for a call of the message."""
    return {"role": "user", "content": [{"type": "tool_result", "tool_use_id": call.id, "content": text}]}


def with_text(wire: dict[str, Any], text: str) -> dict[str, Any]:
    """A copy that says `text`: the first text block takes it and the others go; a tool result's own content does."""
    content = wire.get("content")
    if not isinstance(content, list):
        return {**wire, "content": text}
    if len(content) == 1 and _is_result(content[0]):
        return {**wire, "content": [{**content[0], "content": _swap_text(content[0].get("content"), text)}]}
    return {**wire, "content": _swap_text(content, text)}


def _swap_text(content: Any, text: str) -> Any:
    if not isinstance(content, list):
        return text
    swapped: list[Any] = []
    said = False
    for block in content:
        if isinstance(block, str) or kind_of(block) == "text":
            if not said:
                swapped.append({**_uncited(block), "type": "text", "text": text})
            said = True
        else:
            swapped.append(block)
    return swapped if said else [{"type": "text", "text": text}, *swapped]


def _uncited(block: Any) -> dict[str, Any]:
    """The fields of a text block but its citations, which point into the text."""
    return {k: v for k, v in block.items() if k != "citations"} if isinstance(block, dict) else {}


def with_arguments(wire: dict[str, Any], arguments: Sequence[str]) -> dict[str, Any]:
    """A copy whose tool uses have these inputs; those of the provider's own tools stay."""
    rest = iter(arguments)
    content = [
        {**block, "input": as_object(next(rest), "input")} if kind_of(block) == "tool_use" else block
        for block in wire["content"]
    ]
    return {**wire, "content": content}


def without(wire: dict[str, Any], parts: frozenset[str], note: str) -> dict[str, Any]:
    """A copy with its thinking, or each piece of media, replaced by a text block saying `note`.

    A message that is nothing but thinking stays: it would be empty.
    """
    content = wire.get("content")
    if not isinstance(content, list):
        return wire
    return with_blocks(wire, "content", list(_drop(content, parts, note)))


def _drop(blocks: Iterable[Any], parts: frozenset[str], note: str) -> Iterable[Any]:
    noted = not note
    for block in blocks:
        kind = kind_of(block)
        if "reasoning" in parts and kind in _REASONING:
            if not noted:
                yield {"type": "text", "text": note}
            noted = True
            continue
        if "media" in parts and kind in _MEDIA:
            yield {"type": "text", "text": note}
        elif "media" in parts and kind == "tool_result" and isinstance(block.get("content"), list):
            yield with_blocks(block, "content", list(_drop(block["content"], parts, note)))
        else:
            yield block
