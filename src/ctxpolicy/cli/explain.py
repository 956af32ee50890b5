"""`ctxpolicy explain`: why a message stayed or left, and why a rule acted or did not."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import msgspec

from ctxpolicy.cli.conversations import Conversations
from ctxpolicy.cli.inputs import inputs_argument
from ctxpolicy.cli.options import Setup, format_option, policy_options, setup
from ctxpolicy.cli.output import paint
from ctxpolicy.errors import MessageTooLarge, TranscriptInvalid
from ctxpolicy.policy.report import visible
from ctxpolicy.simulate.summaries import note
from ctxpolicy.transcripts import Conversation

if TYPE_CHECKING:
    from ctxpolicy.review.explain import Account
    from ctxpolicy.review.explain_text import Line, Where
    from ctxpolicy.review.stages import Stages

_COLOURS: dict[str, dict[str, Any]] = {"yes": {"fg": "green"}, "no": {"fg": "red"}, "head": {"bold": True}, "plain": {}}


@click.command("explain")
@inputs_argument()
@policy_options(default="builtin:default")
@click.option("--message", "-m", type=int, metavar="N", help="Explain this message, from 0; negative from the end.")
@click.option("--rule", "-r", metavar="ID", help="Explain why this rule acted or did not.")
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
    message: int | None,
    rule: str | None,
    output_format: str,
    wire_format: str | None,
) -> int:
    """Say why a message stays or leaves, and why a rule acts or not.

    For a message: each pin and rule in order, with the clause that said yes or no, the numbers, and the line in the
    policy. For a rule: what its condition and match saw, and what holds the rest. Without --message or --rule, one line
    for each message and rule. Nothing is written and no model is called: a summary is assumed to take all the words
    that its rule allows, unless --summarizer gives one. `-` is standard input.

    \b
    ctxpolicy explain --message 12 session.jsonl
    ctxpolicy explain --policy policy.yaml --rule evict-oldest session.jsonl
    """
    if message is not None and rule is not None:
        raise click.UsageError("give --message or --rule, not both")
    chosen = setup(policy, window, tools, pins, summarizer, wire_format)
    where = _where(policy)
    conversations = Conversations(transcripts, lambda part: (part, _account(part, chosen)))
    for part, account in conversations:
        if output_format == "json":
            click.echo(json.dumps(_as_json(account, message, rule, where), ensure_ascii=False))
        else:
            lines = _lines(account, message, rule, where)
            _print(lines, part.where if message is None else part.at(message % len(part.messages)))
    return conversations.code


def _account(part: Conversation, chosen: Setup) -> Account:
    """The account of one conversation. Raises TranscriptInvalid where there is none."""
    from ctxpolicy.review.explain import Account

    try:
        return Account(chosen.policy.spec, _stages(part, chosen))
    except MessageTooLarge as error:
        raise TranscriptInvalid(str(error), index=error.index) from None


def _stages(part: Conversation, chosen: Setup) -> Stages:
    from ctxpolicy.review.stages import Stages

    summarize = chosen.summarize
    return Stages(
        chosen.policy,
        part.messages,
        tools=chosen.tools_of(part),
        summarize=note if summarize is None else summarize or None,
        format=chosen.format_of(part),
        meta=chosen.meta(part),
    )


def _where(policy: str) -> Where:
    """Paths of the effective policy as file:line."""
    from ctxpolicy.policy.load import load_named

    document = load_named(policy).document
    return lambda path: str(document.place(path)) if document else ""


def _lines(account: Account, message: int | None, rule: str | None, where: Where) -> Iterable[Line]:
    from ctxpolicy.review.explain_text import message_lines, overview_lines, rule_lines

    if message is not None:
        return message_lines(account.message(message), where)
    return rule_lines(account.rule(rule), where) if rule is not None else overview_lines(account)


def _print(lines: Iterable[Line], place: str) -> None:
    for n, line in enumerate(lines):
        if not n:
            click.echo(f"{visible(place)}: ", nl=False)
        click.echo(paint(visible(line.text), **_COLOURS[line.mood]))


def _as_json(account: Account, message: int | None, rule: str | None, where: Where) -> Any:
    if message is not None:
        return _placed(msgspec.to_builtins(account.message(message)), where)
    if rule is not None:
        return _placed(msgspec.to_builtins(account.rule(rule)), where)
    result = account.result
    return msgspec.to_builtins({"messages": result.decisions, "events": result.events, "usage": result.usage})


def _placed(value: Any, where: Where) -> Any:
    """The value with each `path` joined by the `file:line` where it is written."""
    if isinstance(value, dict):
        placed = {key: _placed(inner, where) for key, inner in value.items()}
        return {**placed, "where": where(tuple(value["path"]))} if "path" in value else placed
    return [_placed(inner, where) for inner in value] if isinstance(value, list | tuple) else value
