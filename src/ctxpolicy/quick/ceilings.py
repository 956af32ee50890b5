"""At most how many tokens a text has, known from its length alone: for each counter a bound that is never too low."""

from __future__ import annotations

from ctxpolicy.estimate import WEIGHTS, WIDE_WEIGHTS
from ctxpolicy.tokens import Counter, counter

# The most that one character costs, in thousandths of a token: where all are ASCII, and where not.
_ESTIMATE = (
    WEIGHTS["character"] + max(WEIGHTS["digit"], WEIGHTS["capital"] + max(WEIGHTS["run"], WEIGHTS["long"])),
    2 * max(weight for _, weight in WIDE_WEIGHTS.values()),  # two UTF-16 units
)
_TOKENIZER = (1000, 4000)  # a token is at least one byte of UTF-8
# Characters. A longer text is counted, as the bound is about four times too high; of so many it is still under the
# 2,000 tokens at which the default policy begins to cut.
_SHORT = 1700


def ceiling(name: str) -> Counter:
    """The bound for a counter as a policy names it: text in, tokens out, never below what the counter says.

    Raises what `tokens.counter` does.
    """
    count = counter(name)
    if name == "chars":  # looks at no more than the length itself
        return count
    plain, other = _ESTIMATE if name == "estimate" else _TOKENIZER

    def most(text: str) -> int:
        size = len(text)
        if size > _SHORT:
            return count(text)
        return -(-size * (plain if text.isascii() else other) // 1000)

    return most
