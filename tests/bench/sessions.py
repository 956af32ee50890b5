"""Made-up sessions, the same at every run."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

_LINE = "The gauge was read at {} and the valve stood open; nothing else was seen in hall {}.\n"


def steps(turns: int, seed: int = 7) -> Iterator[list[dict[str, Any]]]:
    """One model turn at a time: an assistant message with a call, and its result. Few results hold most of the text."""
    chance = random.Random(seed)
    for n in range(turns):
        lines = chance.choice((2, 4, 8, 16, 60))
        call = {
            "id": f"call_{n}",
            "type": "function",
            "function": {"name": "read_log", "arguments": f'{{"hall": {n}}}'},
        }
        yield [
            {"role": "assistant", "content": f"Step {n}: read the log.", "tool_calls": [call]},
            {"role": "tool", "tool_call_id": f"call_{n}", "content": _LINE.format(n, n % 9) * lines},
        ]


def opening() -> list[dict[str, Any]]:
    return [
        {"role": "system", "content": "You keep the records of a harbour. Be brief."},
        {"role": "user", "content": "Find out why the north ferry is late and write it down."},
    ]


def conversation(messages: int, seed: int = 7) -> list[dict[str, Any]]:
    """A whole session of about this many messages."""
    return [*opening(), *(m for step in steps(messages // 2, seed) for m in step)]
