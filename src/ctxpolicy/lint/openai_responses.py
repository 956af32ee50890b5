"""What the OpenAI Responses API accepts as `input`."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from ctxpolicy.lint.encoded import is_cut_token
from ctxpolicy.lint.rule import LEAD, TRAIL, Family, Fault, Level, Rule, Subject, is_blank, lead

_COMPACTION = ("compaction", "context_compaction", "compaction_summary")
_MOST_ITEMS = 131_072
_LONGEST_ID = 64
# Types of calls that the client answers, and the prefix of the ids that the server gives to items.
_CALLS = {
    "function_call": "fc", "custom_tool_call": "ctc", "local_shell_call": "lsh", "shell_call": "sh",
    "apply_patch_call": "apc", "computer_call": "cu", "mcp_approval_request": "mcpr", "tool_search_call": "tsc",
}  # fmt: skip
_PREFIXES = {"message": "msg", "reasoning": "rs", "function_call": "fc", "custom_tool_call": "ctc"}
_OTHER_OUTPUTS = {"mcp_approval_response": "mcp_approval_request", "tool_search_output": "tool_search_call"}

RULES = (
    Rule("OAR-01", "error", "a function call without its output", "No tool output found for function call",
         "add a function_call_output with the same call_id"),
    Rule("OAR-02", "error", "a function call output without its call",
         "No tool call found for function call output with call_id", "remove the output, or put its call before it"),
    Rule("OAR-03", "error", "another kind of call without its output, or output without its call",
         "No tool output found for custom tool call", "keep both or neither"),
    Rule("OAR-04", "error", "reasoning without the item that it led to",
         "of type 'reasoning' was provided without its required following item",
         "keep what followed the reasoning, or remove it too"),
    Rule("OAR-06", "route", "an item id that does not begin as the server's do",
         "Expected an ID that begins with", "leave `id` out of items that the server did not make"),
    Rule("OAR-07", "error", "reasoning without a summary", "Missing required parameter: 'input[N].summary'",
         "add `summary`, an empty list will do"),
    Rule("OAR-08", "error", "reasoning that the server did not keep",
         "Items are not persisted when `store` is set to false",
         "ask for reasoning.encrypted_content and send it back"),
    Rule("OAR-09", "error", "encrypted content that is cut",
         "The encrypted content for item rs_x could not be verified", "send the item as it came, or not at all"),
    Rule("OAR-10", "error", "an item id that stands twice", "Duplicate item found with id", "send each item once"),
    Rule("OAR-11", "error", "more than 131,072 items", "array too long. Expected an array with maximum length 131072",
         "send a shorter list"),
    Rule("OAR-13", "warning", "work that stands before the newest compaction item, which holds it",
         "accepted, and paid for twice", "leave out the calls, outputs and reasoning before it"),
    Rule("OAR-15", "warning", "an output that does not stand right after its calls", "accepted here, refused elsewhere",
         "put outputs right after the calls of their turn"),
    Rule("OAR-16", "error", "a call_id of more than 64 characters",
         "string too long. Expected a string with maximum length 64", "write a shorter id"),
    LEAD,
    TRAIL,
    Rule("X-08", "route", "a message that says nothing", "text content is empty", "remove the message"),
    Rule("X-01", "error", "a call_id that stands on two calls, or two outputs", "Duplicate call_id",
         "give each call its own call_id and one output"),
)  # fmt: skip


def _kind(item: Any) -> str:
    return str(item.get("type", "message"))


def _call_id(item: Any) -> str:
    return str(item.get("call_id", item.get("id")))


def _answers(item: Any) -> tuple[str, str] | None:
    """The type of call that an item answers, and its id."""
    kind = _kind(item)
    if kind == "mcp_approval_response":
        return "mcp_approval_request", str(item.get("approval_request_id"))
    if kind in _OTHER_OUTPUTS:
        return _OTHER_OUTPUTS[kind], _call_id(item)
    return (kind.removesuffix("_output"), _call_id(item)) if kind.endswith("_call_output") else None


def _is_ours(item: Any) -> bool:
    """True for a call that the client answers: tool search may be the server's own."""
    return _kind(item) in _CALLS and not (_kind(item) == "tool_search_call" and item.get("execution") != "client")


def _pairs(subject: Subject) -> Iterator[Fault]:
    """OAR-01 to OAR-03. Calls that only outputs follow are still in flight, and stored ones are not in the list."""
    stored = bool(subject.request.get("previous_response_id") or subject.request.get("conversation"))
    stored = stored or any(_kind(item) == "item_reference" for item in subject.messages)
    answered = {answer[1] for item in subject.messages if (answer := _answers(item)) is not None}
    asked: dict[str, str] = {}
    done: set[str] = set()
    live = _live_from(subject)
    for index, item in enumerate(subject.messages):
        kind, answer = _kind(item), _answers(item)
        if _is_ours(item):
            if _call_id(item) in asked:
                yield Fault("X-01", index, "call_id", f"{_call_id(item)!r} was used before")
            asked[_call_id(item)] = kind
            if _call_id(item) not in answered and index < live:
                code = "OAR-01" if kind == "function_call" else "OAR-03"
                yield Fault(code, index, "call_id", f"{_call_id(item)!r} has no output")
        elif answer is not None:
            kind, call_id = answer
            if call_id in done:
                yield Fault("X-01", index, "call_id", f"a second output of {call_id!r}")
            elif call_id not in asked and not stored and not _by_server(item):
                code = "OAR-02" if kind == "function_call" else "OAR-03"
                yield Fault(code, index, "call_id", f"no call {call_id!r} before it")
            done.add(call_id)


