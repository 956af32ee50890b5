"""What the tests of the engine share: makers of messages, a standard policy to vary, and an oracle for tool calls.

Nothing here looks inside the package: the tests talk to it as a user does.
"""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import Any

import yaml

import ctxpolicy
from ctxpolicy import Policy, Result, SummaryReply, SummaryRequest

Message = dict[str, Any]

STANDARD = """
version: 1
name: standard
description: The shape of the default policy at the size of a test; a token is four characters, a message costs 4 more.
budget: {window: 4000, counter: chars}
pins:
  - {id: opening, match: {opening: true}}
  - {id: task, match: {role: user, oldest: 1}}
  - {id: request, match: {role: user, newest: 1}}
  - {id: user-words, match: {role: user, tokens: {lt: 40}, newest: {tokens: 400}}}
  - {id: explicit, match: {meta: {pin: true}}}
  - {id: recent, match: {newest: 4}}
rules:
  - {id: cap, at: append, match: {role: tool, tokens: {gt: 200}}, truncate: {max_tokens: 200}}
  - {id: refuse, at: append, match: {share: {gte: 1.0}}, refuse: {}}
  - id: compact
    at: send
    when: {pressure: {gt: 0.7}}
    compact: {until: {pressure: {lt: 0.5}}, span: {min: 2, max: 30}, min_gain: 0.05, word_limit: 60}
  - {id: evict, at: send, when: {pressure: {gt: 0.9}}, evict: {until: {pressure: {lt: 0.7}}}}
archive: false
"""
COMPACT: dict[str, Any] = {"until": {"pressure": {"lt": 0.5}}, "span": {"min": 2, "max": 30}, "min_gain": 0.05}


def policy_text(
    *,
    budget: Mapping[str, Any] | None = None,
    pins: Mapping[str, Any] | None = None,
    rules: Mapping[str, Any] | None = None,
    **keys: Any,
) -> str:
    """The standard policy with changes. `budget` is merged; `pins` and `rules` go by id and None takes one out.

    For a pin the value is its match; for a rule the keys to replace (`{"compact": {...}}` replaces the action).
    """
    document = yaml.safe_load(STANDARD) | keys
    document["budget"] |= budget or {}
    document["pins"] = _changed(document["pins"], {k: v and {"match": v} for k, v in (pins or {}).items()})
    document["rules"] = _changed(document["rules"], rules or {})
    return json.dumps({key: value for key, value in document.items() if value is not None})


def policy(**changes: Any) -> Policy:
    """The standard policy, loaded (see `policy_text`): the same object for the same changes, as it is immutable."""
    return _loaded(policy_text(**changes))


_loaded = cache(ctxpolicy.loads)


def _changed(entries: Sequence[dict[str, Any]], changes: Mapping[str, Any]) -> list[dict[str, Any]]:
    found = {entry["id"]: entry for entry in entries}
    for name, change in changes.items():
        if change is None:
            del found[name]
        else:
            found[name] = {**found.get(name, {"id": name}), **change}
    return list(found.values())


def without_pins(**kept: Any) -> dict[str, Any]:
    """For `policy(pins=...)`: only these."""
    names = [pin["id"] for pin in yaml.safe_load(STANDARD)["pins"]]
    return dict.fromkeys(names) | kept


# ---- messages ---------------------------------------------------------------------------------


def system(text: str = "You are an agent.") -> Message:
    return {"role": "system", "content": text}


def user(text: str) -> Message:
    return {"role": "user", "content": text}


def said(text: str) -> Message:
    return {"role": "assistant", "content": text}


def calls(*ids: str, tool: str = "bash", arguments: str = "{}") -> Message:
    """An assistant message that asks for one tool call for each id."""
    function = {"name": tool, "arguments": arguments}
    asked = [{"id": i, "type": "function", "function": dict(function)} for i in ids]
    return {"role": "assistant", "content": None, "tool_calls": asked}


