"""OpenHands events: of its SDK (`kind`), of version 0 (`action` and `observation`), and its published step lists.

A condensation names the events that the agent forgot and where the summary stands; what it saw before and after are
two sessions. Parallel calls are several events of one reply.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import msgspec

from ctxpolicy.formats.shared import as_text
from ctxpolicy.logs import chat
from ctxpolicy.logs.model import Gathering, Session, amount, entries, mapping, name, scalars
from ctxpolicy.logs.source import Source

_Event = dict[str, Any]
_PARALLEL = 100  # messages back within which the other events of one reply stand


class Said(msgspec.Struct):
    """A message that one or several events make. `reply` is the id of the model's reply it belongs to."""

    ids: list[Any]
    message: dict[str, Any]
    line: int
    fields: dict[str, Any]
    time: Any = None
    reply: Any = None
    usage: Any = None


def recognises(source: Source) -> bool:
    return any(_is_event(v) for v in source.head) or any(_is_event(v) or _is_step(v) for v in _listed(source)[:3])


def _listed(source: Source) -> list[Any]:
    value = source.document_or_none
    return value if isinstance(value, list) else []


def _is_event(value: Any) -> bool:
    return isinstance(value, dict) and "source" in value and "timestamp" in value and "id" in value and (
        "kind" in value or "action" in value or "observation" in value
    )  # fmt: skip


def _is_step(value: Any) -> bool:
    return isinstance(value, dict) and {"step", "agent", "environment"} <= set(value)


def read(source: Source) -> Iterator[Session]:
    """What the agent saw, a session for each piece between condensations."""
    values = _listed(source)
    events = ((1, value) for value in values) if values else source.records()
    now: list[Said] = []
    tools: list[Any] | None = None
    carried: int | None = None  # how many messages a condensation left; None before the first
    for line, event in events:
        if not isinstance(event, dict):
            source.skip("unknown")
            continue
        forgotten = _forgotten(event)
        if forgotten is not None:
            yield from _session(source, now, tools, carried)
            now = [said for said in now if not set(said.ids) <= forgotten or not said.ids]
            carried = len(now)
            _summarise(now, event, line)
        elif _is_step(event):
            now += _step(event, line)
        else:
            tools = event.get("tools") or mapping(event.get("args")).get("tools") or tools
            _take(source, now, event, line)
    yield from _session(source, now, tools, carried)


def _session(source: Source, now: list[Said], tools: list[Any] | None, carried: int | None) -> Iterator[Session]:
    gathering = Gathering("openhands", "openai-chat", source.name)
    gathering.tools = tools
    if carried is not None:
        gathering.compacted(carried=carried)
    for said in now:
        gathering.add(said.message, said.line, said.fields, said.time)
        gathering.used(*chat.usage(said.usage))
    if gathering.messages:
        yield gathering.session()


def _take(source: Source, now: list[Said], event: _Event, line: int) -> None:
    """Add what an event says, to the reply that it belongs to or as a message of its own."""
    read: Callable[[_Event], Said | None] = _sdk_event if "kind" in event else _old_event
    said = read(event)
    if said is None:
        source.skip(event.get("kind") or event.get("action") or f"observation:{event.get('observation')}")
        return
    said.ids, said.line, said.fields, said.time = [name(event.get("id"))], line, _fields(event), event.get("timestamp")
    reply = next((s for s in now[-_PARALLEL:] if s.reply == said.reply), None) if said.reply else None
    if reply is None:
        now.append(said)
        return
    known = {name(call.get("id")) for call in entries(reply.message.get("tool_calls"))}
    fresh = [call for call in entries(said.message.get("tool_calls")) if name(call.get("id")) not in known]
    if fresh:
        reply.message["tool_calls"] = [*entries(reply.message.get("tool_calls")), *fresh]
    reply.ids.append(name(event.get("id")))


def _fields(event: _Event) -> dict[str, Any]:
    return {key: value for key, value in scalars(event).items() if key not in ("content", "message", "error")}


# --- condensations


def _forgotten(event: _Event) -> set[Any] | None:
    """The ids of what a condensation makes the agent forget; None for other events."""
    if event.get("kind") == "Condensation":
        return _ids(event)
    if event.get("action") != "condensation":
        return None
    args = mapping(event.get("args"))
    start, end = args.get("forgotten_events_start_id"), args.get("forgotten_events_end_id")
    if isinstance(start, int) and isinstance(end, int):
        return set(range(start, end + 1))
    return _ids(args)


def _ids(told: _Event) -> set[Any]:
    ids = told.get("forgotten_event_ids")
    return {name for name in ids if isinstance(name, (int, str))} if isinstance(ids, list) else set()