def _by_server(item: Any) -> bool:
    return _kind(item) == "tool_search_output" and item.get("execution") != "client"


def _live_from(subject: Subject) -> int:
    """Where the last assistant turn begins; what it asks for may still be in flight, if nothing but outputs follows."""
    at = len(subject.messages)
    while at and (_answers(subject.messages[at - 1]) is not None):
        at -= 1
    while at and (_kind(subject.messages[at - 1]) != "message" or subject.messages[at - 1].get("role") == "assistant"):
        at -= 1
    return at


def _reasoning(subject: Subject) -> Iterator[Fault]:
    """OAR-04, OAR-07, OAR-08."""
    items = subject.messages
    for index, item in enumerate(items):
        if _kind(item) != "reasoning":
            continue
        after = items[index + 1] if index + 1 < len(items) else None
        if item.get("id") and (after is None or _answers(after) is not None or after.get("role") in ("user", "system")):
            yield Fault("OAR-04", index, "", f"nothing that {item['id']!r} led to comes after it")
        if not isinstance(item.get("summary"), list):
            yield Fault("OAR-07", index, "summary", "the summary is missing")
        if subject.request.get("store") is False and item.get("id") and not item.get("encrypted_content"):
            yield Fault(
                "OAR-08", index, "encrypted_content", "store is false and there is no encrypted content", "route"
            )


def _encrypted(subject: Subject) -> Iterator[Fault]:
    for index, item in enumerate(subject.messages):
        if is_cut_token(item.get("encrypted_content")):
            yield Fault("OAR-09", index, "encrypted_content", "this is no whole token: something cut it")


def _compacted(subject: Subject) -> Iterator[Fault]:
    """OAR-13. Messages may stand there: what the compaction endpoint returns begins with the user's."""
    newest = max((n for n, item in enumerate(subject.messages) if _kind(item) in _COMPACTION), default=0)
    work = [n for n in range(newest) if _kind(subject.messages[n]) not in ("message", "item_reference", *_COMPACTION)]
    if work:
        yield Fault("OAR-13", work[0], "", f"the first of {len(work):,} items before the compaction item {newest}")


def _ids(subject: Subject) -> Iterator[Fault]:
    seen: set[str] = set()
    for index, item in enumerate(subject.messages):
        own, prefix = item.get("id"), _PREFIXES.get(_kind(item))
        if isinstance(own, str) and _kind(item) != "item_reference":
            if own in seen:
                yield Fault("OAR-10", index, "id", f"{own!r} stands twice")
            seen.add(own)
            if prefix and not own.startswith(prefix):
                yield Fault("OAR-06", index, "id", f"{own!r} does not begin with {prefix!r}")
        call_id = item.get("call_id")
        if isinstance(call_id, str) and len(call_id) > _LONGEST_ID:
            yield Fault("OAR-16", index, "call_id", f"{len(call_id)} characters")


def _arguments(subject: Subject) -> Iterator[Fault]:
    for index, item in enumerate(subject.messages):
        if _kind(item) == "function_call" and not _is_json(item.get("arguments")):
            level: Level | None = "route" if isinstance(item.get("arguments"), str) else None
            yield Fault("X-09", index, "arguments", "the arguments are no JSON object in a string", level)


def _is_json(text: Any) -> bool:
    try:
        return isinstance(text, str) and isinstance(json.loads(text or "{}"), dict)
    except (ValueError, RecursionError):
        return False


def _order(subject: Subject) -> Iterator[Fault]:
    calls: dict[str, int] = {}
    for index, item in enumerate(subject.messages):
        answer = _answers(item)
        if _is_ours(item):
            calls[_call_id(item)] = index
        elif answer is not None and answer[1] in calls:
            between = subject.messages[calls[answer[1]] + 1 : index]
            if any(_kind(other) == "message" for other in between):
                yield Fault("OAR-15", index, "", "messages stand between this output and its call")


def _size(subject: Subject) -> Iterator[Fault]:
    if len(subject.messages) > _MOST_ITEMS:
        yield Fault("OAR-11", _MOST_ITEMS, "", f"{len(subject.messages):,} items")


def _ends(subject: Subject) -> Iterator[Fault]:
    last = len(subject.messages) - 1
    if last >= 0 and _answers(subject.messages[last]) is None and subject.messages[last].get("role") != "user":
        yield Fault("X-07", last, "", f"a {_kind(subject.messages[last])} item of the assistant's")


def _empty(subject: Subject) -> Iterator[Fault]:
    for index, item in enumerate(subject.messages):
        content = item.get("content")
        if _kind(item) == "message" and (content in (None, []) or is_blank(content)):
            yield Fault("X-08", index, "content", "no text")


FAMILY = Family(
    RULES, (_pairs, _reasoning, _encrypted, _compacted, _ids, _arguments, _order, _size, _ends, _empty, lead)
)
