"""OpenTelemetry spans of model calls: GenAI, OpenInference and OpenLLMetry attributes, in OTLP JSON or flat."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from ctxpolicy.logs import chat, growing
from ctxpolicy.logs.model import Session, entries
from ctxpolicy.logs.source import Source

_SENT = "gen_ai.input.messages"
_INDEXED = {"llm.input_messages": "llm.output_messages", "gen_ai.prompt": "gen_ai.completion"}
_NOT_CALLS = (
    "invoke_agent",
    "create_agent",
    "execute_tool",
    "invoke_workflow",
    "embeddings",
    "plan",
)  # they repeat or hold none


def recognises(source: Source) -> bool:
    return any(map(_has_spans, source.head or [source.document_or_none]))


def _has_spans(value: Any) -> bool:
    if not isinstance(value, dict):
        return isinstance(value, list) and any(map(_has_spans, value[:1]))
    if isinstance(value.get("resourceSpans"), list):
        return True
    attributes = value.get("attributes")
    names = attributes if isinstance(attributes, dict) else value
    return any(str(name).startswith(("gen_ai.", "llm.input_messages")) for name in names)


def read(source: Source) -> Iterator[Session]:
    """The conversations that the model calls make, in the order of time."""
    values = source.records() if source.head else iter([(1, source.document)])
    spans = sorted((span for line, value in values for span in _spans(value, line)), key=lambda span: span[0])
    calls = (_call(source, *span) for span in spans)
    return growing.sessions("otel", source.name, (call for call in calls if call is not None))


def _spans(value: Any, line: int) -> Iterator[tuple[int, int, dict[str, Any], str]]:
    """Start in nanoseconds, line, attributes and name of each span."""
    if isinstance(value, list):
        for item in value:
            yield from _spans(item, line)
    elif isinstance(value, dict) and isinstance(value.get("resourceSpans"), list):
        for resource in entries(value["resourceSpans"]):
            for scope in entries(resource.get("scopeSpans")):
                for span in entries(scope.get("spans")):
                    yield _span(span, line)
    elif isinstance(value, dict):
        yield _span(value, line)


def _span(span: dict[str, Any], line: int) -> tuple[int, int, dict[str, Any], str]:
    attributes = _attributes(span.get("attributes", span))
    for event in entries(span.get("events")):
        told = _attributes(event.get("attributes")) if isinstance(event, dict) else {}
        if any(key.startswith("gen_ai.") for key in told):
            attributes = {**attributes, **told}
    start = span.get("startTimeUnixNano") or span.get("start_time_unix_nano") or 0
    return int(start) if str(start).isdecimal() else 0, line, attributes, str(span.get("name"))


def _attributes(given: Any) -> dict[str, Any]:
    """Attributes as a mapping: OTLP writes a list of keys and typed values."""
    if isinstance(given, dict):
        return given
    pairs = given if isinstance(given, list) else ()
    return {str(pair["key"]): _value(pair.get("value")) for pair in pairs if isinstance(pair, dict) and "key" in pair}


def _value(value: Any) -> Any:
    if not isinstance(value, dict) or len(value) != 1:
        return value
    ((kind, inner),) = value.items()
    if kind == "intValue":
        return int(inner) if str(inner).removeprefix("-").isdecimal() else None
    if kind == "arrayValue":
        return [_value(item) for item in entries(inner.get("values"))]
    if kind == "kvlistValue":
        return _attributes(inner.get("values"))
    return inner


def _call(source: Source, start: int, line: int, facts: dict[str, Any], name: str) -> growing.Call | None:
    """The model call of a span; None where it is none, which is counted."""
    if facts.get("gen_ai.operation.name") in _NOT_CALLS or facts.get("openinference.span.kind", "LLM") != "LLM":
        source.skip(f"span:{facts.get('gen_ai.operation.name') or facts.get('openinference.span.kind')}")
        return None
    sent, answer = _conventional(facts) if _SENT in facts else _flattened(facts)
    if not sent:
        source.skip(f"span:{name}" if name.isidentifier() else "span:other")
        return None
    tools = _json(facts.get("gen_ai.tool.definitions"))
    used = _used(facts)
    return growing.Call(
        "openai-chat", sent, answer, used, None, tools if isinstance(tools, list) else None, line, start or None
    )


def _used(facts: dict[str, Any]) -> dict[str, Any]:
    """The usage of a span, as OpenAI counts: input with what came from the cache."""

    def first(*keys: str) -> Any:
        return next((facts[key] for key in keys if facts.get(key) is not None), None)

    return {
        "prompt_tokens": first("gen_ai.usage.input_tokens", "llm.token_count.prompt", "gen_ai.usage.prompt_tokens"),
        "completion_tokens": first(
            "gen_ai.usage.output_tokens", "llm.token_count.completion", "gen_ai.usage.completion_tokens"
        ),
        "cache_read_input_tokens": first(
            "gen_ai.usage.cache_read.input_tokens", "llm.token_count.prompt_details.cache_read"
        ),
    }


def _json(value: Any) -> Any:
    """A value that may be written as JSON text."""
    try:
        return json.loads(value) if isinstance(value, str) else value
    except ValueError:
        return value


# --- gen_ai.input.messages: messages of parts


def _conventional(facts: dict[str, Any]) -> tuple[list[Any], list[Any]]:
    orders = _json(facts.get("gen_ai.system_instructions"))
    system = [{"role": "system", "parts": orders if isinstance(orders, list) else [orders]}] if orders else []
    sent, answer = _json(facts[_SENT]), _json(facts.get("gen_ai.output.messages"))
    return _wires([*system, *_listed(sent)]), _wires(_listed(answer))


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _wires(messages: list[Any]) -> list[Any]:
    return [wire for message in messages if isinstance(message, dict) for wire in _of_parts(message)]


def _of_parts(message: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Each tool response is a message of its own; the other parts are one."""
    role, content, calls, thoughts = message.get("role"), [], [], []
    for part in entries(message.get("parts")):
        part = part if isinstance(part, dict) else {"type": "text", "content": part}
        kind = part.get("type")
        if kind == "tool_call_response":
            yield chat.result(part.get("id"), part.get("response", part.get("result")))
        elif kind == "tool_call":
            calls.append(chat.call(part.get("id"), part.get("name"), part.get("arguments")))
        elif kind == "reasoning":
            thoughts.append(str(part.get("content") or ""))
        else:
            content.append(_piece(part))
    texts = [piece["text"] for piece in content if piece.get("type") == "text"]
    said: Any = "".join(texts) if len(texts) == len(content) else content
    if role == "assistant":
        yield chat.assistant(said, calls, "\n".join(thoughts))
    elif content:
        yield {"role": "user" if role == "tool" else role, "content": said}