def _summarise(now: list[Said], event: _Event, line: int) -> None:
    """Put the summary of a condensation in its place."""
    told = event if "kind" in event else mapping(event.get("args"))
    if told.get("summary"):
        summary = {"role": "user", "content": told["summary"]}
        now.insert(amount(told.get("summary_offset")), Said([], summary, line, _fields(event), event.get("timestamp")))


# --- events of the SDK


def _sdk_event(event: _Event) -> Said | None:
    kind = event["kind"]
    if kind == "SystemPromptEvent":
        return _said({"role": "system", "content": _content(event.get("system_prompt"))})
    if kind == "MessageEvent":
        message = mapping(event.get("llm_message"))
        sent = {key: message[key] for key in ("role", "tool_calls", "tool_call_id", "name") if message.get(key)}
        return _said({**sent, "content": _content(message.get("content"))})
    if kind == "ActionEvent":
        call = mapping(event.get("tool_call"))
        body = mapping(call.get("function") or call)
        call_id, tool = event.get("tool_call_id") or call.get("id"), body.get("name") or event.get("tool_name")
        calls = [chat.call(call_id, tool, body.get("arguments"))]
        words = chat.assistant(_content(event.get("thought")), calls, event.get("reasoning_content"))
        return Said([], words, 0, {}, reply=event.get("llm_response_id"))
    if kind in ("ObservationEvent", "UserRejectObservation", "AgentErrorEvent"):
        return _said(_sdk_result(event))
    return None


def _said(message: dict[str, Any]) -> Said:
    return Said([], message, 0, {})


def _sdk_result(event: _Event) -> dict[str, Any]:
    seen = event.get("observation")
    if isinstance(seen, dict):
        seen = next((seen[key] for key in ("content", "output", "text", "result") if seen.get(key)), seen)
    wrong = event.get("error") or event.get("rejection_reason")
    content = _content(seen if wrong is None else wrong)
    return chat.result(event.get("tool_call_id"), content, name=event.get("tool_name"), error=wrong is not None)


def _content(content: Any) -> Any:
    """A text, or parts; pictures as the API takes them. Texts alone are one text."""
    parts = content if isinstance(content, list) else [content]
    if all(isinstance(part, dict) and part.get("type") == "text" for part in parts):
        return "".join(as_text(part.get("text")) for part in parts)
    if not isinstance(content, list):
        return content
    return [piece for part in parts for piece in _pieces(part)]


def _pieces(part: Any) -> list[Any]:
    urls = part.get("image_urls") if isinstance(part, dict) else None
    return [{"type": "image_url", "image_url": {"url": url}} for url in urls] if urls else [part]


# --- events of version 0


def _old_event(event: _Event) -> Said | None:
    args, about = mapping(event.get("args")), mapping(event.get("tool_call_metadata"))
    if event.get("action") == "system":
        return _said({"role": "system", "content": args.get("content")})
    if event.get("action") == "message" and not about:
        role = "user" if event.get("source") == "user" else "assistant"
        return _said({"role": role, "content": args.get("content") or event.get("message")})
    if "action" in event and event.get("source") == "agent":
        return _old_action(event, about)
    if "observation" in event and (about or event["observation"] not in ("recall", "agent_state_changed", "null")):
        content = event.get("content")
        return _said(chat.result(about.get("tool_call_id"), content) if about else {"role": "user", "content": content})
    return None


def _old_action(event: _Event, about: dict[str, Any]) -> Said | None:
    """What the model said: its own reply where that is kept, else the thought and the action in words."""
    reply = mapping(about.get("model_response"))
    message = mapping(mapping(next(iter(entries(reply.get("choices"))), None)).get("message"))
    if not message:
        thought = mapping(event.get("args")).get("thought")
        told = "\n".join(filter(None, map(as_text, (thought, event.get("message")))))
        heard = told and event["action"] != "change_agent_state"
        return _said({"role": "assistant", "content": told}) if heard else None
    calls = entries(message.get("tool_calls"))
    words = chat.assistant(message.get("content"), calls, message.get("reasoning_content"))
    return Said([], words, 0, {}, reply=reply.get("id"), usage=reply.get("usage"))


# --- step lists


def _step(event: _Event, line: int) -> Iterator[Said]:
    """A step: what the user said, the agent's thought and action, what came back."""
    agent, about = event["agent"], {"step": event["step"]}
    if event.get("user_message"):
        yield Said([], {"role": "user", "content": event["user_message"]}, line, about)
    words = [agent.get("thought"), agent.get("action")] if isinstance(agent, dict) else [agent]
    said = "\n\n".join(filter(None, map(as_text, words)))
    yield Said([], {"role": "assistant", "content": said}, line, about, usage=event.get("step_usage"))
    if event.get("environment"):
        yield Said([], {"role": "user", "content": event["environment"]}, line, about)
