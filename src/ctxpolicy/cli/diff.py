"""`ctxpolicy diff`: what a change of policy does to real transcripts."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click
import msgspec

from ctxpolicy.cli.conversations import Conversations
from ctxpolicy.cli.inputs import inputs_argument
from ctxpolicy.cli.options import Setup, format_option, policy_options, setup
from ctxpolicy.cli.output import Column, counted, paint, printable, progress, table, terminal_width
from ctxpolicy.errors import MessageTooLarge
from ctxpolicy.simulate.summaries import note
from ctxpolicy.transcripts import Conversation

if TYPE_CHECKING:
    from ctxpolicy.review.compare import Change, Comparison, Figures, RuleChange, Tallies, Went, Work

_MOST = 40  # runs of messages that are listed for one conversation
_CHANGES = (Column("messages"), Column("old", least=12, drop=1), Column("new", least=12, drop=1), Column("tokens"))
_RULES = (Column("rule", least=8), Column("change"), Column("old", least=12, drop=1), Column("new", least=12, drop=2))
_COLOURS = {"new": "green", "gone": "red", "quieter": "yellow", "busier": "yellow"}


def _options(function: click.decorators.FC) -> click.decorators.FC:
    """The common options without --policy: the two policies are arguments here."""
    made = policy_options()(function)
    made.__click_params__ = [p for p in made.__click_params__ if p.name != "policy"]  # type: ignore[union-attr]
    return made


@click.command("diff")
@click.argument("old")
@click.argument("new")
@inputs_argument()
@_options
@click.option("--exit-code", is_flag=True, help="Exit with 1 where the policies differ on these transcripts.")
@click.option(
    "--format", "-f", "output_format", type=click.Choice(("text", "json")), default="text", show_default=True,
    help="json: one object with every conversation, the rules and the totals.",
)  # fmt: skip
@format_option("--input-format")
def command(
    old: str,
    new: str,
    transcripts: tuple[str, ...],
    window: int | None,
    tools: Path | None,
    pins: frozenset[int] | None,
    summarizer: str | None,
    exit_code: bool,
    output_format: str,
    wire_format: str | None,
) -> int:
    """Compare what two policies do to the same transcripts.

    OLD and NEW are policy files or builtin:NAME. Shows the messages that meet another fate, tokens and pressure side by
    side, and which rules are new, gone, quieter or busier, over all conversations. Nothing is written and no model is
    called: a summary is assumed to take all the words that its rule allows, unless --summarizer gives one.

    \b
    ctxpolicy diff policies/default.yaml policy.yaml sessions/*.jsonl
    git show HEAD:policy.yaml > old.yaml && ctxpolicy diff --exit-code old.yaml policy.yaml session.jsonl

    Exit codes: 0 compared, 1 they differ (with --exit-code) or not all can be read, 2 nothing can.
    """
    from ctxpolicy.review.compare import Tallies, rule_changes, total

    chosen = [setup(name, window, tools, pins, summarizer, wire_format) for name in (old, new)]
    tallies = [Tallies(one.policy.spec) for one in chosen]
    conversations = Conversations(transcripts, lambda part: _compared(part, chosen, tallies))
    found: list[Comparison] = []
    with progress("conversations") as tick:
        for one in conversations:
            found.append(one)
            tick()
    if not found:
        return 2
    rules = rule_changes(*tallies)
    if output_format == "json":
        click.echo(json.dumps(_as_json(found, total(found), rules), indent=2, ensure_ascii=False))
    else:
        _show(found, total(found), rules)
    return max(conversations.code, int(exit_code and not all(one.same for one in found)))


def _compared(part: Conversation, chosen: Sequence[Setup], tallies: Sequence[Tallies]) -> Comparison:
    """A conversation under both policies. Raises TranscriptInvalid where it is none."""
    from ctxpolicy.review.compare import compare

    old, new = (_applied(part, one) for one in chosen)
    for tally, went in zip(tallies, (old, new), strict=True):
        tally.add(went)
    return compare(part.where, len(part.messages), old, new)


def _applied(part: Conversation, chosen: Setup) -> Went:
    try:
        return chosen.apply(part, archive=False, summarize=note)
    except MessageTooLarge as error:
        return error


def _show(found: Sequence[Comparison], whole: Comparison, rules: Sequence[RuleChange]) -> None:
    width = terminal_width()
    for one in found:
        if not one.same:
            click.echo(paint(printable(f"{one.where}: {_sentence(one)}"), bold=True))
            if one.changes:
                for line in table(_CHANGES, [_row(change) for change in one.changes[:_MOST]], width - 2):
                    click.echo(f"  {line}")
            if len(one.changes) > _MOST:
                click.echo(f"  and {len(one.changes) - _MOST:,} more runs of messages; --format json has them all")
            click.echo()
    same = sum(one.same for one in found)
    if same:
        click.echo(f"{counted(same, 'conversation')} the same under both")
    _show_rules(rules, width)
    click.echo(paint(f"{counted(len(found), 'conversation')}: {_sentence(whole)}", bold=True))


def _show_rules(rules: Sequence[RuleChange], width: int) -> None:
    rows = [(rule.id, rule.kind, _work(rule.old), _work(rule.new)) for rule in rules]
    if not rows:
        return
    title, *lines = table(_RULES, rows, width)
    click.echo(paint(title, bold=True))
    for line, rule in zip(lines, rules, strict=True):
        click.echo(paint(line, fg=_COLOURS.get(rule.kind)))


def _sentence(one: Comparison) -> str:
    sent = f", {one.sent:,} of them sent otherwise" if one.changed != one.sent else ""
    return (
        f"{one.changed:,} of {counted(one.messages, 'message')} change fate{sent}; "
        f"{_figure(one.old)} -> {_figure(one.new)}"
    )


def _figure(figures: Figures) -> str:
    if figures.refused and not figures.after:
        return figures.refused
    refused = f", {figures.refused}" if figures.refused else ""
    fits = "" if figures.fits else ", over the limit"
    return f"{figures.after:,} tokens (pressure {figures.pressure:.2f}{fits}{refused})"


def _row(change: Change) -> tuple[str, str, str, str]:
    which = str(change.first) if change.count == 1 else f"{change.first}-{change.last}"
    tokens = f"{change.old.left:,} -> {change.new.left:,}" if change.count == 1 else ""
    return which, _fate(change.old.fate, change.old.by), _fate(change.new.fate, change.new.by), tokens


def _fate(fate: str, by: str | None) -> str:
    return f"{fate} by {by}" if by and by != fate else fate


def _work(work: Work | None) -> str:
    if work is None:
        return ""
    return f"{counted(work.messages, 'message')}, {work.saved:,} tokens saved" if work.passes else "did not act"


def _as_json(found: Sequence[Comparison], whole: Comparison, rules: Sequence[RuleChange]) -> dict[str, object]:
    return {
        "same": all(one.same for one in found),
        "conversations": [{**msgspec.to_builtins(one), "same": one.same} for one in found],
        "rules": msgspec.to_builtins(rules),
        "total": msgspec.to_builtins(whole),
    }
