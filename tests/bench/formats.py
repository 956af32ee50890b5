"""Reading: what the view of a message costs in each wire format, its pricing included, against OpenAI Chat."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

from tests.bench.measure import Line, at_most, in_turn
from tests.bench.sessions import conversation

from ctxpolicy import formats
from ctxpolicy.policy.model import Budget
from ctxpolicy.tokens import Meter

Wire = dict[str, Any]


def _anthropic(message: Wire) -> Iterator[Wire]:
    if message["role"] == "tool":
        block = {"type": "tool_result", "tool_use_id": message["tool_call_id"], "content": message["content"]}
        yield {"role": "user", "content": [block]}
    elif calls := message.get("tool_calls"):
        uses = [{"type": "tool_use", "id": c["id"], **_called(c, "input")} for c in calls]
        yield {"role": "assistant", "content": [{"type": "text", "text": message["content"]}, *uses]}
    else:
        yield message


def _responses(message: Wire) -> Iterator[Wire]:
    if message["role"] == "tool":
        yield {"type": "function_call_output", "call_id": message["tool_call_id"], "output": message["content"]}
        return
    own = {"type": "output_text", "text": message["content"], "annotations": []}
    yield {"type": "message", "role": "assistant", "content": [own]} if message["role"] == "assistant" else message
    for call in message.get("tool_calls", ()):
        yield {"type": "function_call", "id": f"fc_{call['id']}", "call_id": call["id"], **call["function"]}


def _gemini(message: Wire) -> Iterator[Wire]:
    if message["role"] == "tool":
        body = {"name": "read_log", "response": {"result": message["content"]}}
        yield {"role": "user", "parts": [{"functionResponse": body}]}
        return
    calls = [{"functionCall": _called(c, "args")} for c in message.get("tool_calls", ())]
    role = "model" if message["role"] == "assistant" else message["role"]
    yield {"role": role, "parts": [{"text": message["content"]}, *calls]}


def _called(call: Wire, key: str) -> Wire:
    return {"name": call["function"]["name"], key: json.loads(call["function"]["arguments"])}


_WRITERS: dict[str, Callable[[Wire], Iterator[Wire]]] = {
    "openai-chat": lambda message: iter((message,)),
    "anthropic": _anthropic,
    "openai-responses": _responses,
    "gemini": _gemini,
}


def _reading(name: str, messages: list[Wire]) -> Callable[[], None]:
    read, price = formats.get(name).read, Meter.of(Budget(128_000, counter="chars")).message

    def run() -> None:
        for index, wire in enumerate(messages):
            for message in read(wire, index):
                price(message)

    return run


def lines() -> Iterator[Line]:
    talk = conversation(10_000)
    written = {name: [wire for message in talk for wire in write(message)] for name, write in _WRITERS.items()}
    times = in_turn([_reading(name, messages) for name, messages in written.items()], runs=9)
    chat, *others = (time / len(messages) for time, messages in zip(times, written.values(), strict=True))
    for name, cost in zip(list(written)[1:], others, strict=True):
        yield at_most(f"formats: reading a message of {name} / one of openai-chat", cost / chat, "x", 2)
