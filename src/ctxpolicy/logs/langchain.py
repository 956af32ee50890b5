"""LangChain: dumps of messages in its three forms, the state of a LangGraph thread, and LangSmith runs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ctxpolicy.logs import chat, growing
from ctxpolicy.logs.model import Gathering, Session, entries, mapping, scalars
from ctxpolicy.logs.source import Source

_ROLES = {
    "human": "user", "user": "user", "ai": "assistant", "assistant": "assistant", "system": "system",
    "developer": "developer", "tool": "tool", "function": "function",
}  # fmt: skip
_PLACES = (("values", "messages"), ("messages",), ("kwargs", "messages"), ("channel_values", "messages"))


def recognises(source: Source) -> bool:
    value = source.document_or_none
    return (
        _found(value) is not None
        or any(map(_is_run, source.head))
        or (isinstance(value, list) and any(map(_is_run, value[:1])))
    )


def _is_run(value: Any) -> bool:
    return isinstance(value, dict) and "run_type" in value and "inputs" in value


def _is_message(value: Any) -> bool:
    if not isinstance(value, dict):
        return False
    return (
        _kind(value) in _ROLES and "role" not in value and ("content" in value or "data" in value or "kwargs" in value)
    )


def _kind(value: dict[str, Any]) -> str:
    """human, ai, tool ...: from `type`, or from the class of a serialised object."""
    if value.get("lc") and isinstance(value.get("id"), list) and value["id"]:
        value = {"type": value["id"][-1]}
    kind = str(value.get("type") or "")
    return kind.removesuffix("Chunk").removesuffix("Message").lower()


def _found(value: Any) -> list[Any] | None:
    """The list of messages in a dump."""
    if isinstance(value, list):
        flat = value[0] if len(value) == 1 and isinstance(value[0], list) else value
        return flat if flat and all(map(_is_message, flat[:3])) else None
    for path in _PLACES:
        inner: Any = value
        for key in path:
            inner = inner.get(key) if isinstance(inner, dict) else None
        if isinstance(inner, list) and inner and all(map(_is_message, inner[:3])):
            return inner
    return None


def read(source: Source) -> Iterator[Session]:
    """The messages of a dump, or the conversations that the model calls of a trace make."""
    value = source.document_or_none
    messages = _found(value)
    if messages is None:
        runs = value if isinstance(value, list) else [record for _, record in source.records()]
        yield from growing.sessions("langchain", source.name, _calls(source, runs))
        return
    now = Gathering("langchain", "openai-chat", source.name)
    for record in messages:
        body = _body(record)
        if not _is_message(record):
            source.skip(f"message:{_kind(record) if isinstance(record, dict) else 'unknown'}")
            continue
        fields = {key: field for key, field in scalars(body).items() if key not in ("content", "type")}
        now.add(_message(record), 1, fields)
        now.used(*_usage(body))
    if now.messages:
        yield now.session()


def _body(record: Any) -> dict[str, Any]:
    if not isinstance(record, dict):
        return {}
    inner = record.get("kwargs") if record.get("lc") else record.get("data")
    return inner if isinstance(inner, dict) else record


def _message(record: dict[str, Any]) -> dict[str, Any]:
    if "role" in record:
        return record  # already OpenAI's
    body, kind = _body(record), _kind(record)
    role, content = _ROLES.get(kind, "user"), body.get("content")
    if role == "assistant":
        message = _assistant(body, content)
    elif role == "tool":
        message = chat.result(body.get("tool_call_id"), content, error=body.get("status") == "error")
    else:
        message = {"role": role, "content": content}
    return {**message, "name": body["name"]} if body.get("name") else message


def _assistant(body: dict[str, Any], content: Any) -> dict[str, Any]:
    """Calls stand in `tool_calls`, and with some providers in the content once more."""
    extra = mapping(body.get("additional_kwargs"))
    made = [*entries(body.get("tool_calls")), *entries(body.get("invalid_tool_calls"))]
    calls = [chat.call(c.get("id"), c.get("name"), c.get("args")) for c in made] or entries(extra.get("tool_calls"))
    if isinstance(content, list) and calls:
        content = [
            part for part in content if not (isinstance(part, dict) and part.get("type") in ("tool_use", "tool_call"))
        ]
    message = chat.assistant(content, calls, extra.get("reasoning_content"))
    if extra.get("function_call") and not calls:
        message["function_call"] = extra["function_call"]
    return message


def _usage(body: dict[str, Any]) -> tuple[Any, Any, Any, Any]:
    used = mapping(body.get("usage_metadata") or mapping(body.get("response_metadata")).get("token_usage"))
    sent, got, cached, _ = chat.usage(used)
    return sent, got, cached, mapping(used.get("input_token_details")).get("cache_creation") or 0


# --- LangSmith


def _calls(source: Source, runs: list[Any]) -> Iterator[growing.Call]:
    """The model calls of a trace in the order of the tree."""
    waiting = [run for run in runs if isinstance(run, dict)]
    known: list[dict[str, Any]] = []
    while waiting:
        run = waiting.pop()
        waiting += [child for child in entries(run.get("child_runs")) if isinstance(child, dict)]
        known.append(run)
    for run in sorted(known, key=lambda run: (str(run.get("dotted_order") or ""), str(run.get("start_time") or ""))):
        sent = _sent(run) if run.get("run_type") == "llm" else None
        if sent is None:
            source.skip(f"run:{run.get('run_type')}")
            continue
        answer, used = _answer(mapping(run.get("outputs")))
        tools = mapping(mapping(run.get("extra")).get("invocation_params")).get("tools")
        yield growing.Call("openai-chat", sent, answer, used, tools=tools, time=run.get("start_time"))


def _sent(run: dict[str, Any]) -> list[Any] | None:
    messages = mapping(run.get("inputs")).get("messages")
    if isinstance(messages, list) and len(messages) == 1 and isinstance(messages[0], list):
        messages = messages[0]
    return [_message(m) for m in messages if isinstance(m, dict)] if isinstance(messages, list) else None


def _answer(outputs: dict[str, Any]) -> tuple[list[Any], Any]:
    """The answer and its usage, from any of the forms that outputs have."""
    generations = outputs.get("generations")
    while isinstance(generations, list) and generations:
        generations = generations[0]
    if isinstance(generations, dict) and isinstance(generations.get("message"), dict):
        message = generations["message"]
        return [_message(message)], _body(message).get("usage_metadata")
    choices = outputs.get("choices")
    if isinstance(choices, list) and choices and isinstance(choices[0], dict):
        return [choices[0].get("message")], outputs.get("usage") or outputs.get("usage_metadata")
    if isinstance(outputs.get("role"), str):
        return [outputs], outputs.get("usage_metadata")
    return [], None
