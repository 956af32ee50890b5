"""`ctxpolicy replay`: what a live loop would have sent at each model call of recorded sessions."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
import msgspec

from ctxpolicy.calls import RecordedCall
from ctxpolicy.cli import recorded
from ctxpolicy.cli.conversations import Conversations
from ctxpolicy.cli.inputs import inputs_argument
from ctxpolicy.cli.options import Setup, format_option, policy_options, setup
from ctxpolicy.cli.output import Column, Tick, counted, note, paint, printable, progress, table, terminal_width, wrap
from ctxpolicy.cli.performance import DONE
from ctxpolicy.errors import MessageTooLarge
from ctxpolicy.policy.model import Budget
from ctxpolicy.policy.thresholds import percent
from ctxpolicy.result import Event, Result
from ctxpolicy.simulate import summaries
from ctxpolicy.transcripts import Conversation

_CALLS = (
    Column("call", right=True),
    Column("reply", right=True, drop=4),
    Column("before", right=True, drop=3),
    Column("sent", right=True),
    Column("pressure", right=True),
    Column("counted", right=True, drop=5),
    Column("recorded", right=True, drop=2),
    Column("factor", right=True, drop=6),
    Column("done", least=8, drop=1),
)


@click.command("replay")
@inputs_argument()
@policy_options(default="builtin:default")
@click.option(
    "--call", "wanted", type=click.IntRange(min=1), metavar="N",
    help="Write the list that would have been sent at call N.",
)  # fmt: skip
@click.option(
    "--calibrate/--no-calibrate", default=True, show_default=True,
    help="Scale pressure by the prompt tokens that the log recorded.",
)  # fmt: skip
@click.option(
    "--format", "-f", "output_format", type=click.Choice(("text", "json")), default="text", show_default=True,
    help="json: one object a line for each conversation, or for the call of --call.",
)  # fmt: skip
@format_option("--input-format")
def command(
    transcripts: tuple[str, ...],
    policy: str,
    window: int | None,
    tools: Path | None,
    pins: frozenset[int] | None,
    summarizer: str | None,
    wanted: int | None,
    calibrate: bool,
    output_format: str,
    wire_format: str | None,
) -> int:
    """Show what a loop would have sent at each recorded model call.

    The messages go one by one into a window, and the policy runs before every recorded reply: a line for each, with
    tokens before and after, how full the window is, and what the rules did. Where the log has the provider's usage, its
    prompt tokens stand beside those counted for the recorded list, and pressure is calibrated with them, as in a live
    loop. --call N writes the messages of that call as JSON Lines; calls are numbered through all conversations. Nothing
    is archived and no model is called: a summary is assumed to take all the words that its rule allows, unless
    --summarizer gives one. `-` is standard input.

    \b
    ctxpolicy replay session.jsonl
    ctxpolicy replay --policy policy.yaml --window 32000 --call 40 session.jsonl > sent.jsonl

    Exit codes: 0 all was replayed, 1 a message was refused or not all can be read, 2 nothing can or there is no call N.
    """
    chosen = setup(policy, window, tools, pins, summarizer, wire_format)
    with progress("calls") as tick:
        player = _Player(chosen, wanted, tick, calibrate=calibrate)
        found = Conversations(transcripts, player.play)
        played = list(found)
    code = max(found.code, int(any(one.refused for one in played)))
    for one in played:
        if one.refused is not None:
            note(f"error: {one.conversation.at(one.refused.index or 0)}: {one.refused}")
    if wanted is not None:
        return max(code, _write(player, wanted, output_format))
    _show(played, chosen.policy.spec.budget, output_format)
    return code


@dataclass(frozen=True, slots=True)
class _Call:
    """One call: its number, where its reply stands and what the provider counted, and the run before it.

    `before` and `sent` are tokens of everything sent; `events` are those of rules that acted or failed.
    """

    number: int
    recorded: RecordedCall
    before: int
    sent: int
    pressure: float
    fits: bool
    events: tuple[Event, ...]


@dataclass(frozen=True, slots=True)
class _Played:
    """A conversation with its calls, up to the message that a rule turned away."""

    conversation: Conversation
    calls: Sequence[_Call]
    refused: MessageTooLarge | None


class _Player:
    """Replays conversations; keeps the list of one call, if that is wanted."""

    def __init__(self, chosen: Setup, wanted: int | None, tick: Tick, *, calibrate: bool) -> None:
        self._chosen, self._wanted, self._tick, self._calibrate = chosen, wanted, tick, calibrate
        self.count = 0
        self.kept: tuple[_Call, Sequence[Any]] | None = None

    def play(self, conversation: Conversation) -> _Played:
        """All calls of a conversation. Raises TranscriptInvalid for what is none."""
        calls: list[_Call] = []
        results = self._results(conversation)
        try:
            for one, result in zip(recorded.calls(conversation, self._chosen), results, strict=True):
                calls.append(self._call(one, result))
        except MessageTooLarge as error:
            return _Played(conversation, calls, error)
        return _Played(conversation, calls, None)

    def _results(self, conversation: Conversation) -> Iterator[Result]:
        chosen = self._chosen
        return chosen.policy.replay(
            conversation.messages,
            tools=chosen.tools_of(conversation),
            summarize=summaries.note if chosen.summarize is None else chosen.summarize,
            format=chosen.format_of(conversation),
            meta=chosen.meta(conversation),
            usage=recorded.usage(conversation) if self._calibrate else None,
        )

    def _call(self, one: RecordedCall, result: Result) -> _Call:
        self.count += 1
        self._tick()
        usage = result.usage
        events = tuple(event for event in result.events if event.rule and (event.acted or event.failed))
        call = _Call(
            self.count, one, usage.before["total"], usage.after["total"], usage.pressure, usage.fits, events
        )  # fmt: skip
        if self.count == self._wanted:
            self.kept = call, result.messages
        return call


def _write(player: _Player, wanted: int, output_format: str) -> int:
    """The list of the wanted call, on standard output."""
    if player.kept is None:
        note(f"error: there is no call {wanted:,}: {counted(player.count, 'call')} can be replayed")
        return 2
    call, messages = player.kept
    values = [{**_call_json(call), "messages": list(messages)}] if output_format == "json" else messages
    for value in values:
        click.echo(json.dumps(value))
    return 0


def _show(played: Sequence[_Played], budget: Budget, output_format: str) -> None:
    for one in played:
        if output_format == "json":
            click.echo(json.dumps(_as_json(one, budget)))
        else:
            for line in _as_text(one, budget, terminal_width()):
                click.echo(line)


def _as_json(one: _Played, budget: Budget) -> dict[str, Any]:
    refused = one.refused
    return {
        "where": one.conversation.where,
        "window": budget.window,
        "limit": budget.limit,
        "calls": [_call_json(call) for call in one.calls],
        "refused": refused and {"index": refused.index, "rule": refused.rule, "why": str(refused)},
    }


def _call_json(call: _Call) -> dict[str, Any]:
    return {
        "number": call.number, **recorded.call_json(call.recorded), "before": call.before, "sent": call.sent,
        "pressure": call.pressure, "fits": call.fits, "events": msgspec.to_builtins(call.events),
    }  # fmt: skip


def _as_text(one: _Played, budget: Budget, width: int) -> Iterator[str]:
    """A line for each call, in at most `width` characters."""
    what = f"{printable(one.conversation.where)}: {counted(len(one.calls), 'call')}"
    yield from wrap(f"{what}, limit {budget.limit:,} tokens of a window of {budget.window:,}", width)
    if one.calls:
        titles, *lines = table(_CALLS, [_cells(call) for call in one.calls], width)
        yield paint(titles, bold=True)
        for call, line in zip(one.calls, lines, strict=True):
            yield line if not call.events else paint(line, fg="yellow")
    for sentence in recorded.counting([call.recorded for call in one.calls]):
        yield from wrap(sentence, width)
    yield ""


def _cells(call: _Call) -> list[str]:
    one, factor = call.recorded, call.recorded.factor
    return [
        f"{call.number:,}", str(one.index), f"{call.before:,}", f"{call.sent:,}", percent(call.pressure),
        f"{one.counted:,}", "" if one.recorded is None else f"{one.recorded:,}",
        "" if factor is None else f"{factor:.2f}", printable("; ".join(map(_done, call.events))),
    ]  # fmt: skip


def _done(event: Event) -> str:
    what = "failed" if event.failed else f"{DONE.get(event.action, event.action)} {event.messages:,}"
    return f"{event.rule}: {what}"
