"""From sessions that were played or looked at to what a page shows of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from ctxpolicy.intake import Intake
from ctxpolicy.page.chart import chart
from ctxpolicy.page.model import Bar, Line, Note, Page, Row, Section, Tile
from ctxpolicy.policy.model import Spec
from ctxpolicy.policy.thresholds import percent, thresholds
from ctxpolicy.result import Decision, Event
from ctxpolicy.rules import Pipeline
from ctxpolicy.simulate.composition import Composition, Share, compose, largest_first
from ctxpolicy.simulate.course import Course, triggers

_MOST_ROWS = 1000  # messages in a table; the middle is left out
_MOST_NOTES = 400
_EXCERPT = 240  # characters of a message


def section(
    course: Course,
    decisions: Sequence[Decision] | None,
    notes: Sequence[Note],
    *,
    when: str,
    messages: Sequence[Any] | None = None,
    refused: tuple[int, str] | None = None,
    judged: bool = False,
) -> Section:
    """One session.

    `decisions` are the fates of `messages` (by default those of the course) at the moment that `when` names, None where
    the message and the rule in `refused` stopped everything.
    """
    wires = course.messages if messages is None else messages
    composition = compose(course.pipeline, wires, course.tools)
    rows = list(_rows(course.pipeline, wires, decisions, refused))
    left_out = max(0, len(rows) - _MOST_ROWS)
    shown = rows if not left_out else rows[: _MOST_ROWS // 2] + rows[-_MOST_ROWS // 2 :]
    findings = [str(finding) for finding in course.findings] if judged else []
    return Section(
        course.name, list(_tiles(course)), chart(course, triggers(course.spec)),
        bars(composition.roles.values(), composition), bars(composition.tools.values(), composition),
        notes[:_MOST_NOTES], shown, when, left_out, findings, not findings if judged else None,
    )  # fmt: skip


def page(
    title: str,
    spec: Spec,
    sections: Sequence[Section],
    *,
    overall: Composition | None = None,
    titles: Sequence[str] = (),
    lines: Sequence[Line] = (),
) -> Page:
    """The page. For several sessions `overall` says what fills them all, and `lines` has a line for each."""
    budget = spec.budget
    plan = f"window {budget.window:,} × {budget.ratio:g} − reserve {budget.reserve:,}"
    subtitle = f"{spec.name or 'this policy'}: limit {budget.limit:,} tokens = {plan}, counter {budget.counter}"
    table = [(t.owner, t.words, f"{t.tokens:,}", t.window_share(budget)) for t in thresholds(spec)]
    return Page(
        title, subtitle, sections, None if overall is None else _overall(overall, spec), titles, lines,
        max(0, len(lines) - len(sections)), table,
    )  # fmt: skip


def _overall(one: Composition, spec: Spec) -> Section:
    tiles = [
        Tile("conversations", f"{one.conversations:,}", f"{one.messages:,} messages"),
        Tile("sent", f"{one.sent:,}", f"tokens in {one.calls:,} calls, everything kept"),
        Tile("largest call", percent(one.peak / spec.budget.window), f"of the window: {one.peak:,} tokens"),
    ]
    return Section("all together", tiles, None, bars(one.roles.values(), one), bars(one.tools.values(), one), (), ())


def bars(shares: Iterable[Share], one: Composition) -> list[Bar]:
    """Roles or tools, the largest first."""
    return [
        Bar(
            s.name, s.calls, s.tokens, s.tokens / max(1, one.used), s.sent, s.sent / max(1, one.sent),
            s.high, s.largest, s.repeated,
        )
        for s in largest_first(shares)
    ]  # fmt: skip


def _tiles(course: Course) -> Iterable[Tile]:
    limit, window = course.spec.budget.limit, course.spec.budget.window
    yield Tile("calls", f"{len(course.calls):,}", f"{len(course.messages):,} messages")
    yield Tile("peak", percent(course.peak / limit), f"of the limit, {percent(course.peak / window)} of the window")
    saved = percent(1 - course.sent / course.whole) if course.whole else "0 %"
    yield Tile("tokens saved", saved, f"{course.sent:,} sent, {course.whole:,} if all was kept")
    yield Tile(
        "prompt-cache hits", percent(course.cached / max(1, course.sent)),
        f"{percent(course.whole_cached / max(1, course.whole))} if all was kept",
    )  # fmt: skip
    price = percent(course.price / course.whole_price) if course.whole_price else "100 %"
    yield Tile("input price", price, "of keeping all; cached tokens at a tenth")
    yield Tile("summaries", f"{course.asked:,}", f"model calls, {course.asked_tokens:,} tokens asked")


def _rows(
    pipeline: Pipeline, messages: Sequence[Any], decisions: Sequence[Decision] | None, refused: tuple[int, str] | None
) -> Iterable[Row]:
    intake = Intake(pipeline.reading)
    at = 0
    for index, wire in enumerate(messages):
        items = intake.read(wire, index, at)
        at += len(items)
        tokens = sum(item.tokens for item in items)
        fate, by, left = _fate(index, tokens, decisions, refused)
        texts = [item.message.text or " ".join(f"{c.tool} {c.arguments}" for c in item.message.calls) for item in items]
        tools = ", ".join(tool for item in items for tool in item.tools)
        yield Row(index, items[0].role, tools, tokens, fate, by, left, _excerpt(" ".join(texts)))


def _fate(
    index: int, tokens: int, decisions: Sequence[Decision] | None, refused: tuple[int, str] | None
) -> tuple[str, str, int]:
    if decisions is not None:
        decision = decisions[index]
        return decision.fate, decision.by or "", decision.left
    if refused and refused[0] == index:
        return "refused", refused[1], 0
    return "", "", tokens


def _excerpt(text: str) -> str:
    line = " ".join(text[: 4 * _EXCERPT].split())
    return line if len(line) <= _EXCERPT else line[: _EXCERPT - 1] + "…"


def notes_of_run(events: Sequence[Event]) -> list[Note]:
    """What each rule did or why not, in one run."""
    return [_note("", event) for event in events]


def notes_of_course(course: Course) -> list[Note]:
    """What send rules did, and what failed, call by call."""
    return [
        _note(f"{call.number:,}", event)
        for call in course.calls
        for event in call.events
        if event.failed or event.action != "truncate"
    ]


def _note(call: str, event: Event) -> Note:
    change = f"{event.before:,} → {event.after:,}" if event.before != event.after else f"{event.before:,}"
    mood = "failed" if event.failed else "acted" if event.acted else "quiet"
    return Note(call, event.rule or "", event.reason, change, mood)
