"""ATIF, Harbor's trajectory format: a call and its result stand in one step, a compaction begins a new trajectory."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ctxpolicy.logs import chat
from ctxpolicy.logs.model import Gathering, Session, entries, mapping, scalars
from ctxpolicy.logs.source import Source


def recognises(source: Source) -> bool:
    value = source.document_or_none
    return isinstance(value, dict) and str(value.get("schema_version", "")).startswith("ATIF")


def read(source: Source) -> Iterator[Session]:
    """The trajectory, and those of sub-agents that are held inside it."""
    waiting = [source.document]
    while waiting:
        trajectory = waiting.pop(0)
        waiting += entries(trajectory.get("subagent_trajectories"))
        now = Gathering("atif", "openai-chat", source.name)
        agent = mapping(trajectory.get("agent"))
        now.tools = agent.get("tool_definitions")
        steps = entries(trajectory.get("steps"))
        if mapping(agent.get("extra")).get("continuation_index"):
            now.compacted(carried=sum(bool(step.get("is_copied_context")) for step in steps))
        for step in steps:
            _add(now, source, step)
        if now.messages:
            yield now.session()


def _add(now: Gathering, source: Source, step: dict[str, Any]) -> None:
    who, fields, time = step.get("source"), scalars(step), step.get("timestamp")
    fields.pop("message", None)
    results = _results(step)
    if who == "agent":
        calls = [
            chat.call(c.get("tool_call_id"), c.get("function_name"), c.get("arguments"))
            for c in entries(step.get("tool_calls"))
        ]
        now.add(chat.assistant(_content(step.get("message")), calls, step.get("reasoning_content")), 1, fields, time)
        _use(now, step.get("metrics"))
    elif any("subagent_trajectory_ref" in r for r in results) and not any(r.get("content") for r in results):
        now.compacted()  # a note for readers that the context was summarised: the model never saw it
        source.skip("step:handoff")
        return
    elif who in ("user", "system"):
        now.add({"role": who, "content": _content(step.get("message"))}, 1, fields, time)
    else:
        source.skip(f"step:{who}")
    for result in results:
        _add_result(now, source, step, result, fields, time)


def _results(step: dict[str, Any]) -> list[dict[str, Any]]:
    return entries(mapping(step.get("observation")).get("results"))


def _add_result(
    now: Gathering, source: Source, step: dict[str, Any], result: dict[str, Any], fields: dict[str, Any], time: Any
) -> None:
    """A result that names no call answers the only one of its step; without one it is what the user said next."""
    call_id, calls = result.get("source_call_id"), entries(step.get("tool_calls"))
    if call_id is None and len(calls) == 1:
        call_id = calls[0].get("tool_call_id")
    content = _content(result.get("content"))
    if content is None and call_id is None:
        source.skip("result:without content")
    elif call_id is None:
        now.add({"role": "user", "content": content}, 1, fields, time)
    else:
        now.add(chat.result(call_id, content), 1, fields, time)


def _use(now: Gathering, used: Any) -> None:
    if isinstance(used, dict):
        now.used(used.get("prompt_tokens"), used.get("completion_tokens"), used.get("cached_tokens"))


def _content(content: Any) -> Any:
    """A text, or parts with pictures and sounds as the API takes them."""
    return [_part(part) for part in content] if isinstance(content, list) else content


def _part(part: Any) -> Any:
    origin = part.get("source") if isinstance(part, dict) else None
    if not isinstance(origin, dict):
        return part
    if part.get("type") == "image":
        return {"type": "image_url", "image_url": {"url": origin.get("path")}}
    return {"type": "file", "file": {"filename": origin.get("path"), "mime_type": origin.get("media_type")}}
