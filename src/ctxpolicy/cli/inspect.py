"""`ctxpolicy inspect`: what fills the window, what protects it, and what the next call would do."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import msgspec

from ctxpolicy.cli.figures import budget_line, shares, thresholds
from ctxpolicy.cli.options import Setup, format_option, policy_options, setup
from ctxpolicy.cli.output import Column, bar, note, paint, percent, printable, table, terminal_width
from ctxpolicy.errors import MessageTooLarge, TranscriptInvalid
from ctxpolicy.items import Tally
from ctxpolicy.policy.model import Spec
from ctxpolicy.result import Result
from ctxpolicy.summarize.request import SummaryRequest
from ctxpolicy.transcripts import Broken, Conversation, read

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


@dataclass(frozen=True, slots=True)
class Picture:
    """One conversation under a policy. `fixed` is tokens sent beside the messages; `result` is what the next call would
    do, or `refused` the message that it would turn away."""

    where: str
    spec: Spec
    rows: Sequence[Row]
    fixed: int
    result: Result | None = None
    refused: MessageTooLarge | None = None

    @property
    def used(self) -> int:
        """Tokens of everything sent."""
        return self.fixed + sum(row.tokens for row in self.rows)


@click.command("inspect")
@click.argument("transcripts", nargs=-1, required=True, metavar="TRANSCRIPT...")
@policy_options(default="builtin:default")
@click.option(
    "--format", "-f", "output_format", type=click.Choice(("text", "json")), default="text", show_default=True,
    help="json: one object a line for each conversation.",
)  # fmt: skip
@format_option("--input-format")
def command(
    transcripts: tuple[str, ...],
    policy: str,
    window: int | None,
    tools: Path | None,
    pins: frozenset[int] | None,
    summarizer: str | None,
    output_format: str,
    wire_format: str | None,
) -> int:
    """Show what fills the window and what the next call would do.

    One row a message: its tokens, how full the window is up to there, what protects it, and the rule that would act on
    it before the next model call. Nothing is written and no model is called: a summary is assumed to take all the words
    that its rule allows, unless --summarizer gives one. `-` is standard input.

    \b
    ctxpolicy inspect session.jsonl
    ctxpolicy inspect --policy policy.yaml --window 32000 session.jsonl
    """
    chosen = setup(policy, window, tools, pins, summarizer, wire_format)
    show = _show_json if output_format == "json" else _show_text
    code = 0
    for transcript in transcripts:
        code = max(code, _inspect(transcript, chosen, show))
    return code


def _inspect(transcript: str, chosen: Setup, show: Any) -> int:
    code = shown = 0
    try:
        for part in read(transcript):
            if isinstance(part, Broken):
                note(f"error: {part.error}")
                code = 1 if shown else 2
            elif isinstance(part, Conversation):
                shown += 1
                seen = picture(part, chosen)
                show(seen)
                code = max(code, 1 if seen.refused else 0)
    except TranscriptInvalid as error:
        note(f"error: {error}")
        return 2
    return min(code, 1) if shown else code


def picture(conversation: Conversation, chosen: Setup) -> Picture:
    """What the policy sees in a conversation and would do with it. Raises TranscriptInvalid for what is not one."""
    policy, tools = chosen.policy, chosen.tools_of(conversation)
    rows = policy.look(conversation.messages, tools=tools, format=chosen.wire_format, meta=chosen.meta(conversation))
    fixed = policy.pipeline(chosen.wire_format).load(tools).used(Tally())
    seen = Picture(conversation.where, policy.spec, rows, fixed)
    try:
        return replace(seen, result=chosen.apply(conversation, archive=False, summarize=_as_long_as_allowed))
    except MessageTooLarge as error:
        return replace(seen, refused=error)


def _as_long_as_allowed(request: SummaryRequest) -> str:
    """Stands in for a model: the longest summary that the rule allows."""
    return "word " * request.word_limit


def _show_json(seen: Picture) -> None:
    click.echo(msgspec.json.encode(as_json(seen)).decode())


def as_json(seen: Picture) -> dict[str, Any]:
    """A picture for programs."""
    fates = _fates(seen)
    budget = seen.spec.budget
    return {
        "where": seen.where,
        "policy": seen.spec.name,
        "window": budget.window,
        "limit": budget.limit,
        "used": seen.used,
        "beside": seen.fixed,
        "pressure": round(seen.used / budget.limit, 4),
        "thresholds": dict(thresholds(seen.spec)),
        "messages": [
            {
                "index": row.index, "role": row.role, "tool": row.tool, "tokens": row.tokens,
                "protected_by": row.protects, "fate": fate, "by": by,
            }
            for row, (fate, by) in zip(seen.rows, fates, strict=True)
        ],
        "events": [str(event) for event in seen.result.events] if seen.result else [str(seen.refused)],
    }  # fmt: skip


def _fates(seen: Picture) -> list[tuple[str, str | None]]:
    """What would happen to each message, and by which rule or pin."""
    if seen.result is not None:
        return [(decision.fate, decision.by) for decision in seen.result.decisions]
    refused = seen.refused
    return [("refused", refused.rule) if refused and row.index == refused.index else ("", None) for row in seen.rows]


def _show_text(seen: Picture) -> None:
    width = terminal_width()
    for line in as_text(seen, width):
        click.echo(line)


def as_text(seen: Picture, width: int) -> Iterator[str]:
    """A picture for people, no line of the table longer than `width`."""
    yield from _head(seen)
    fates = _fates(seen)
    titles, *lines = table(_COLUMNS, list(_cells(seen, fates)), width)
    yield paint(titles, bold=True)
    for line, (fate, _) in zip(lines, fates, strict=True):
        yield line if fate in _STAYED else paint(line, fg="red" if fate in ("evicted", "refused") else "yellow")
    yield from _foot(seen)


def _head(seen: Picture) -> Iterator[str]:
    budget, used = seen.spec.budget, seen.used
    yield f"{printable(seen.where)}: {len(seen.rows):,} messages under {seen.spec.name or 'this policy'}"
    yield budget_line(budget)
    beside = f", {seen.fixed:,} of them beside the messages" if seen.fixed else ""
    yield f"used {used:,} tokens = {shares(used, budget)}{beside}"
    names = thresholds(seen.spec)
    pad = max((len(name) for name, _ in names), default=0)
    for name, words in names:
        yield f"  {name.ljust(pad)}  {words}"
    if used < _ROOMY * budget.window:
        yield f"under {percent(_ROOMY)} of the window: compaction would only lose detail"
    yield ""


def _cells(seen: Picture, fates: Sequence[tuple[str, str | None]]) -> Iterator[list[str]]:
    total, limit = seen.fixed, seen.spec.budget.limit
    for row, (fate, by) in zip(seen.rows, fates, strict=True):
        total += row.tokens
        share = total / limit
        yield [
            str(row.index), row.role, printable(row.tool or ""), f"{row.tokens:,}",
            f"{bar(share, 10)} {share * 100:3.0f} %",
            row.protects or "", "" if fate in _STAYED else f"{fate} by {by}" if by else fate,
        ]  # fmt: skip


def _foot(seen: Picture) -> Iterator[str]:
    yield ""
    if seen.result is None:
        yield paint(f"refused: {seen.refused}", fg="red")
        return
    usage = seen.result.usage
    for event in seen.result.events:
        yield f"{'+' if event.acted else '-'} {event}"
    fits = "" if usage.fits else ", over the limit"
    change = f"{usage.before['total']:,} -> {usage.after['total']:,} tokens"
    yield f"next call: {change}, {percent(usage.pressure)} of the limit{fits}"
