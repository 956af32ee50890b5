"""`ctxpolicy inspect`: what fills the window, what protects it, and what the next call would do."""

from __future__ import annotations

import json
from pathlib import Path

import click

from ctxpolicy.cli import recorded, survey
from ctxpolicy.cli.conversations import Conversations
from ctxpolicy.cli.html import html_option, write_page
from ctxpolicy.cli.inputs import inputs_argument
from ctxpolicy.cli.options import Setup, format_option, policy_options, setup
from ctxpolicy.cli.output import progress, terminal_width
from ctxpolicy.cli.pages import Gathered
from ctxpolicy.cli.picture import Picture, as_json, as_text, picture
from ctxpolicy.transcripts import Conversation


@click.command("inspect")
@inputs_argument()
@policy_options(default="builtin:default")
@click.option(
    "--format", "-f", "output_format", type=click.Choice(("text", "json")), default="text", show_default=True,
    help="json: one object a line for each conversation.",
)  # fmt: skip
@html_option()
@format_option("--input-format")
def command(
    transcripts: tuple[str, ...],
    policy: str,
    window: int | None,
    tools: Path | None,
    pins: frozenset[int] | None,
    summarizer: str | None,
    output_format: str,
    html: Path | None,
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
    inspection = _Inspection(setup(policy, window, tools, pins, summarizer, wire_format))
    found = Conversations(transcripts, inspection.take)
    with progress("conversations") as tick:
        for conversation in found:
            if output_format == "json":
                inspection.echo_json(conversation)
            tick()
    if output_format == "text":
        inspection.echo_text()
    if html is not None:
        inspection.write_page(html)
    return max(found.code, inspection.code)


class _Inspection:
    """What is found while conversations go by."""

    def __init__(self, chosen: Setup) -> None:
        self._chosen, self._gathered = chosen, Gathered(chosen, noted=chosen.summarize is not False)
        self.code = 0

    def take(self, conversation: Conversation) -> Conversation:
        """Look at a conversation. Raises TranscriptInvalid where it, or a pin on it, is not sound."""
        self._chosen.meta(conversation)
        self._gathered.take(conversation)
        return conversation

    def echo_json(self, conversation: Conversation) -> None:
        """One object on a line."""
        click.echo(json.dumps({**as_json(self._picture(conversation)), **recorded.as_json(conversation, self._chosen)}))

    def echo_text(self) -> None:
        """One conversation in full, or several in brief."""
        named, width = self._gathered.named, terminal_width()
        if not named:
            return
        if len(named) == 1:
            told = recorded.as_text(self._gathered.kept[0], self._chosen)
            lines = as_text(self._picture(self._gathered.kept[0]), width)
        else:
            told = recorded.compactions(self._gathered.kept)
            lines = survey.as_text(named, self._chosen.policy.spec, width)
        for line in (*lines, *told):
            click.echo(line)

    def _picture(self, conversation: Conversation) -> Picture:
        seen = picture(conversation, self._chosen)
        self.code = max(self.code, int(seen.refused is not None))
        return seen

    def write_page(self, path: Path) -> None:
        """All of it as a page."""
        if self._gathered.named:
            outcomes = (picture(conversation, self._chosen).outcome for conversation in self._gathered.kept)
            write_page(path, self._gathered.page("Inside", outcomes))
