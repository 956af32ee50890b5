"""The fit: which weights of `estimate` are nearest to real tokenizers, over many kinds of text.

Least squares of the relative error, so that a short text counts like a long one, with every tokenizer's count of every
text as one equation. Real transcripts, what the counter is for, weigh about as much as all else; kinds that are made
here weigh a fifth of one that is found, for their texts are all alike. The solution is put up by `LIFT`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from ctxpolicy.estimate import WEIGHTS, features

LIFT = 1.05
SHARES = {"made": 0.2, "found": 1.0, "recorded": 8.0}
# The least and the most of each. A character must cost something, or repeating one would be free. o200k and cl100k put
# three digits in a token, and Qwen one: three quarters keeps within a quarter of it where a text is nothing but digits.
# A letter by itself is about half a token where letters follow each other at random.
LIMITS = {"run": (0.0, 1.0), "character": (0.032, 1.0), "digit": (0.74, 1.0), "capital": (0.0, 1.0), "long": (0.0, 0.5)}

Texts = Mapping[str, Sequence[str]]  # by kind
Counts = Mapping[str, Sequence[int]]  # by kind, in the same order; of one tokenizer


def fitted(texts: Texts, counts: Sequence[Counts], shares: Mapping[str, float]) -> dict[str, float]:
    """The weights in tokens, fitted to the kinds that have a share."""
    equations: list[tuple[list[float], float]] = []
    for kind, share in shares.items():
        equations += _equations(texts[kind], [count[kind] for count in counts], share)
    solution = _least_squares(equations, [(low / LIFT, high / LIFT) for low, high in LIMITS.values()])
    return {name: LIFT * weight for name, weight in zip(WEIGHTS, solution, strict=True)}


def unseen(
    texts: Texts, counts: Mapping[str, Counts], shares: Mapping[str, float], kind: str
) -> dict[str, list[float]]:
    """By tokenizer: estimate / exact of each ASCII text of a kind, with weights fitted to all the other kinds."""
    weights = fitted(texts, list(counts.values()), {other: share for other, share in shares.items() if other != kind})
    plain = [n for n, text in enumerate(texts[kind]) if text.isascii()]
    guesses = {n: cost(weights, texts[kind][n]) for n in plain}
    return {name: [guesses[n] / count[kind][n] for n in plain] for name, count in counts.items()}


def cost(weights: Mapping[str, float], text: str) -> float:
    """Tokens of an ASCII text by these weights."""
    return sum(weight * amount for weight, amount in zip(weights.values(), amounts(text), strict=True))


def amounts(text: str) -> tuple[int, ...]:
    """How much there is in an ASCII text of what each weight weighs."""
    runs, digits, capitals, long = features(text.encode("ascii"))
    return runs, len(text), digits, capitals, long


def _equations(
    texts: Sequence[str], counts: Sequence[Sequence[int]], share: float
) -> Iterator[tuple[list[float], float]]:
    plain = [n for n, text in enumerate(texts) if text.isascii()]
    for n in plain:
        for count in counts:
            scale = (share / len(plain)) ** 0.5 / count[n]
            yield [scale * amount for amount in amounts(texts[n])], scale * count[n]


def _least_squares(
    equations: Sequence[tuple[list[float], float]], limits: Sequence[tuple[float, float]]
) -> list[float]:
    """The solution of the normal equations within the limits: one unknown at a time, until they stand."""
    size = range(len(limits))
    left = [[sum(row[i] * row[j] for row, _ in equations) for j in size] for i in size]
    right = [sum(row[i] * value for row, value in equations) for i in size]
    found = [low for low, _ in limits]
    for _ in range(500):
        for i, (low, high) in enumerate(limits):
            rest = right[i] - sum(left[i][j] * found[j] for j in size if j != i)
            found[i] = min(high, max(low, rest / left[i][i]))
    return found
