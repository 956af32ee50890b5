"""`ctxpolicy apply`: a policy on recorded conversations."""

from __future__ import annotations

from pathlib import Path

import click

from ctxpolicy.cli.applied import Order, Run, in_processes
from ctxpolicy.cli.html import html_option
from ctxpolicy.cli.inputs import inputs_argument
from ctxpolicy.cli.jobs import ProcessDied, number_of
from ctxpolicy.cli.options import Place, for_option, format_option, jobs_option, policy_options, targets
from ctxpolicy.cli.output import note, progress
from ctxpolicy.cli.rewrite import one_by_one, rewrite_by
from ctxpolicy.policy.model import Compact, Spec


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
@for_option(
    "Repair results for this provider; strict: also what only some models and servers refuse, as far as it can be "
    "repaired."
)
@click.option("--dry-run", is_flag=True, help="Write nothing, not even the archive.")
@jobs_option()
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
    target: str | None,
    dry_run: bool,
    jobs: int,
    html: Path | None,
    wire_format: str | None,
) -> int:
    """Apply a policy to transcripts.

    Each conversation comes out as the policy would send it now, in the shape and with the bytes it had wherever the
    policy changed nothing. Originals go to the archive; `ctxpolicy restore` puts them back. `-` is standard input.

    \b
    ctxpolicy apply --policy policy.yaml session.jsonl -o short.jsonl
    ctxpolicy apply -p builtin:default --summarizer extract --window 8000 --dry-run session.jsonl
    ctxpolicy apply -p builtin:default --for anthropic request.json -o sent.json
    """
    order = Order(policy, window, tools, pins, summarizer, wire_format, target, "none" if dry_run else archive)
    run = Run(order, keep=html is not None)
    processes = number_of(jobs)
    if processes > 1:
        _check_apart(run, order, html)
    each = one_by_one(run.finish) if processes == 1 else in_processes(processes, order, run)
    try:
        with progress("conversations") as tick:
            outcome = rewrite_by(targets(transcripts, output), each, write=not dry_run, tick=tick)
    except ProcessDied:
        note("error: a process ended before its work was done (was memory short?); take fewer --jobs")
        return 3
    run.account.report(outcome, dry_run=dry_run)
    if html is not None:
        run.write_page(html)
    return max(outcome.code, int(run.account.unarchived))


def _check_apart(run: Run, order: Order, html: Path | None) -> None:
    """Raises click.UsageError where conversations cannot be worked on apart from each other."""
    if html is not None:
        raise click.UsageError("--html gathers the conversations in one process; leave --jobs out")
    if any(use.startswith("scripted:") for use in _summarizers(order, run.setup.policy.spec)):
        raise click.UsageError("a scripted summarizer gives its replies in order, in one process; leave --jobs out")


def _summarizers(order: Order, spec: Spec) -> list[str]:
    """The names of all summarisers that may be asked."""
    if order.summarizer is not None:
        return [order.summarizer]
    own = (one for rule in spec.rules if isinstance(rule.action, Compact) for one in rule.action.summarizer or ())
    return [one.use for one in (*spec.summarizer, *own)]
