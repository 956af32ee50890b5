"""A session that was played, for people and for programs: what `simulate` shows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import groupby
from typing import Any

import msgspec

from ctxpolicy.cli.output import Column, counted, paint, printable, table, wrap
from ctxpolicy.cli.plot import Line, Point, plot
from ctxpolicy.policy.checks.walk import action_of
from ctxpolicy.policy.thresholds import percent
from ctxpolicy.result import Event
from ctxpolicy.simulate.course import Call, Course, triggers

DONE = {"truncate": "truncated", "mask": "masked", "compact": "compacted", "evict": "evicted", "refuse": "refused"}
MARKS = {"compact": "C", "evict": "E", "mask": "M"}  # the most telling first
_SHOWN = 6  # events at the beginning, and as many at the end
_FAILED = "! "
_DUTIES = "never over the evict line with something free to leave, the task always there, no pair split"

_RULES = (
    Column("rule", least=8),
    Column("did", least=4, drop=3),
    Column("at calls", right=True),
    Column("every", right=True, drop=4),
    Column("messages", right=True, drop=1),
    Column("tokens", right=True),
    Column("failed", right=True, drop=2),
)
_EVENTS = (
    Column("call", right=True),
    Column("rule", least=8, drop=2),
    Column("event", least=12),
    Column("tokens", right=True, drop=1),
)
_SESSIONS = (
    Column("session", least=10, end=True),
    Column("calls", right=True, drop=5),
    Column("peak", right=True, drop=1),
    Column("kept all", right=True, drop=2),
    Column("asked", right=True, drop=3),
    Column("sent", right=True),
    Column("saved", right=True),
    Column("cached", right=True, drop=4),
    Column("price", right=True, drop=6),
    Column("verdict", least=6, drop=7),
)


SESSION_TITLES = [column.title for column in _SESSIONS]


@dataclass(frozen=True, slots=True)
class RuleSum:
    """What one rule did in a session: at how many calls, to how many messages, the tokens it took out, its failures."""

    rule: str
    action: str
    calls: int
    every: float | None
    messages: int
    tokens: int
    failed: int


def rule_sums(course: Course) -> list[RuleSum]:
    """Every rule of the policy, in its order."""
    sums = []
    for rule in course.spec.rules:
        told = [(call.number, event) for call in course.calls for event in call.events if event.rule == rule.id]
        acted = [(number, event) for number, event in told if event.acted]
        at = sorted({number for number, _ in acted})
        sums.append(
            RuleSum(
                rule.id, action_of(rule), len(at), (at[-1] - at[0]) / (len(at) - 1) if len(at) > 1 else None,
                sum(event.messages for _, event in acted), sum(event.before - event.after for _, event in acted),
                sum(event.failed for _, event in told),
            )
        )  # fmt: skip
    return sums


def as_json(course: Course) -> dict[str, Any]:
    """A course for programs. Sizes are tokens; `price` is in full-price tokens, cached ones counting a tenth."""
    return {
        "session": course.name,
        "policy": course.spec.name,
        "window": course.spec.budget.window,
        "limit": course.spec.budget.limit,
        "calls": msgspec.to_builtins(course.calls),
        "rules": [asdict(one) for one in rule_sums(course)],
        "peak": course.peak,
        "sent": course.sent,
        "cached": course.cached,
        "price": round(course.price),
        "asked": {"calls": course.asked, "tokens": course.asked_tokens},
        "refused": course.refused,
        "keeping_everything": {
            "peak": course.whole_peak,
            "sent": course.whole,
            "cached": course.whole_cached,
            "price": round(course.whole_price),
        },
        "findings": [asdict(finding) for finding in course.findings],
    }


def as_text(course: Course, width: int) -> Iterator[str]:
    """A course for people, in lines of at most `width` characters."""
    budget = course.spec.budget
    head = f"{printable(course.name)}: {counted(len(course.calls), 'call')} under {course.spec.name or 'this policy'}"
    yield from wrap(f"{head}, limit {budget.limit:,} tokens of a window of {budget.window:,}", width)
    yield ""
    yield from plot(*_curve(course), width)
    yield from wrap(_legend(course), width)
    yield ""
    titles, *rows = table(_RULES, [*map(_rule_cells, rule_sums(course))], width)
    yield paint(titles, bold=True)
    yield from rows
    yield from _events(course, width)
    yield ""
    for sentence in summary(course):
        yield from wrap(sentence, width)
    yield ""
    yield from _verdict(course, width)


def _curve(course: Course) -> tuple[list[Point], list[Line]]:
    limit = course.spec.budget.limit
    points = [Point(call.before / limit, call.sent / limit, _mark(call)) for call in course.calls]
    return points, [Line(tokens / limit, text) for tokens, text in triggers(course.spec)]


def _mark(call: Call) -> str:
    if any(event.failed for event in call.events):
        return "x"
    done = {event.action for event in call.events}
    return next((mark for action, mark in MARKS.items() if action in done), " ")


def _legend(course: Course) -> str:
    limit = course.spec.budget.limit
    lines = [f"{tokens / limit:.2f} {rule}" for tokens, rule in triggers(course.spec)]
    said = {"M": "masked", "E": "evicted", "C": "compacted", "x": "failed"}
    marks = sorted({_mark(call) for call in course.calls} - {" "})
    return "pressure by call; " + "; ".join([*lines, *(f"{mark} {said[mark]}" for mark in marks)])


def _rule_cells(one: RuleSum) -> list[str]:
    every = f"{one.every:.1f}" if one.every else ""
    failed = f"{one.failed:,}" if one.failed else ""
    return [one.rule, one.action, f"{one.calls:,}", every, f"{one.messages:,}", f"{-one.tokens:,}", failed]


def _events(course: Course, width: int) -> Iterator[str]:
    """The acts of send rules, and what failed: the first few and the last."""
    told = list(_told(course))
    left_out = len(told) - 2 * _SHOWN
    if not told:
        return
    shown = told if left_out <= 0 else [*told[:_SHOWN], *told[-_SHOWN:]]
    titles, *lines = table(_EVENTS, shown, width)
    yield ""
    yield paint(titles, bold=True)
    for n, (line, cells) in enumerate(zip(lines, shown, strict=True)):
        if left_out > 0 and n == _SHOWN:
            yield from wrap(f"... {left_out:,} more; --format json has them all", width)
        yield paint(line, fg="red") if cells[2].startswith(_FAILED) else line


def _told(course: Course) -> Iterator[list[str]]:
    """A line for what a rule did at a call, its passes taken together, and one for each failure."""
    for call in course.calls:
        told = [event for event in call.events if event.failed or event.action != "truncate"]
        for rule, events in groupby(told, key=lambda event: event.rule):
            passes = list(events)
            if acted := [event for event in passes if event.acted]:
                yield _line(call.number, rule, _done(acted), acted[0].before, acted[-1].after)
            for event in passes:
                if event.failed:
                    yield _line(call.number, rule, _FAILED + event.reason, event.before, event.after)


def _line(number: int, rule: str | None, what: str, before: int, after: int) -> list[str]:
    change = f"{before:,} -> {after:,}" if before != after else f"{before:,}"
    return [f"{number:,}", rule or "", printable(what), change]


def _done(acted: Sequence[Event]) -> str:
    done = DONE[acted[0].action]
    passes = f" in {len(acted)} passes" if len(acted) > 1 else ""
    return f"{done} {counted(sum(event.messages for event in acted), 'message')}{passes}"


def summary(course: Course) -> Iterator[str]:
    """What it came to, in sentences."""
    budget, calls = course.spec.budget, len(course.calls)
    shares = f"{percent(course.peak / budget.limit)} of the limit, {percent(course.peak / budget.window)} of the window"
    yield f"peak: {course.peak:,} tokens = {shares}; keeping everything {course.whole_peak:,}"
    saved = percent(1 - course.sent / course.whole) if course.whole else "0 %"
    yield f"sent: {course.sent:,} tokens; keeping everything {course.whole:,}, so {saved} saved"
    hits, whole_hits = (f"{share:.1%}".replace("%", " %") for share in hit_shares(course))
    yield f"prompt cache: {hits} of what was sent began as the call before; keeping everything {whole_hits}"
    if course.whole_price:
        share = percent(course.price / course.whole_price)
        yield f"price: {share} of keeping everything, cached tokens at a tenth and summaries counted"
    often = f", one in {calls / course.asked:.1f} calls" if course.asked else ""
    yield f"model calls for summaries: {course.asked:,}{often}; they were sent {course.asked_tokens:,} tokens"
    if course.refused:
        yield f"refused: {counted(course.refused, 'message')} too large to be sent at all"


def hit_shares(course: Course) -> tuple[float, float]:
    """The share of prompt-cache hits in what was sent, and in what keeping everything would have sent."""
    return course.cached / max(1, course.sent), course.whole_cached / max(1, course.whole)


def _verdict(course: Course, width: int) -> Iterator[str]:
    if not course.findings:
        share = percent(sum(call.compacted for call in course.calls) / max(1, len(course.calls)))
        text = f"verdict: passed: {_DUTIES}, compaction at {share} of calls"
        yield from (paint(line, fg="green") for line in wrap(text, width))
    for finding in course.findings:
        yield from (paint(line, fg="red") for line in wrap(f"verdict: failed: {finding}", width))


def as_table(courses: Sequence[Course], width: int) -> Iterator[str]:
    """Several courses, a line each, and what they come to together."""
    rows = [session_cells(course) for course in courses]
    titles, *lines = table(_SESSIONS, [*rows, _total_cells(courses)], width)
    yield paint(titles, bold=True)
    for line, course in zip(lines, courses, strict=False):
        yield paint(line, fg="red") if course.findings else line
    yield paint(lines[-1], bold=True)
    for course in courses:
        for finding in course.findings:
            yield from wrap(f"failed: {printable(course.name)}: {finding}", width)


def session_cells(course: Course) -> list[str]:
    """A session on one line, under SESSION_TITLES."""
    verdict = ", ".join(finding.fault for finding in course.findings) or "passed"
    return [printable(course.name), *_figures([course]), verdict]


def _total_cells(courses: Sequence[Course]) -> list[str]:
    passed = sum(not course.findings for course in courses)
    return [counted(len(courses), "session"), *_figures(courses), f"{passed:,} of {len(courses):,} passed"]


def _figures(courses: Sequence[Course]) -> list[str]:
    sent, whole = sum(c.sent for c in courses), sum(c.whole for c in courses)
    whole_price = sum(c.whole_price for c in courses)
    return [
        f"{sum(len(c.calls) for c in courses):,}",
        f"{max((c.peak for c in courses), default=0):,}",
        f"{max((c.whole_peak for c in courses), default=0):,}",
        f"{sum(c.asked for c in courses):,}",
        f"{sent:,}",
        percent(1 - sent / whole) if whole else "0 %",
        f"{sum(c.cached for c in courses) / max(1, sent):.1%}".replace("%", " %"),
        percent(sum(c.price for c in courses) / whole_price) if whole_price else "",
    ]
