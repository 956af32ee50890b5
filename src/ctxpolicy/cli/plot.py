"""A curve in characters: pressure over the calls of a session, with thresholds and what was done."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from ctxpolicy.cli.output import can_show, fit

_EIGHTHS = " ▁▂▃▄▅▆▇█"
_MARGIN = 6  # columns before the curve: a number and the axis
_NICE = (0.1, 0.2, 0.5, 1.0)


@dataclass(frozen=True, slots=True)
class Point:
    """One call: pressure as the policy found the list and as it sent it, and a letter for what was done, or a space."""

    before: float
    sent: float
    mark: str = " "


@dataclass(frozen=True, slots=True)
class Line:
    """A threshold at a pressure."""

    pressure: float
    text: str


def plot(points: Sequence[Point], lines: Sequence[Line], width: int, height: int = 10) -> Iterator[str]:
    """The curve in lines of at most `width` characters; several calls share a column, which shows the highest.

    Solid is what was sent, shaded what the policy took away just before.
    """
    columns = _columns(points, max(1, min(width - _MARGIN, len(points))))
    top = _top(max((point.before for point in points), default=0.0))
    unicode = can_show(_EIGHTHS + "░┄│└─")
    for row in range(height - 1, -1, -1):
        low, high = top * row / height, top * (row + 1) / height
        here = [line for line in lines if low <= line.pressure < high]
        label = f"{here[0].pressure:.2f}" if here else f"{top:.2f}" if row == height - 1 else ""
        empty = ("┄" if unicode else "-") if here else " "
        cells = "".join(_cell(column, low, high, empty, unicode) for column in columns)
        yield fit(f"{label:>4} {'│' if unicode else '|'}{cells}".rstrip(), width)
    yield fit(f"{0:4.2f} {'└' if unicode else '+'}{('─' if unicode else '-') * len(columns)}", width)
    if any(column.mark != " " for column in columns):
        yield fit((" " * _MARGIN + "".join(column.mark for column in columns)).rstrip(), width)


def _columns(points: Sequence[Point], count: int) -> list[Point]:
    """Neighbours together, so that no more than `count` are left: the highest of each, and the most telling mark."""
    if not points:
        return []
    cuts = [round(i * len(points) / count) for i in range(count + 1)]
    return [_together(points[a:b]) for a, b in pairwise(cuts) if b > a]


def _together(points: Sequence[Point]) -> Point:
    marks = sorted({point.mark for point in points}, key=" MECx".find)  # the last is the most telling
    return Point(max(p.before for p in points), max(p.sent for p in points), marks[-1])


def _top(peak: float) -> float:
    return next((nice for nice in _NICE if peak <= nice), -(-peak // 0.5) * 0.5)


def _cell(point: Point, low: float, high: float, empty: str, unicode: bool) -> str:
    full = (point.sent - low) / (high - low)
    if not unicode:
        return "#" if full >= 0.5 else ":" if point.before >= (low + high) / 2 else empty
    if full >= 1:
        return _EIGHTHS[8]
    if full * 8 >= 1:
        return _EIGHTHS[int(full * 8 + 1e-9)]
    return "░" if point.before >= (low + high) / 2 else empty
