"""`ctxpolicy simulate`: watch a policy work through a whole session, made up or recorded, and judge it."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import click
from click.core import ParameterSource

from ctxpolicy.cli import performance
from ctxpolicy.cli.conversations import Conversations
from ctxpolicy.cli.html import html_option, write_page
from ctxpolicy.cli.inputs import inputs_argument
from ctxpolicy.cli.options import SUMMARIZERS, Setup, format_option, setup
from ctxpolicy.cli.output import Tick, progress, terminal_width
from ctxpolicy.cli.pages import page_of_courses
from ctxpolicy.simulate import profiles
from ctxpolicy.simulate.course import Course, play
from ctxpolicy.simulate.summaries import FAULTS
from ctxpolicy.transcripts import Conversation

_MOST_TURNS = 10_000
_MADE_UP = ("turns", "seed", "profile")  # options of made-up sessions alone


@click.command("simulate")
@inputs_argument(required=False)
@click.option(
    "--policy", "-p", default="builtin:default", show_default=True, metavar="FILE", help="Policy file, or builtin:NAME."
)
@click.option(
    "--turns",
    type=click.IntRange(1, _MOST_TURNS),
    default=500,
    show_default=True,
    metavar="N",
    help=f"User turns of the made-up session, 1 to {_MOST_TURNS:,}.",
)
@click.option(
    "--profile",
    type=click.Choice(list(profiles.PROFILES)),
    default="coding",
    show_default=True,
    help="What kind of agent is made up.",
)
@click.option("--seed", type=int, default=0, show_default=True, metavar="N", help="Another number, another session.")
@click.option(
    "--summarizer",
    metavar="HOW",
    help=f"{SUMMARIZERS}.  [default: a made-up note of the allowed length]",
)
@click.option(
    "--summarizer-fault",
    "fault",
    type=click.Choice(["none", *FAULTS]),
    default="none",
    show_default=True,
    help="How the summariser fails, at every call.",
)
@click.option(
    "--window", type=click.IntRange(min=1), metavar="N", help="Tokens the model accepts, in place of the policy's."
)
@click.option(
    "--tools",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="JSON file with the tool schemas, in place of the session's.",
)
@click.option(
    "--format",
    "-f",
    "output_format",
    type=click.Choice(("text", "json")),
    default="text",
    show_default=True,
    help="json: one object a line for each session.",
)
@html_option()
@format_option("--input-format")
@click.pass_context
def command(
    ctx: click.Context,
    transcripts: tuple[str, ...],
    policy: str,
    turns: int,
    profile: str,
    seed: int,
    summarizer: str | None,
    fault: str,
    window: int | None,
    tools: Path | None,
    output_format: str,
    html: Path | None,
    wire_format: str | None,
) -> int:  # fmt: skip
    """Watch a policy work through a session, and judge it.

    Without a transcript the session is made up, with the sizes of real ones: a few tool results hold most of the text.
    With transcripts, each is lived through again, call by call. Shown are pressure over the calls, what the rules did,
    tokens sent against keeping everything, and the share that a prompt cache would have had. No model is called and
    nothing is written, unless --summarizer says so.

    Exit code 1 when a list was sent over the eviction threshold while something could leave, the task was gone, a call
    and its result were parted, or compaction ran at more than one call in five.

    \b
    ctxpolicy simulate --policy policy.yaml --turns 200 --profile service
    ctxpolicy simulate -p builtin:default --summarizer-fault fail
    ctxpolicy simulate -p policy.yaml --window 32000 sessions/*.jsonl
    """
    chosen = setup(policy, window, tools, None, summarizer, wire_format)
    if fault != "none":
        if summarizer is not None:
            raise click.UsageError("--summarizer and --summarizer-fault both say what the summariser does; give one")
        chosen = replace(chosen, summarize=FAULTS[fault])
    if transcripts:
        _check_alone(ctx)
        with progress("calls") as tick:
            played = Conversations(transcripts, lambda conversation: _play(conversation, chosen, tick))
            courses = list(played)
        code = played.code
    else:
        courses, code = [_made_up(chosen, profile, turns, seed)], 0
    _show(courses, output_format)
    if html is not None and courses:
        write_page(html, page_of_courses(courses))
    return max(code, int(any(course.findings for course in courses)))


def _check_alone(ctx: click.Context) -> None:
    for name in _MADE_UP:
        if ctx.get_parameter_source(name) == ParameterSource.COMMANDLINE:
            raise click.UsageError(f"--{name} is about made-up sessions, and transcripts are given; leave one out")


def _made_up(chosen: Setup, profile: str, turns: int, seed: int) -> Course:
    name = f"{profile} session of {turns:,} turns, seed {seed}"
    with progress("calls") as tick:
        return play(
            chosen.policy,
            profiles.session(profile, turns, seed),
            name,
            tools=profiles.tools(profile) if chosen.tools is None else chosen.tools,
            summarize=chosen.summarize,
            seen=lambda call: tick(),
        )


def _play(conversation: Conversation, chosen: Setup, tick: Tick) -> Course:
    return play(
        chosen.policy,
        conversation.messages,
        conversation.where,
        tools=chosen.tools_of(conversation),
        summarize=chosen.summarize,
        format=chosen.format_of(conversation),
        seen=lambda call: tick(),
    )


def _show(courses: list[Course], output_format: str) -> None:
    if output_format == "json":
        for course in courses:
            click.echo(json.dumps(performance.as_json(course)))
        return
    width = terminal_width()
    lines = performance.as_text(courses[0], width) if len(courses) == 1 else performance.as_table(courses, width)
    for line in lines if courses else ():
        click.echo(line)
