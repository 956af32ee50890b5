"""The naive list: what most agent loops begin with, as it is written in an afternoon. Every fault in it is meant.

`tests/faults` shows each of them: a test there passes on a managed window and must fail here.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ctxpolicy import SummaryRequest

Message = dict[str, Any]

CORRECTION = re.compile(r"not |no,|instead|actually|wrong", re.IGNORECASE)
PROMPT = "Summarize this conversation. Reply NOTHING if nothing matters.\n\n"


class NaiveList:
    """A list of messages, pins by index, one summary call when it gets long, `pop` from the front when it is full."""

    def __init__(
        self,
        window: int = 4000,
        ratio: float = 1.0,
        reserve: int = 0,
        *,
        keep_recent: int = 4,
        pin_task: bool = True,
        cap: int = 800,  # characters of a tool result
        compact_at: float = 0.7,
        evict_at: float = 0.9,
        summarize: Callable[[SummaryRequest], Any] | None = None,
        archive: Callable[[Sequence[Any]], Any] | None = None,
        messages: Sequence[Message] = (),
        tools: Sequence[Any] = (),
        step_back: bool = False,  # the usual first repair: never begin the kept part next to a tool result
    ) -> None:
        self.limit = int(window * ratio) - reserve
        self.keep_recent, self.pin_task = keep_recent, pin_task
        self.cap, self.step_back = cap, step_back
        self.compact_at, self.evict_at = compact_at, evict_at
        self.summarize, self.archive = summarize, archive
        self.messages = list(messages)
        self.tools = tools
        self.pins: set[int] = set()
        self.events: list[str] = []

    def append(self, message: Message, meta: Mapping[str, Any] | None = None) -> None:
        if message["role"] == "tool":
            message["content"] = self.truncate(message["content"])
        if self.count(message) > self.limit:
            raise ValueError("the message is too large and cannot be sent")
        if meta and meta.get("pin"):
            self.pins.add(len(self.messages))
        self.messages.append(message)

    def prepare(self) -> list[Message]:
        if self.summarize and self.used() > self.compact_at * self.limit:
            self.compact()
        while self.used() > self.evict_at * self.limit:
            oldest = next((i for i in range(len(self.messages)) if not self.pinned(i)), None)
            if oldest is None:
                break
            self.messages.pop(oldest)
            self.events.append(f"evicted message {oldest}")
        return self.messages

    def pressure(self) -> float:
        return self.used() / self.limit

    def used(self) -> int:
        return sum(self.count(m) for m in self.messages) + (len(json.dumps(self.tools)) // 4 if self.tools else 0)

    def count(self, message: Message) -> int:
        tokens = len(message.get("content") or "") / 4
        for call in message.get("tool_calls") or ():
            tokens += len(json.dumps(call)) / 4
        return math.ceil(tokens)

    def truncate(self, text: str) -> str:
        if len(text) <= self.cap:
            return text
        head, tail = int(self.cap * 0.6), int(self.cap * 0.4)
        return f"{text[:head]}\n... [{len(text) - self.cap} bytes dropped] ...\n{text[-tail:]}"

    def pinned(self, i: int) -> bool:
        message = self.messages[i]
        task = self.pin_task and i == next((n for n, m in enumerate(self.messages) if m["role"] == "user"), None)
        correction = message["role"] == "user" and CORRECTION.search(message["content"])
        recent = i >= len(self.messages) - self.keep_recent
        return bool(i in self.pins or message["role"] == "system" or task or correction or recent)

    def compact(self) -> None:
        end = len(self.messages) - self.keep_recent
        while self.step_back and end > 0 and "tool" in (self.messages[end]["role"], self.messages[end - 1]["role"]):
            end -= 1
        start = next((i for i in range(end) if not self.pinned(i)), end)
        stop = next((i for i in range(start, end) if self.pinned(i)), end)
        if stop - start < 2:
            return
        span = self.messages[start:stop]
        text = "\n".join(f"{m['role']}: {self.words(m)}" for m in span)
        assert self.summarize is not None
        note = self.summarize(SummaryRequest(PROMPT + text, text, 60, "naive", 200))
        if note == "NOTHING":
            del self.messages[start:stop]
        else:
            if self.archive:
                self.archive([{"removed": span}])
            self.messages[start:stop] = [{"role": "user", "content": f"[Summary] {note}", "_compacted": len(span)}]
        self.events.append(f"compacted {len(span)} messages")

    def words(self, message: Message) -> str:
        called = [f"{c['function']['name']} {c['function']['arguments']}" for c in message.get("tool_calls") or ()]
        return " ".join([message.get("content") or "", *called])
