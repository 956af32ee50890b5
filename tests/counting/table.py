"""The error of `estimate`: its count over the exact one, per kind of text and per tokenizer, as a Markdown table."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

SHARES = (0.5, 0.05, 0.95, 0.0, 1.0)  # median, 5th and 95th percentile, lowest, highest


@dataclass(frozen=True)
class Line:
    """One line: the ratios of each text by tokenizer, and by tokenizer the median where the fit left this kind out."""

    kind: str
    ratios: Mapping[str, Sequence[float]]
    unseen: Mapping[str, float] = field(default_factory=dict)

    def __str__(self) -> str:
        texts = max(map(len, self.ratios.values()))
        cells = (_cell(ratios, self.unseen.get(name)) for name, ratios in self.ratios.items())
        return f"| {self.kind} | {texts} | {' | '.join(cells)} |"


def drawn(lines: Sequence[Line]) -> Iterator[str]:
    """The lines of the table. A cell says: median, 5th and 95th percentile, lowest, highest, and the unseen median."""
    names = list(lines[0].ratios)
    yield f"| Kind of text | Texts | {' | '.join(names)} |"
    yield f"|---|--:|{'---|' * len(names)}"
    yield from map(str, lines)


def ratios(guesses: Sequence[float], exact: Sequence[int]) -> list[float]:
    return [guess / count for guess, count in zip(guesses, exact, strict=True)]


def percentile(ratios: Sequence[float], share: float) -> float:
    """The ratio below which this share of them lies, between two where it falls between."""
    ordered = sorted(ratios)
    below, rest = divmod(share * (len(ordered) - 1), 1)
    first, second = ordered[int(below)], ordered[min(int(below) + 1, len(ordered) - 1)]
    return first + rest * (second - first)


def _cell(ratios: Sequence[float], unseen: float | None) -> str:
    figures = " ".join(f"{percentile(ratios, share):.2f}" for share in SHARES)
    return figures if unseen is None else f"{figures} ({unseen:.2f})"
