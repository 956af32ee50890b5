"""Where random choices come from: hypothesis in the properties, a plain generator of numbers in the long fuzz."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

T = TypeVar("T")


class Chance:
    """Choices made of whole numbers: `number(least, most)` gives one between the two, both included.

    Low numbers and first options are the plain ones, so that hypothesis shrinks towards them.
    """

    def __init__(self, number: Callable[[int, int], int]) -> None:
        self.number = number

    def one(self, options: Sequence[T]) -> T:
        return options[self.number(0, len(options) - 1)]

    def once_in(self, times: int) -> bool:
        return self.number(1, times) == times

    def mostly(self, times: int) -> bool:
        """False once in so many times."""
        return self.number(1, times) != times

    def some(self, options: Sequence[T], most: int, least: int = 1) -> list[T]:
        """From `least` to `most` different options, in the order of choice."""
        left = list(options)
        return [left.pop(self.number(0, len(left) - 1)) for _ in range(self.number(least, min(most, len(left))))]

    def maybe(self, **choices: Sequence[Any]) -> dict[str, Any]:
        """Each key with one of its choices, or left out in half of the cases."""
        return {key: self.one(values) for key, values in choices.items() if self.once_in(2)}
