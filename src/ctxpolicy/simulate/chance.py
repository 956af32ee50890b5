"""Texts and sizes by chance, the same for the same seed."""

from __future__ import annotations

import json
import math
from bisect import bisect_right
from random import Random
from typing import Any

Quantiles = tuple[tuple[float, float], ...]  # (share of cases, size at most), both rising

_STEM = 3  # letters of half the average word
_STOCK = 400  # words and lines to choose from


class Maker:
    """A source of chance. Only `Random.random` is used: Python keeps its sequence from version to version."""

    def __init__(self, seed: int) -> None:
        self._random = Random(seed).random
        self._words = [self._word() for _ in range(_STOCK)]
        self._lines = [self._line() for _ in range(_STOCK)]

    def below(self, count: int) -> int:
        """A whole number from 0 to `count` - 1."""
        return int(self._random() * count)

    def happens(self, share: float) -> bool:
        """True in this share of cases."""
        return self._random() < share

    def size(self, quantiles: Quantiles) -> int:
        """A size drawn from quantiles, between two of them by equal ratios: sizes spread over orders of magnitude."""
        at = self._random()
        i = max(1, min(bisect_right(quantiles, (at, math.inf)), len(quantiles) - 1))
        (low, least), (high, most) = quantiles[i - 1], quantiles[i]
        share = (at - low) / (high - low)
        size: float = (least + 1) * ((most + 1) / (least + 1)) ** share - 1
        return round(size)

    def prose(self, chars: int) -> str:
        """Words, about as many characters."""
        return self.words(max(1, round(chars / (2 * _STEM)))).capitalize() + "."

    def output(self, chars: int) -> str:
        """What a command prints: lines with paths and numbers."""
        lines, total = [], 0
        while total < chars:
            line = self._lines[self.below(_STOCK)]
            lines.append(line)
            total += len(line) + 1
        return "\n".join(lines)[: max(chars, 2)]

    def records(self, chars: int) -> str:
        """What a service answers: JSON records."""
        records: list[dict[str, Any]] = []
        total = 2
        while total < chars or not records:
            record = {"id": f"R-{self.below(10**6)}", "name": self.prose(24), "price": self.below(10**5) / 100}
            records.append(record)
            total += len(json.dumps(record)) + 2
        return json.dumps({"records": records})

    def picture(self) -> dict[str, Any]:
        """A part with a picture, none like another. What it shows is not real."""
        data = f"iVBORw0KGgo{self.below(10**9):09}AAAA"
        return {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{data}"}}

    def words(self, count: int) -> str:
        """So many words."""
        return " ".join(self._words[self.below(_STOCK)] for _ in range(count))

    def _word(self) -> str:
        syllables = ["bcdfglmnprstv"[self.below(13)] + "aeiou"[self.below(5)] for _ in range(1 + self.below(_STEM + 1))]
        return "".join(syllables)

    def _line(self) -> str:
        path = f"src/{self._words[self.below(_STOCK)]}/{self._words[self.below(_STOCK)]}.py:{self.below(900)}"
        return f"{path}: {self.prose(12 + self.below(60))}"
