"""`ctxpolicy inspect`: what fills the window, what protects it, and what the next call would do."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import click

from ctxpolicy.cli.options import Setup, format_option, policy_options, setup
from ctxpolicy.cli.output import note, terminal_width
from ctxpolicy.cli.picture import Picture, as_json, as_text, picture
from ctxpolicy.errors import TranscriptInvalid
from ctxpolicy.transcripts import Broken, Conversation, read


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
    return max(_inspect(transcript, chosen, show) for transcript in transcripts)


def _inspect(transcript: str, chosen: Setup, show: Callable[[Picture], None]) -> int:
    """Show each conversation of a file; the exit code says what went wrong."""
    failed = shown = 0
    try:
        for part in read(transcript):
            if isinstance(part, str):
                continue
            seen = _seen(part, chosen)
            if seen is not None:
                show(seen)
            shown += seen is not None
            failed += seen is None or seen.refused is not None
    except TranscriptInvalid as error:
        note(f"error: {error}")
        return 2
    return 2 if not shown else 1 if failed else 0


def _seen(part: Conversation | Broken, chosen: Setup) -> Picture | None:
    """The picture of a conversation; None where there is none, which is told."""
    if isinstance(part, Broken):
        note(f"error: {part.error}")
        return None
    try:
        return picture(part, chosen)
    except TranscriptInvalid as error:
        note(f"error: {part.where if error.index is None else part.at(error.index)}: {error}")
        return None


def _show_json(seen: Picture) -> None:
    click.echo(json.dumps(as_json(seen)))


def _show_text(seen: Picture) -> None:
    for line in as_text(seen, terminal_width()):
        click.echo(line)
