"""`ctxpolicy apply`: a policy on recorded conversations."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

import click

from ctxpolicy.actions.compact import NO_SUMMARISER
from ctxpolicy.archive import Archive, open_archive
from ctxpolicy.cli.html import Gathered, html_option, write_page
from ctxpolicy.cli.inputs import inputs_argument
from ctxpolicy.cli.options import Place, Setup, format_option, policy_options, setup, targets
from ctxpolicy.cli.output import Tick, counted, note, progress
from ctxpolicy.cli.rewrite import Outcome, rewrite
from ctxpolicy.errors import MessageTooLarge
from ctxpolicy.result import Result
from ctxpolicy.transcripts import Conversation

_KEPT_ALL = "the archive could not be written, so nothing was removed"  # how the event begins
_OVER = ("over the limit", "no room")  # how a run says why its list does not fit
_DONE = {"truncate": "truncated", "mask": "masked", "compact": "compacted", "evict": "evicted"}


@click.command("apply")
@inputs_argument()
@policy_options()
@click.option(
    "--output",
    "-o",
    type=Place(),
    metavar="OUT",
    help="File to write, or directory for several inputs.  [default: stdout]",
)
@click.option(
    "--archive", type=Place(), metavar="DIR|none", help="Where the originals go, in place of what the policy says."
)
@click.option("--dry-run", is_flag=True, help="Write nothing, not even the archive.")
@html_option()
@format_option("--format")
def command(
    transcripts: tuple[str, ...],
    policy: str,
    window: int | None,
    tools: Path | None,
    pins: frozenset[int] | None,
    summarizer: str | None,
    output: str | None,
    archive: str | None,
    dry_run: bool,
    html: Path | None,
    wire_format: str | None,
) -> int:
    """Apply a policy to transcripts.

    Each conversation comes out as the policy would send it now, in the shape and with the bytes it had wherever the
    policy changed nothing. Originals go to the archive; `ctxpolicy restore` puts them back. `-` is standard input.

    \b
    ctxpolicy apply --policy policy.yaml session.jsonl -o short.jsonl
    ctxpolicy apply -p builtin:default --summarizer extract --window 8000 --dry-run session.jsonl
    """
    chosen = setup(policy, window, tools, pins, summarizer, wire_format)
    with progress("conversations") as tick:
        run = _Run(chosen, False if dry_run else _archive(archive, chosen), tick, keep=html is not None)
        outcome = rewrite(targets(transcripts, output), run, write=not dry_run)
    run.report(outcome, dry_run=dry_run)
    if html is not None:
        run.write_page(html)
    return max(outcome.code, int(run.unarchived))


def _archive(option: str | None, chosen: Setup) -> Archive | Literal[False]:
    """Where originals go: one archive for all conversations, so that one process writes one file."""
    where = chosen.policy.spec.archive.path if option is None else option
    return False if where is None or option == "none" else open_archive(where) or False


class _Run:
    """The policy as a transformation of conversations, with what is to be told about it at the end."""

    def __init__(self, chosen: Setup, archive: Archive | Literal[False], tick: Tick, *, keep: bool) -> None:
        self._setup, self._archive, self._tick = chosen, archive, tick
        self._messages = self._before = self._after = 0
        self._acts: Counter[str] = Counter()
        self._unasked: list[str] = []
        self._troubles: list[str] = []
        self._lost: list[str] = []
        self._over: list[str] = []
        self.unarchived = False  # something was kept for want of an archive
        self._gathered = Gathered(chosen, noted=_has_summariser(chosen)) if keep else None
        self._outcomes: list[Result | MessageTooLarge] = []

    def __call__(self, conversation: Conversation) -> Sequence[Any]:
        try:
            result = self._setup.apply(conversation, archive=self._archive)
        except MessageTooLarge as error:
            self._keep(conversation, error)
            raise
        finally:
            self._tick()
        self._keep(conversation, result)
        self._count(result, conversation.where)
        return result.messages

    def _keep(self, conversation: Conversation, outcome: Result | MessageTooLarge) -> None:
        """For the page: the conversation, if it still has room for one, with what became of it."""
        if self._gathered is not None:
            self._gathered.take(conversation)
            self._outcomes += [outcome] * (len(self._gathered.kept) - len(self._outcomes))

    def write_page(self, path: Path) -> None:
        """What was done as a page."""
        if self._gathered is not None and self._gathered.named:
            write_page(path, self._gathered.page("Applied to", self._outcomes))

    def _count(self, result: Result, where: str) -> None:
        self._messages += len(result.decisions)
        self._before += result.usage.before["total"]
        self._after += result.usage.after["total"]
        for event in result.events:
            if event.acted:
                self._acts[f"{event.rule}: {_DONE.get(event.action, event.action)}"] += event.messages
        self._unasked += [f"{where}: {e.rule}: {e.reason}" for e in result.events if NO_SUMMARISER in e.reason]
        lost = [e for e in result.events if e.failed and e.action == "archive"]
        self._lost += [f"{where}: {e.reason}" for e in lost]
        self.unarchived |= any(e.reason.startswith(_KEPT_ALL) for e in lost)
        self._troubles += [f"{where}: {e}" for e in result.events if e.failed and e not in lost]
        if not result.usage.fits:
            self._over.append(f"{where}: {self._why_over(result)}")

    def _why_over(self, result: Result) -> str:
        """Why a list does not fit, as its run says it."""
        usage, window = result.usage, self._setup.policy.spec.budget.window
        why = f"over the limit: {usage.after['total']:,} of {usage.limit:,} tokens"
        told = (e.reason for e in result.events if e.action == "run" and e.reason.startswith(_OVER))
        return f"{next(told, why)} (window {window:,})"

    def report(self, outcome: Outcome, *, dry_run: bool) -> None:
        """What was done, on standard error; the last line says it all."""
        if self._lost:
            advice = (
                "name another directory with --archive DIR or the policy's archive.path, or --archive none to keep none"
            )
            note(f"{'error' if self.unarchived else 'warning'}: {_first(self._lost)}; {advice}")
        if self._over:
            note(f"warning: {_first(self._over)}; the provider may refuse it")
        if self._troubles:
            note(f"warning: {_first(self._troubles)}")
        if self._unasked:
            note(f"note: {_first(self._unasked)}; set one with --summarizer extract, or in the policy")
        if outcome.code != 2:  # then nothing could be read, which is told
            note(self._line(outcome, dry_run))

    def _line(self, outcome: Outcome, dry_run: bool) -> str:
        acts = ", ".join(f"{what} {count:,}" for what, count in self._acts.items())
        failed = f", {outcome.failed:,} failed" if outcome.failed else ""
        return (
            f"{counted(outcome.done, 'conversation')}{failed}, {counted(self._messages, 'message')}, "
            f"{self._before:,} -> {self._after:,} tokens; {acts or 'no rule acted'}"
            + ("; dry run, nothing was written" if dry_run else "")
        )


def _has_summariser(chosen: Setup) -> bool:
    """Whether summaries can be had: from the command line, else from the policy or one of its rules."""
    if chosen.summarize is not None:
        return chosen.summarize is not False
    spec = chosen.policy.spec
    return bool(spec.summarizer) or any(getattr(rule.action, "summarizer", None) for rule in spec.rules)


def _first(told: Sequence[str]) -> str:
    """The first of several that say much the same, and how many more there are."""
    return told[0] + (f" (and {len(told) - 1:,} more)" if len(told) > 1 else "")