def _piece(part: dict[str, Any]) -> dict[str, Any]:
    kind, mime = part.get("type"), part.get("mime_type")
    if kind == "text":
        return {"type": "text", "text": str(part.get("content") or "")}
    if kind == "uri" and part.get("modality") == "image":
        return {"type": "image_url", "image_url": {"url": part.get("uri")}}
    if kind == "blob" and part.get("modality") == "image":
        return {"type": "image_url", "image_url": {"url": f"data:{mime};base64,{part.get('content')}"}}
    return part


# --- one attribute for each leaf: llm.input_messages.0.message.content, gen_ai.prompt.0.role


def _flattened(facts: dict[str, Any]) -> tuple[list[Any], list[Any]]:
    for sent, answer in _INDEXED.items():
        if any(key.startswith(f"{sent}.") for key in facts):
            return [_flat(m) for m in _tree(facts, sent)], [_flat(m) for m in _tree(facts, answer)]
    return [], []


def _tree(facts: dict[str, Any], prefix: str) -> list[Any]:
    """The list that attributes with numbers in their names spell."""
    root: dict[str, Any] = {}
    for key, value in facts.items():
        if key.startswith(f"{prefix}."):
            *path, last = key[len(prefix) + 1 :].split(".")
            at = root
            for step in path:
                inner = at.get(step)
                at[step] = at = inner if isinstance(inner, dict) else {}
            at[last] = value
    return _ordered(root)


def _ordered(value: Any) -> list[Any]:
    items = value.items() if isinstance(value, dict) else ()
    numbered = sorted((int(key), item) for key, item in items if key.isdecimal() and isinstance(item, dict))
    return [item for _, item in numbered]


def _flat(item: dict[str, Any]) -> dict[str, Any]:
    message = item.get("message", item)
    bodies = [call.get("tool_call", call) for call in _ordered(message.get("tool_calls"))]
    calls = [
        chat.call(body.get("id"), *(body.get("function", body).get(key) for key in ("name", "arguments")))
        for body in bodies
    ]
    content = message.get("content")
    if content is None:
        pieces = [piece.get("message_content", piece) for piece in _ordered(message.get("contents"))]
        content = "".join(str(piece.get("text") or "") for piece in pieces) or None
    role = message.get("role")
    if role == "tool":
        return chat.result(message.get("tool_call_id"), content, name=message.get("name"))
    return chat.assistant(content, calls) if role == "assistant" else {"role": role, "content": content}
