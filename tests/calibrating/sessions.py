"""Long sessions with tool results of one kind, of all kinds, or of kinds in turn. The same at every run."""

from __future__ import annotations

import base64
import json
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec

from ctxpolicy.errors import TranscriptInvalid
from ctxpolicy.formats.detect import format_of
from ctxpolicy.logs import read_log

CORPUS = Path(__file__).parents[3] / "shared" / "corpus"
PROSE = (
    "The crane at the north pier was moved before the storm, and nobody has checked its brakes since. ",
    "The dispatcher wrote that the ferry would be late because the labels were printed after the sorting. ",
    "Please find out who closed the valve in hall four, and when. ",
)
CHINESE = (
    "港口的起重机在暴风雨前被移走了，此后没有人检查过它的刹车。",
    "今天上午调度员报告说，北码头的渡轮晚点了四十分钟，原因是标签打印得太晚。",
    "仓库里还有三百个包裹没有分拣，请查明责任人并记录下来。",
)

Line = Callable[[random.Random], str]
LINES: dict[str, Line] = {
    "prose": lambda chance: chance.choice(PROSE),
    "chinese": lambda chance: f"{chance.choice(CHINESE)}{chance.randrange(100)}\n",
    "base64": lambda chance: base64.b64encode(chance.randbytes(57)).decode() + "\n",
    "json": lambda chance: json.dumps({"id": chance.randrange(10**6), "depth": chance.random()}) + "\n",
    "code": lambda chance: f"    def berth_{chance.randrange(99)}(self) -> float:\n        return self.cranes[7].m\n",
    "log": lambda chance: f"2026-03-11T12:07:{chance.randrange(60):02}Z INFO 0x{chance.getrandbits(32):08x} took 9us\n",
}
KINDS = tuple(LINES)
Plan = Callable[[int, random.Random], str]  # the kind of text of turn n
PLANS: dict[str, Plan] = {
    **{kind: lambda n, chance, kind=kind: kind for kind in KINDS},  # type: ignore[misc]
    "mixed": lambda n, chance: chance.choice(KINDS),
    "in turn": lambda n, chance: KINDS[n // 10 % len(KINDS)],
    "late chinese": lambda n, chance: "prose" if n % 60 < 45 else "chinese",
    "late base64": lambda n, chance: "code" if n % 60 < 45 else "base64",
}


class Session(msgspec.Struct, frozen=True):
    """A recorded list, whole, with what is sent beside it."""

    name: str
    messages: list[Any]
    format: str = "openai-chat"
    tools: list[Any] | None = None
    system: Any = None


def made(plan: str, *, turns: int = 250, seed: int = 7) -> Session:
    """A session of so many turns, each with one to three tool results of the plan's kind."""
    return Session(plan, list(_messages(PLANS[plan], turns, random.Random(seed))))


def recorded(least: int = 100_000) -> Iterator[Session]:
    """Real sessions with files of at least so many bytes, where they stand beside the repository."""
    for path in sorted(CORPUS.rglob("*.json*") if CORPUS.is_dir() else ()):
        if path.stat().st_size >= least:
            try:
                found = read_log(path).conversations()
            except TranscriptInvalid:
                continue
            for log in found:
                if len(log.messages) > 20:
                    name = log.format or format_of(log.messages[-1])
                    yield Session(log.where, log.messages, name, log.tools, log.system)


def _messages(plan: Plan, turns: int, chance: random.Random) -> Iterator[dict[str, Any]]:
    yield {"role": "system", "content": "You keep the records of a harbour. Be brief."}
    yield {"role": "user", "content": PROSE[2]}
    for n in range(turns):
        kind = plan(n, chance)
        ids = [f"c{n}_{k}" for k in range(chance.randint(1, 3))]
        asked = [{"id": i, "type": "function", "function": {"name": "read", "arguments": f'{{"n": {n}}}'}} for i in ids]
        own = kind if kind == "chinese" else "prose"
        yield {"role": "assistant", "content": _text(own, 200, chance), "tool_calls": asked}
        for i in ids:
            size = chance.choice((300, 1_500, 4_000, 12_000))
            yield {"role": "tool", "tool_call_id": i, "content": _text(kind, size, chance)}
        if n % 15 == 14:
            yield {"role": "assistant", "content": _text(own, 300, chance)}
            yield {"role": "user", "content": _text(own, 100, chance)}


def _text(kind: str, size: int, chance: random.Random) -> str:
    """Whole lines of at least so many characters."""
    text = ""
    while len(text) < size:
        text += LINES[kind](chance)
    return text
