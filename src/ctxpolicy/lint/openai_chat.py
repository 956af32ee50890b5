"""What OpenAI Chat Completions and the servers that speak like it accept."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

from ctxpolicy.lint.rule import LEAD, Family, Fault, Rule, Subject, blocks, is_blank, lead

_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
_MISTRAL_ID = re.compile(r"[a-zA-Z0-9]{9}")
_LONGEST_ID = 40
_IN_RESULT = ("text", "input_text")
_SYSTEM = ("system", "developer")

RULES = (
    Rule("OAC-01", "error", "a tool call without its result right after it",
         "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'",
         "put one tool message for each call right after the assistant message"),
    Rule("OAC-02", "error", "a tool result without its call before it",
         "messages with role 'tool' must be a response to a preceeding message with 'tool_calls'",
         "remove the result, or put it right after its call"),
    Rule("OAC-03", "error", "a call id that is missing, used twice in a turn, or too long",
         "string too long. Expected a string with maximum length 40", "give each call a short id of its own"),
    Rule("OAC-04", "error", "an empty list of tool calls", "[] is too short - 'messages.i.tool_calls'",
         "leave `tool_calls` out"),
    Rule("OAC-05", "error", "an assistant message that says nothing and calls nothing",
         "Invalid value for 'content': expected a string, got null", "remove the message"),
    Rule("OAC-06", "error", "arguments that are no JSON text", "failed to parse tool call arguments as json",
         "give the arguments as a JSON object in a string"),
    Rule("OAC-07", "error", "a tool name that is not allowed", "does not match '^[a-zA-Z0-9_-]+$'",
         "use letters, digits, _ and -, at most 64"),
    Rule("OAC-08", "warning", "something else than text in a tool message",
         "Image URLs are only allowed for messages with role 'user'", "put pictures into a user message after it"),
    Rule("OAC-09", "route", "two messages of one role in a row",
         "Conversation roles must alternate user/assistant/user/assistant/...", "merge them"),
    Rule("OAC-10", "route", "a system message that is not first", "System message must be at the beginning.",
         "put all of it into the first message"),
    Rule("OAC-11", "route", "an order that Mistral refuses", "Unexpected role 'user' after role 'tool'",
         "end with a user message or tool result; let the assistant answer a result first"),
    Rule("OAC-12", "route", "a call id that Mistral refuses",
         "must be a-z, A-Z, 0-9, with a length of 9", "write ids of nine letters and digits"),
    Rule("OAC-13", "route", "a call in a thinking loop without its reasoning",
         "The reasoning_content in the thinking mode must be passed back to the API",
         "keep `reasoning_content` on every call of the loop"),
    Rule("OAC-14", "route", "an empty text", "text content is empty", "remove it"),
    Rule("OAC-16", "error", "a function message without its function call before it",
         "messages with role 'function' must be a response to a preceding message with 'function_call'",
         "keep both or neither"),
    Rule("OAC-17", "route", "both system and developer messages", "400 invalid_request_error", "use one of the two"),
    LEAD,
    Rule("X-01", "warning", "a call id that an earlier turn used", "duplicate tool_call_id",
         "give each call an id of its own"),
)  # fmt: skip


def _calls(message: Any) -> list[tuple[str, dict[str, Any]]]:
    return blocks(message, "tool_calls")


def _pairs(subject: Subject) -> Iterator[Fault]:
    """OAC-01 and OAC-02. What the last turn asks for is still in flight."""
    waiting: dict[str, tuple[int, str]] = {}
    answered: set[str] = set()
    for index, message in enumerate(subject.messages):
        if message.get("role") == "tool":
            call_id = str(message.get("tool_call_id"))
            if call_id in waiting:
                answered.add(call_id)
                del waiting[call_id]
            else:
                again = "a second result" if call_id in answered else "no call right before it has this id"
                yield Fault("OAC-02", index, "tool_call_id", f"{call_id!r}: {again}")
            continue
        yield from _unanswered(waiting)
        waiting = {str(call.get("id")): (index, path) for path, call in _calls(message)}
        answered = set()


def _unanswered(waiting: dict[str, tuple[int, str]]) -> Iterator[Fault]:
    for call_id, (index, path) in waiting.items():
        yield Fault("OAC-01", index, path, f"{call_id!r} has no tool message right after")


def _functions(subject: Subject) -> Iterator[Fault]:
    asked: str | None = None
    for index, message in enumerate(subject.messages):
        if message.get("role") == "function" and str(message.get("name")) != asked:
            yield Fault("OAC-16", index, "name", f"no function_call of {message.get('name')!r} right before")
        call = message.get("function_call")
        asked = str(call.get("name")) if isinstance(call, dict) else None


def _ids(subject: Subject) -> Iterator[Fault]:
    ever: set[str] = set()
    for index, message in enumerate(subject.messages):
        here: set[str] = set()
        if message.get("role") == "tool" and not message.get("tool_call_id"):
            yield Fault("OAC-03", index, "tool_call_id", "the id is missing")
        for path, call in _calls(message):
            call_id = call.get("id")
            if not isinstance(call_id, str) or not call_id:
                yield Fault("OAC-03", index, f"{path}.id", "the id is missing")
                continue
            if call_id in here:
                yield Fault("OAC-03", index, f"{path}.id", f"{call_id!r} stands twice in this message")
            elif call_id in ever:
                yield Fault("X-01", index, f"{path}.id", f"{call_id!r} was used before")
            if len(call_id) > _LONGEST_ID:
                yield Fault("OAC-03", index, f"{path}.id", f"{len(call_id)} characters, at most {_LONGEST_ID}")
            if not _MISTRAL_ID.fullmatch(call_id):
                yield Fault("OAC-12", index, f"{path}.id", f"{call_id!r}")
            here.add(call_id)
        ever |= here


def _bodies(subject: Subject) -> Iterator[Fault]:
    """OAC-04, OAC-06, OAC-07."""
    for index, message in enumerate(subject.messages):
        if message.get("tool_calls") == []:
            yield Fault("OAC-04", index, "tool_calls", "the list is empty")
        bodies = [(f"{path}.function", call["function"]) for path, call in _calls(message)
                  if isinstance(call.get("function"), dict)]  # fmt: skip
        if isinstance(message.get("function_call"), dict):
            bodies.append(("function_call", message["function_call"]))
        for path, body in bodies:
            if not _NAME.fullmatch(str(body.get("name"))):
                yield Fault("OAC-07", index, f"{path}.name", f"{body.get('name')!r}")
            if not isinstance(body.get("arguments"), str):
                yield Fault("OAC-06", index, f"{path}.arguments", "the arguments are no string")
            elif not _is_object(body["arguments"]):
                yield Fault("X-09", index, f"{path}.arguments", "the arguments are no JSON object", "route")


def _is_object(text: str) -> bool:
    try:
        return isinstance(json.loads(text or "{}"), dict)
    except (ValueError, RecursionError):
        return False


def _empty(subject: Subject) -> Iterator[Fault]:
    says = ("tool_calls", "function_call", "refusal", "audio", "reasoning_content", "reasoning", "reasoning_details")
    for index, message in enumerate(subject.messages):
        content = message.get("content")
        if message.get("role") == "assistant" and not content and not any(message.get(key) for key in says):
            yield Fault("OAC-05", index, "content", "nothing is said and nothing is called")
        elif message.get("role") != "assistant" and content is None:
            yield Fault("OAC-05", index, "content", "the content is missing")
        elif is_blank(content) and not _calls(message):
            yield Fault("OAC-14", index, "content", "this text is blank")
        for path, part in blocks(message):
            if part.get("type") == "text" and is_blank(part.get("text", "")):
                yield Fault("OAC-14", index, path, "this text is blank")


def _results(subject: Subject) -> Iterator[Fault]:
    for index, message in enumerate(subject.messages):
        if message.get("role") == "tool":
            for path, part in blocks(message):
                if part.get("type") not in _IN_RESULT:
                    yield Fault("OAC-08", index, path, f"a part of type {part.get('type')!r}")


def _order(subject: Subject) -> Iterator[Fault]:
    """OAC-09 to OAC-11, OAC-17: what some servers ask of the order of roles."""
    roles = [message.get("role") for message in subject.messages]
    talk = next((n for n, role in enumerate(roles) if role not in _SYSTEM), len(roles))
    for index, role in enumerate(roles):
        if role in _SYSTEM and (index > talk or index > 0):
            yield Fault("OAC-10", index, "role", f"a {role} message after the first")
    for index, (a, b) in enumerate(pairwise(roles), 1):
        if a == b and a in ("user", "assistant"):
            yield Fault("OAC-09", index, "role", f"another {b} message right before")
        if (a, b) == ("tool", "user"):
            yield Fault("OAC-11", index, "role", "a user message right after a tool result")
    if roles and roles[-1] == "assistant" and not subject.messages[-1].get("prefix"):
        yield Fault("OAC-11", len(roles) - 1, "role", "the last message is the assistant's")
    if set(_SYSTEM) <= set(roles):
        yield Fault("OAC-17", roles.index("developer"), "role", "a developer message beside system messages")


def _reasoning(subject: Subject) -> Iterator[Fault]:
    """OAC-13: in the running tool loop, calls with and without reasoning_content."""
    start = max((n for n, m in enumerate(subject.messages) if m.get("role") == "user"), default=-1) + 1
    loop = [(n, m) for n, m in enumerate(subject.messages) if n >= start and _calls(m)]
    if any(message.get("reasoning_content") for _, message in loop):
        for index, message in loop:
            if not message.get("reasoning_content"):
                yield Fault("OAC-13", index, "reasoning_content", "missing here, present in the same loop")


FAMILY = Family(RULES, (_pairs, _functions, _ids, _bodies, _empty, _results, _order, _reasoning, lead))
