"""What the Anthropic Messages API accepts."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

from ctxpolicy.formats.shared import as_text
from ctxpolicy.lint import anthropic_cache, anthropic_citations, anthropic_thinking
from ctxpolicy.lint.rule import Family, Fault, Level, Rule, Subject, blocks, is_blank

_NAME = re.compile(r"[a-zA-Z0-9_-]+")
_IN_RESULT = ("text", "image", "document", "search_result", "tool_reference")
_MOST_MESSAGES = 100_000
_MOST_CHARACTERS = 32 * 2**20  # the limit is one of bytes; a character is at least one

RULES = (
    Rule("ANT-01", "error", "a tool use without its result in the next message",
         "`tool_use` ids were found without `tool_result` blocks immediately after",
         "put a tool_result for each tool_use into the message right after it"),
    Rule("ANT-02", "error", "a tool result without its tool use in the message before",
         "unexpected `tool_use_id` found in `tool_result` blocks", "remove the result, or put it right after its call"),
    Rule("ANT-03", "error", "two results of one tool use", "each tool_use must have a single result",
         "keep one result for each call"),
    Rule("ANT-04", "error", "words before a tool result in one message",
         "Messages following tool_use blocks must begin with a matching number of tool_result blocks",
         "put tool_result blocks first and the words after them"),
    Rule("ANT-05", "error", "a tool-use id used twice", "`tool_use` ids must be unique", "give each call its own id"),
    Rule("ANT-06", "error", "an id with characters that are not allowed",
         "String should match pattern '^[a-zA-Z0-9_-]+$'", "use letters, digits, _ and - only"),
    Rule("ANT-07", "error", "a server tool result without its use before it",
         "must have a corresponding `server_tool_use` block before it", "keep both or neither"),
    Rule("ANT-15", "error", "an empty text block", "text content blocks must be non-empty", "remove the block"),
    Rule("ANT-16", "error", "a message without content",
         "all messages must have non-empty content except for the optional final assistant message",
         "remove the message"),
    Rule("ANT-17", "route", "the last message is the assistant's",
         "This model does not support assistant message prefill", "end with a user message"),
    Rule("ANT-18", "error", "a prefill that ends in white space",
         "final assistant content cannot end with trailing whitespace", "strip the end"),
    Rule("ANT-19", "route", "the first message is not the user's", 'first message must use the "user" role',
         "begin with a user message"),
    Rule("ANT-20", "route", "two messages of one role in a row", 'roles must alternate between "user" and "assistant"',
         "merge them: the API itself does, Bedrock and older proxies refuse"),
    Rule("ANT-23", "error", "a compaction block that is empty or not first", "400 invalid_request_error",
         "send the block as it came, first in its message"),
    Rule("ANT-24", "error", "both `compaction` and `context_management` in one request", "400 invalid_request_error",
         "send one of the two"),
    Rule("ANT-25", "route", "tool blocks without tools",
         "Requests which include `tool_use` or `tool_result` blocks must define tools", "send the tools along"),
    Rule("ANT-27", "error", "more than 100,000 messages or 32 MB", "request_too_large", "send a shorter list"),
    Rule("ANT-30", "warning", "a system message in the list", 'Unexpected role "system"',
         "put it into the parameter `system`; only the beta for mid-conversation system messages takes it here"),
    Rule("ANT-31", "error", "a block that may not stand in a tool result", "tool_result.content: Input should be",
         "give text, image, document or search_result"),
)  # fmt: skip


def _pairs(subject: Subject) -> Iterator[Fault]:
    """ANT-01 to ANT-03. What the last message asks for is still in flight."""
    merged = list(_merged(subject.messages))
    for n, (index, asked, answered) in enumerate(merged):
        before = set(merged[n - 1][1]) if n else set()
        for call_id, (at, path) in answered.items():
            if call_id not in before:
                yield Fault("ANT-02", at[0], path, f"no tool_use {call_id!r} in the message before")
            if len(at) > 1:
                yield Fault("ANT-03", at[1], path, f"{len(at)} results for {call_id!r}")
        after = merged[n + 1][2] if n + 1 < len(merged) else None
        for call_id, path in asked.items():
            if after is not None and call_id not in after:
                yield Fault("ANT-01", index, path, f"{call_id!r} has no tool_result in the next message")


_Turn = tuple[int, dict[str, str], dict[str, tuple[list[int], str]]]


def _merged(messages: Any) -> Iterator[_Turn]:
    """Neighbours of one role as the API merges them: the first index, tool uses and tool results by id."""
    role: Any = None
    turn: _Turn | None = None
    for index, message in enumerate(messages):
        if turn is None or message.get("role") != role:
            if turn is not None:
                yield turn
            turn, role = (index, {}, {}), message.get("role")
        for path, block in blocks(message):
            if block.get("type") == "tool_use":
                turn[1][str(block.get("id"))] = path
            elif block.get("type") == "tool_result":
                turn[2].setdefault(str(block.get("tool_use_id")), ([], path))[0].append(index)
    if turn is not None:
        yield turn


def _order(subject: Subject) -> Iterator[Fault]:
    for index, message in enumerate(subject.messages):
        words = None
        for path, block in blocks(message):
            if block.get("type") == "tool_result" and words is not None:
                yield Fault("ANT-04", index, path, f"this tool_result comes after {words}")
            elif block.get("type") != "tool_result":
                words = words or f"the {block.get('type')} block {path}"


def _ids(subject: Subject) -> Iterator[Fault]:
    seen: set[str] = set()
    for index, message in enumerate(subject.messages):
        for path, block in blocks(message):
            if block.get("type") not in ("tool_use", "server_tool_use"):
                continue
            call_id = str(block.get("id"))
            if call_id in seen:
                yield Fault("ANT-05", index, path, f"{call_id!r} was used before")
            seen.add(call_id)
            if not _NAME.fullmatch(call_id):
                yield Fault("ANT-06", index, f"{path}.id", f"{call_id!r} has characters that are not allowed")
            if not isinstance(block.get("input"), dict):
                yield Fault("X-09", index, f"{path}.input", "the input is no object")


def _server_tools(subject: Subject) -> Iterator[Fault]:
    """ANT-07. A use may wait for its result in a later assistant message; a result needs its use before it."""
    used: set[str] = set()
    for index, message in enumerate(subject.messages):
        for path, block in blocks(message):
            kind = str(block.get("type"))
            if kind.endswith("_tool_use"):
                used.add(str(block.get("id")))
            elif kind.endswith("_tool_result") and str(block.get("tool_use_id")) not in used:
                yield Fault(
                    "ANT-07", index, path, f"no server_tool_use {block.get('tool_use_id')!r} before this {kind}"
                )


def _role(subject: Subject, index: int) -> Any:
    return subject.messages[index].get("role")


def _empty(subject: Subject) -> Iterator[Fault]:
    last = len(subject.messages) - 1
    for index, message in enumerate(subject.messages):
        content = message.get("content")
        final = index == last and message.get("role") == "assistant"
        if content in (None, [], "") and not final:
            yield Fault("ANT-16", index, "content", "this message has no content")
        elif is_blank(content) and not final:
            yield Fault("ANT-15", index, "content", "this text is blank")
        for path, block in blocks(message):
            if block.get("type") == "text" and is_blank(block.get("text", "")):
                yield Fault("ANT-15", index, path, "this text block is empty")


def _ends(subject: Subject) -> Iterator[Fault]:
    """ANT-17 to ANT-20: who speaks first, last, and twice in a row."""
    if not subject.messages:
        return
    last = len(subject.messages) - 1
    if _role(subject, 0) != "user":
        yield Fault("ANT-19", 0, "role", f"the first message has role {_role(subject, 0)!r}")
    if _role(subject, last) == "assistant":
        yield Fault("ANT-17", last, "role", "the last message is the assistant's")
        text = _last_text(subject.messages[last])
        if text and text != text.rstrip():
            level: Level | None = None if subject.request else "route"  # a recorded session may end as it likes
            yield Fault("ANT-18", last, "content", "the last text ends in white space", level)
    for index, (a, b) in enumerate(pairwise(subject.messages), 1):
        if a.get("role") == b.get("role"):
            yield Fault("ANT-20", index, "role", f"another {b.get('role')} message right before")


def _last_text(message: Any) -> str:
    content = message.get("content")
    if isinstance(content, str):
        return content
    own = blocks(message)
    text = own[-1][1].get("text") if own else None
    return text if isinstance(text, str) else ""


def _compaction(subject: Subject) -> Iterator[Fault]:
    for index, message in enumerate(subject.messages):
        for n, (path, block) in enumerate(blocks(message)):
            if block.get("type") != "compaction":
                continue
            if n:
                yield Fault("ANT-23", index, path, "a compaction block that is not first")
            if block.get("content") == "":
                yield Fault("ANT-23", index, path, "a compaction block with empty content")


def _both(subject: Subject) -> Iterator[Fault]:
    if subject.request.get("compaction") and subject.request.get("context_management"):
        yield Fault("ANT-24", 0, "", "the request has `compaction` and `context_management`")


def _tools(subject: Subject) -> Iterator[Fault]:
    if subject.tools or not subject.request:
        return
    if any(block.get("type") in ("tool_use", "tool_result") for m in subject.messages for _, block in blocks(m)):
        yield Fault("ANT-25", 0, "", "the request has tool blocks and no tools")


def _results(subject: Subject) -> Iterator[Fault]:
    for index, message in enumerate(subject.messages):
        for path, block in blocks(message):
            if block.get("type") == "tool_result":
                for inner, piece in blocks(block):
                    if piece.get("type") not in _IN_RESULT:
                        yield Fault("ANT-31", index, f"{path}.{inner}", f"a {piece.get('type')} block")


def _size(subject: Subject) -> Iterator[Fault]:
    if len(subject.messages) > _MOST_MESSAGES:
        yield Fault("ANT-27", _MOST_MESSAGES, "", f"{len(subject.messages):,} messages")
    total = 0
    for index, message in enumerate(subject.messages):
        before, total = total, total + len(as_text(message))
        if before <= _MOST_CHARACTERS < total:
            yield Fault("ANT-27", index, "", "the 32 MB are full with this message")


def _system(subject: Subject) -> Iterator[Fault]:
    for index, message in enumerate(subject.messages):
        if message.get("role") == "system":
            yield Fault("ANT-30", index, "role", "a message with role system")


_APART = (anthropic_thinking, anthropic_cache, anthropic_citations)

FAMILY = Family(
    tuple(sorted((*RULES, *(rule for part in _APART for rule in part.RULES)), key=lambda rule: rule.code)),
    (
        _pairs, _order, _ids, _server_tools, _empty, _ends, _compaction, _both, _tools, _results, _size, _system,
        *(check for part in _APART for check in part.CHECKS),
    ),
)  # fmt: skip