def result(call_id: str, text: Any = "ok") -> Message:
    return {"role": "tool", "tool_call_id": call_id, "content": text}


def filler(tokens: int, label: str = "") -> str:
    """Text of so many tokens by the counter `chars`, beginning with the label."""
    return (f"{label} " + "lorem ipsum dolor sit amet " * (tokens // 6 + 1))[: tokens * 4]


def step(n: int, tokens: int = 100) -> list[Message]:
    """One step of work: a call and its result of about `tokens` tokens."""
    return [calls(f"c{n}", arguments=f'{{"n": {n}}}'), result(f"c{n}", filler(tokens, f"output {n}"))]


def steps(count: int, tokens: int = 100, start: int = 0) -> list[Message]:
    return [message for n in range(start, start + count) for message in step(n, tokens)]


def opening(task: str = "The task: port the parser.") -> list[Message]:
    return [system(), user(task)]


# ---- summarisers ------------------------------------------------------------------------------


class Notes:
    """A summariser: gives its replies in turn, the last one for ever, and keeps the requests. Exceptions are raised."""

    def __init__(self, *replies: str | SummaryReply | BaseException | None) -> None:
        self.replies = list(replies) or ["The parser was read; 3 tests fail."]
        self.requests: list[SummaryRequest] = []

    def __call__(self, request: SummaryRequest) -> Any:
        reply = self.replies[min(len(self.requests), len(self.replies) - 1)]
        self.requests.append(request)
        if isinstance(reply, BaseException):
            raise reply
        return reply


class Echo(Notes):
    """A summariser that saves nothing: its note is the span itself."""

    def __call__(self, request: SummaryRequest) -> Any:
        self.requests.append(request)
        return request.span


# ---- what a test asks of a list -----------------------------------------------------------------


def tool_faults(messages: Iterable[Message]) -> list[str]:
    """What a provider would answer 400 to: calls without results, results without calls, in both directions.

    Results must follow their assistant message directly, as OpenAI and Anthropic ask.
    """
    faults: list[str] = []
    waiting: list[str] = []
    for message in messages:
        if message["role"] == "tool":
            call_id = message["tool_call_id"]
            if call_id in waiting:
                waiting.remove(call_id)
            else:
                faults.append(f"result {call_id} without its call")
            continue
        faults += [f"call {call_id} without its result" for call_id in waiting]
        waiting = [call["id"] for call in message.get("tool_calls") or ()]
    return faults + [f"call {call_id} without its result" for call_id in waiting]


_MARK = re.compile(r"\[[\d,]+ earlier turns (?:compacted|left out), ref [0-9a-f]{12}\.\]")


def is_mark(message: Message) -> bool:
    """A marker or summary of the policy."""
    return message["role"] == "user" and isinstance(message["content"], str) and bool(_MARK.match(message["content"]))


def is_summary(message: Message) -> bool:
    return is_mark(message) and "Summary of what happened:" in message["content"]


def marks(messages: Iterable[Message]) -> list[Message]:
    return [m for m in messages if is_mark(m)]


def summaries(messages: Iterable[Message]) -> list[Message]:
    return [m for m in messages if is_summary(m)]


def acted(events: Iterable[ctxpolicy.Event], rule: str | None = None) -> list[ctxpolicy.Event]:
    """The events of what was really done (by one rule)."""
    return [e for e in events if e.acted and rule in (None, e.rule)]


def reasons(result_or_events: Result | Iterable[ctxpolicy.Event], rule: str | None = None) -> str:
    """What the events (of one rule) say, as one text."""
    events = result_or_events.events if isinstance(result_or_events, Result) else result_or_events
    return "\n".join(e.reason for e in events if rule is None or e.rule == rule)


def through_json(value: Any) -> Any:
    """As it comes back from a disk."""
    return json.loads(json.dumps(value))


def frozen(value: Any) -> Any:
    """A deep copy to compare with later."""
    return copy.deepcopy(value)
