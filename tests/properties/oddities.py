"""What a provider may refuse in a list, counted by kind; written from the rules of the API alone."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence

from properties.transcripts import Wire


def oddities(messages: Sequence[Wire]) -> Counter[str]:
    found: Counter[str] = Counter()
    open_calls: list[str] = []
    asked: set[str] = set()
    dead: set[str] = set()
    for message in messages:
        if message["role"] in ("tool", "function"):
            call = message.get("tool_call_id", f"function:{message.get('name')}")
            found[_kind(call, open_calls, asked)] += 1
            if call in open_calls:
                found["late"] += call in dead
                open_calls.remove(call)
        elif message["role"] == "assistant":
            calls = [c["id"] for c in message.get("tool_calls") or []]
            calls += [f"function:{message['function_call']['name']}"] if message.get("function_call") else []
            found["unanswered"] += sum(call in calls for call in open_calls)  # its result would go to the new one
            dead = {call for call in open_calls if call not in calls}
            open_calls = [*(call for call in open_calls if call in dead), *calls]
            asked |= set(calls)
        found["surrogate"] += "\\ud83d" in json.dumps(_text(message)).replace("\\ud83d\\u", "")
    found["unanswered"] += len(open_calls)
    found["ok"] = 0
    return found


def _kind(call: str, open_calls: list[str], asked: set[str]) -> str:
    return "ok" if call in open_calls else "double" if call in asked else "orphan"


def _text(message: Wire) -> str:
    content = message.get("content") or ""
    return content if isinstance(content, str) else "".join(part.get("text", "") for part in content)
