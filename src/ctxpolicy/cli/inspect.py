"""`ctxpolicy inspect`: what fills the window, what protects it, and what the next call would do."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import click

from ctxpolicy.cli import survey
from ctxpolicy.cli.conversations import Conversations
from ctxpolicy.cli.inputs import inputs_argument
from ctxpolicy.cli.options import Setup, format_option, policy_options, setup
from ctxpolicy.cli.output import progress, terminal_width
from ctxpolicy.cli.picture import as_json, as_text, picture
from ctxpolicy.simulate.composition import Composition, compose
from ctxpolicy.transcripts import Conversation


@click.command("inspect")
@inputs_argument()
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

    For one conversation, a row a message: its tokens, how full the window is up to there, what protects it, and the
    rule that would act on it before the next model call. For several, a row a conversation. Below, what fills them by
    role and by tool, and what was sent over the session when everything is kept. Nothing is written and no model is
    called: a summary is assumed to take all the words that its rule allows, unless --summarizer gives one. `-` is
    standard input.

    \b
    ctxpolicy inspect session.jsonl
    ctxpolicy inspect --policy policy.yaml --window 32000 session.jsonl
    ctxpolicy inspect sessions/*.jsonl
    """
    chosen = setup(policy, window, tools, pins, summarizer, wire_format)
    return _show_json(transcripts, chosen) if output_format == "json" else _show_text(transcripts, chosen)


def _show_json(transcripts: Sequence[str], chosen: Setup) -> int:
    """One object a line for each conversation; the exit code."""
    pictures = Conversations(transcripts, lambda conversation: picture(conversation, chosen))
    refused = False
    for seen in pictures:
        click.echo(json.dumps(as_json(seen)))
        refused = refused or seen.refused is not None
    return max(pictures.code, int(refused))


def _show_text(transcripts: Sequence[str], chosen: Setup) -> int:
    """One conversation in full, or several in brief; the exit code."""
    found = Conversations(transcripts, lambda conversation: _composed(conversation, chosen))
    with progress("conversations") as tick:
        parts = []
        for part in found:
            parts.append(part)
            tick()
    refused = False
    if len(parts) == 1:
        seen = picture(parts[0][0], chosen)
        refused = seen.refused is not None
        lines = as_text(seen, terminal_width())
    else:
        lines = survey.as_text([(c.where, one) for c, one in parts], chosen.policy.spec, terminal_width())
    for line in lines if parts else ():
        click.echo(line)
    return max(found.code, int(refused))


def _composed(conversation: Conversation, chosen: Setup) -> tuple[Conversation, Composition]:
    """A conversation with what fills it. Raises TranscriptInvalid where it, or a pin on it, is not sound."""
    chosen.meta(conversation)
    pipeline = chosen.policy.pipeline(chosen.format_of(conversation))
    return conversation, compose(pipeline, conversation.messages, chosen.tools_of(conversation))
