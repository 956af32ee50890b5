"""Google ADK: sessions of events, evaluation sets, and the older test files of queries with their expected answers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ctxpolicy.logs.model import Gathering, Session, entries, mapping, scalars, snaked
from ctxpolicy.logs.source import Source


def recognises(source: Source) -> bool:
    value = source.document_or_none
    if isinstance(value, list):
        return bool(value) and isinstance(value[0], dict) and {"query", "expected_tool_use"} <= set(value[0])
    if not isinstance(value, dict):
        return False
    events = value.get("events")
    held = isinstance(events, list) and any(
        isinstance(e, dict) and {"author", "invocation_id"} <= snaked(e).keys() for e in events[:3]
    )
    return held or isinstance(value.get("eval_cases"), list)


def read(source: Source) -> Iterator[Session]:
    """The session, or a conversation for each case of an evaluation set."""
    value = source.document
    if isinstance(value, list):
        yield from _gathered(source, map(_query, entries(value)))
    elif isinstance(value.get("eval_cases"), list):
        for case in entries(value["eval_cases"]):
            yield from _gathered(source, map(_invocation, entries(case.get("conversation"))))
    else:
        yield from _gathered(source, ([event] for event in entries(value["events"])))


def _gathered(source: Source, groups: Any) -> Iterator[Session]:
    now = Gathering("google-adk", "gemini", source.name)
    for group in groups:
        for event in group:
            _add(now, source, event)
    if now.messages:
        yield now.session()


def _add(now: Gathering, source: Source, event: dict[str, Any]) -> None:
    content = mapping(event.get("content"))
    parts = content.get("parts")
    if event.get("partial") or not isinstance(parts, list) or not parts:
        source.skip("event:partial" if event.get("partial") else "event:without content")
        return
    sent = [_part(part) for part in parts]
    now.add({"role": content.get("role") or "user", "parts": sent}, 1, scalars(event), event.get("timestamp"))
    used = event.get("usage_metadata") or event.get("usageMetadata")
    if isinstance(used, dict):
        facts = snaked(used)
        now.used(
            facts.get("prompt_token_count"),
            facts.get("candidates_token_count"),
            facts.get("cached_content_token_count"),
        )


def _part(part: Any) -> Any:
    """A part without the fields that its dump left empty."""
    return {key: value for key, value in part.items() if value is not None} if isinstance(part, dict) else part


def _invocation(turn: dict[str, Any]) -> list[dict[str, Any]]:
    """A turn of an evaluation case: what the user said, the calls and what came back, the answer."""
    between = mapping(turn.get("intermediate_data"))
    calls = [_part(call) for call in entries(between.get("tool_uses"))]
    events = [{"content": turn.get("user_content")}]
    if calls:
        events.append({"content": {"role": "model", "parts": [{"function_call": call} for call in calls]}})
    answers = [_part(answer) for answer in entries(between.get("tool_responses"))]
    if answers:
        events.append({"content": {"role": "user", "parts": [{"function_response": answer} for answer in answers]}})
    told = between.get("intermediate_responses")
    for pair in told if isinstance(told, list) else ():
        if isinstance(pair, list) and len(pair) == 2:
            events.append({"author": pair[0], "content": {"role": "model", "parts": pair[1]}})
    events.append({"content": turn.get("final_response")})
    return [{**event, "timestamp": turn.get("creation_timestamp")} for event in events]


def _query(turn: dict[str, Any]) -> list[dict[str, Any]]:
    """A turn of a test file: the query, the calls that were expected, the answer."""
    calls = [
        {"function_call": {"name": use.get("tool_name"), "args": use.get("tool_input") or {}}}
        for use in entries(turn.get("expected_tool_use"))
    ]
    events = [{"content": {"role": "user", "parts": [{"text": turn.get("query")}]}}]
    if calls:
        events.append({"content": {"role": "model", "parts": calls}})
    if turn.get("reference"):
        events.append({"content": {"role": "model", "parts": [{"text": turn["reference"]}]}})
    return events
