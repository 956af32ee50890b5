"""The chart's geometry: calls become positions in a square that the page stretches to its own width and height."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import groupby, pairwise

from ctxpolicy.page.model import Chart, Mark, Rail
from ctxpolicy.policy.thresholds import percent
from ctxpolicy.result import Event
from ctxpolicy.simulate.course import Call, Course

_SIDE = 1000  # of the square
_POINTS = 500  # of a curve at most; neighbours are drawn as the highest of them
_MARKS = 150  # places for marks at most; neighbours are told together
_ROOM = 1.06  # over the highest point
_KINDS = ("failed", "compact", "evict", "mask")  # the most telling first


def chart(course: Course, triggers: Sequence[tuple[int, str]]) -> Chart | None:
    """The chart of a course; `triggers` are thresholds in tokens with the rules they belong to."""
    calls, limit = course.calls, course.spec.budget.limit
    if not calls:
        return None
    top = _top(course, limit)
    sent = _points(calls, lambda call: call.sent / limit, top)
    whole = _points(calls, lambda call: call.whole / limit, top)
    marks = _marks(calls)
    return Chart(
        _path(sent),
        f"M{sent[0][0]:.0f},{_SIDE} L" + _path(sent)[1:] + f" L{sent[-1][0]:.0f},{_SIDE} Z",
        _path(whole),
        [Rail(f"{tokens / limit:.2f} {rule}", _down(tokens / limit, top)) for tokens, rule in triggers],
        marks,
        [Rail(percent(share), _down(share, top)) for share in _ticks(top)],
        len(calls),
        [kind for kind in _KINDS if any(mark.kind == kind for mark in marks)],
    )


def _top(course: Course, limit: int) -> float:
    """Pressure at the upper edge: the highest list sent or found, and at least what keeping everything reached, but
    no more than a third above them: it leaves the chart."""
    highest = max(call.before for call in course.calls) / limit
    kept = min(course.whole_peak / limit, 1.3 * max(highest, 0.7))
    return max(highest, kept, 0.01) * _ROOM


def _down(pressure: float, top: float) -> float:
    """Percent from the upper edge."""
    return round(100 * (1 - pressure / top), 2)


def _ticks(top: float) -> list[float]:
    step = next((step for step in (0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 2, 5) if top / step <= 6), 10)
    return [n * step for n in range(int(top / step) + 1)]


def _points(calls: Sequence[Call], value: Callable[[Call], float], top: float) -> list[tuple[float, float]]:
    groups = _groups(calls, _POINTS)
    width = max(1, len(groups) - 1)
    return [(_SIDE * n / width, _SIDE * (1 - min(max(map(value, group)) / top, 3.0))) for n, group in enumerate(groups)]


def _path(points: Sequence[tuple[float, float]]) -> str:
    if len(points) == 1:
        points = [(0, points[0][1]), (_SIDE, points[0][1])]
    return "M" + " L".join(f"{x:.1f},{y:.1f}" for x, y in points)


def _groups(calls: Sequence[Call], most: int) -> list[Sequence[Call]]:
    count = min(most, len(calls))
    return [calls[a:b] for a, b in pairwise(round(i * len(calls) / count) for i in range(count + 1))]


def _marks(calls: Sequence[Call]) -> list[Mark]:
    groups = _groups(calls, _MARKS)
    width = max(1, len(groups) - 1)
    marks = []
    for n, group in enumerate(groups):
        events = [(call.number, event) for call in group for event in call.events if _kind(event) in _KINDS]
        if events:
            kind = min((_kind(event) for _, event in events), key=_KINDS.index)
            marks.append(Mark(round(100 * n / width, 2), kind, _told(events)))
    return marks


def _kind(event: Event) -> str:
    return "failed" if event.failed else event.action


def _told(events: Sequence[tuple[int, Event]]) -> str:
    """The events of a place, one line for each call."""
    return "\n".join(
        f"call {number:,}: " + "; ".join(f"{event.rule}: {event.reason}" for _, event in group)
        for number, group in groupby(events, key=lambda pair: pair[0])
    )
