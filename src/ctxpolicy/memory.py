"""What a compact rule remembers between runs: failures in a row, and the spans that failed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

_MOST_FAILED = 32  # spans remembered; the oldest is forgotten first


class Memory(msgspec.Struct):
    """A rule's breaker and failed spans.

    `failures` counts failed calls in a row. `low` is the smallest list (tokens) seen since the breaker opened.
    `failed` maps a span's key to the tokens it had when it failed.
    """

    failures: int = 0
    low: int | None = None
    failed: dict[str, int] = {}

    def rests(self, breaker: int, used: int, min_gain: int) -> bool:
        """True while the breaker is open: until the list has grown by `min_gain` over its smallest size since."""
        if self.failures < breaker:
            return False
        self.low = used if self.low is None else min(self.low, used)
        return used < self.low + max(1, min_gain)

    def fail(self, used: int, key: str | None = None, tokens: int = 0) -> None:
        """Count a failed call; with a key, that span is not asked again until it has grown."""
        self.failures += 1
        self.low = used
        if key is not None:
            self.failed.pop(key, None)
            self.failed[key] = tokens
            while len(self.failed) > _MOST_FAILED:
                del self.failed[next(iter(self.failed))]

    def see(self, used: int) -> None:
        """A run ended with a list of so many tokens."""
        if self.low is not None:
            self.low = min(self.low, used)

    def succeed(self) -> None:
        self.failures, self.low = 0, None

    def copy(self) -> Memory:
        return Memory(self.failures, self.low, dict(self.failed))

    def dump(self) -> dict[str, Any]:
        return {"failures": self.failures, "low": self.low, "failed": dict(self.failed)}

    @classmethod
    def load(cls, value: Mapping[str, Any]) -> Memory:
        return cls(int(value["failures"]), value.get("low"), dict(value.get("failed") or {}))

    @property
    def empty(self) -> bool:
        return not self.failures and not self.failed
