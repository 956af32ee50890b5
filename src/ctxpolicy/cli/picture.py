"""One conversation under a policy, for people and for programs: what `inspect` shows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import msgspec

from ctxpolicy.cli import survey
from ctxpolicy.cli.options import Setup
from ctxpolicy.cli.output import Column, bar, counted, paint, printable, table, wrap
from ctxpolicy.errors import MessageTooLarge
from ctxpolicy.items import Tally
from ctxpolicy.policy.model import Spec
from ctxpolicy.policy.thresholds import percent, thresholds
from ctxpolicy.result import Result
from ctxpolicy.simulate.composition import Composition, compose
from ctxpolicy.simulate.summaries import note
from ctxpolicy.transcripts import Conversation

if TYPE_CHECKING:
    from ctxpolicy.api import Row

_STAYED = ("kept", "pinned", "live")
_ROOMY = 0.30  # under this share of the window, models lose little and a summary loses detail

_COLUMNS = (
    Column("#", right=True),
    Column("role", least=6, drop=1),
    Column("tool", least=8, drop=4),
    Column("tokens", right=True),
    Column("pressure", drop=5),
    Column("kept by", least=8, drop=2),
    Column("next call", least=9, drop=3),
)
_THRESHOLDS = (
    Column("rule or pin", least=8, drop=1),
    Column("threshold", least=10, drop=2),
    Column("tokens", right=True),
    Column("of the window", right=True, drop=3),
)


@dataclass(frozen=True, slots=True)
class Picture:
    """One conversation under a policy. `fixed` is tokens sent beside the messages, `composition` what fills the list;
    `outcome` is what the next call would do, or the error for the message that it would turn away."""

    where: str
    spec: Spec
    rows: Sequence[Row]
    fixed: int
    composition: Composition
    outcome: Result | MessageTooLarge

    @property
    def result(self) -> Result | None:
        """What the next call would do; None where it would turn a message away."""
        return self.outcome if isinstance(self.outcome, Result) else None

    @property
    def refused(self) -> MessageTooLarge | None:
        """The error for the message that the next call would turn away."""
        return self.outcome if isinstance(self.outcome, MessageTooLarge) else None

    @property
    def used(self) -> int:
        """Tokens of everything sent."""
        return self.fixed + sum(row.tokens for row in self.rows)


def picture(conversation: Conversation, chosen: Setup) -> Picture:
    """What the policy sees in a conversation and would do with it. Raises TranscriptInvalid for what is not one."""
    policy, tools = chosen.policy, chosen.tools_of(conversation)
    wire_format = chosen.format_of(conversation)
    rows = policy.look(conversation.messages, tools=tools, format=wire_format, meta=chosen.meta(conversation))
    pipeline = policy.pipeline(wire_format)
    composition = compose(pipeline, conversation.messages, tools)
    fixed = pipeline.load(tools).used(Tally())
    return Picture(conversation.where, policy.spec, rows, fixed, composition, _outcome(conversation, chosen))


def _outcome(conversation: Conversation, chosen: Setup) -> Result | MessageTooLarge:
    try:
        return chosen.apply(conversation, archive=False, summarize=note)
    except MessageTooLarge as error:
        return error


def as_json(seen: Picture) -> dict[str, Any]:
    """A picture for programs: what stands in it now, and under `next` what the next call would make of it."""
    budget, result, refused = seen.spec.budget, seen.result, seen.refused
    messages = [
        {
            "index": row.index, "role": row.role, "tool": row.tool, "tokens": row.tokens,
            "protected_by": row.protects, "fate": fate, "by": by,
        }
        for row, (fate, by) in zip(seen.rows, fates(seen), strict=True)
    ]  # fmt: skip
    after = result and {
        "used": result.usage.after["total"],
        "pressure": result.usage.pressure,
        "fits": result.usage.fits,
    }
    return {
        "where": seen.where,
        "policy": seen.spec.name,
        "window": budget.window,
        "limit": budget.limit,
        "used": seen.used,
        "beside": seen.fixed,
        "pressure": seen.used / budget.limit,
        **survey.as_json(seen.composition),
        "thresholds": [{"owner": t.owner, "threshold": t.words, "tokens": t.tokens} for t in thresholds(seen.spec)],
        "messages": messages,
        "next": after,
        "events": msgspec.to_builtins(result.events) if result else [],
        "refused": refused and {"index": refused.index, "rule": refused.rule, "why": str(refused)},
    }


def fates(seen: Picture) -> list[tuple[str | None, str | None]]:
    """What would happen to each message, and by which rule or pin."""
    if seen.result is not None:
        return [(decision.fate, decision.by) for decision in seen.result.decisions]
    refused = seen.refused
    return [("refused", refused.rule) if refused and row.index == refused.index else (None, None) for row in seen.rows]


def as_text(seen: Picture, width: int) -> Iterator[str]:
    """A picture for people, in lines of at most `width` characters."""
    for sentence in _head(seen):
        yield from wrap(sentence, width)
    yield ""
    yield from table(_THRESHOLDS, [*_thresholds(seen.spec)], width)
    yield ""
    told = fates(seen)
    titles, *lines = table(_COLUMNS, list(_cells(seen, told)), width)
    yield paint(titles, bold=True)
    for line, (fate, _) in zip(lines, told, strict=True):
        yield line if fate in _STAYED else paint(line, fg="red" if fate in ("evicted", "refused") else "yellow")
    yield ""
    yield from survey.shares(seen.composition, width)
    yield ""
    for sentence in _foot(seen):
        yield from wrap(sentence, width)
    yield ""


def _head(seen: Picture) -> Iterator[str]:
    budget, used = seen.spec.budget, seen.used
    yield f"{printable(seen.where)}: {counted(len(seen.rows), 'message')} under {seen.spec.name or 'this policy'}"
    shares = f"{percent(used / budget.limit)} of the limit, {percent(used / budget.window)} of the window"
    yield f"used {used:,} tokens = {shares}" + (f"; {seen.fixed:,} beside the messages" if seen.fixed else "")
    plan = f"window {budget.window:,} x {budget.ratio:g} - reserve {budget.reserve:,}"
    yield f"limit {budget.limit:,} tokens = {plan}, counter {budget.counter}"
    if used < _ROOMY * budget.window:
        yield f"under {percent(_ROOMY)} of the window: compaction would only lose detail"


def _thresholds(spec: Spec) -> Iterator[tuple[str, str, str, str]]:
    for found in thresholds(spec):
        yield found.owner, found.words, f"{found.tokens:,}", found.window_share(spec.budget)


def _cells(seen: Picture, told: Sequence[tuple[str | None, str | None]]) -> Iterator[list[str]]:
    total, limit = seen.fixed, seen.spec.budget.limit
    for row, (fate, by) in zip(seen.rows, told, strict=True):
        total += row.tokens
        share = total / limit
        acts = f"{fate} by {by}" if by else fate or ""
        yield [
            str(row.index), row.role, printable(row.tool or ""), f"{row.tokens:,}",
            f"{bar(share, 10)} {share * 100:3.0f} %", row.protects or "", "" if fate in _STAYED else acts,
        ]  # fmt: skip


def _foot(seen: Picture) -> Iterator[str]:
    yield survey.session_sentence(seen.composition, seen.spec)
    if seen.result is None:
        yield f"refused: {seen.refused}"
        return
    for event in seen.result.events:
        yield f"{'+' if event.acted else '-'} {printable(str(event))}"
    usage = seen.result.usage
    change = f"{usage.before['total']:,} -> {usage.after['total']:,} tokens"
    yield f"next call: {change}, {percent(usage.pressure)} of the limit{'' if usage.fits else ', over it'}"
