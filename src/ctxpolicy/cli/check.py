"""`ctxpolicy check`: is a policy valid, and what are its thresholds in tokens."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import click

from ctxpolicy.cli.output import counted, note
from ctxpolicy.policy.compose import BUILTIN
from ctxpolicy.policy.findings import Finding
from ctxpolicy.policy.load import Loaded, load_named
from ctxpolicy.policy.report import FORMATS, render, report, visible
from ctxpolicy.policy.report.plain import as_data
from ctxpolicy.policy.source import PolicyUnreadable
from ctxpolicy.policy.thresholds import percent, thresholds
from ctxpolicy.summarize import unusable


@click.command("check")
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@click.option(
    "--format", "-f", "output_format", type=click.Choice(FORMATS), default="text", show_default=True,
    help="concise: a line for each finding. json: every finding and threshold. sarif, github: for code review.",
)  # fmt: skip
@click.option("--strict", is_flag=True, help="Exit 1 for warnings too.")
@click.option("--exit-zero", is_flag=True, help="Exit 0 whatever is found; a file that cannot be read is still 2.")
def command(files: tuple[str, ...], output_format: str, strict: bool, exit_zero: bool) -> int:
    """Check policy files: errors at line and column, with hints.

    Prints every threshold of a valid policy in tokens and as a share of the window. FILE may also be builtin:NAME. A
    file with neither budget, pins nor rules is one for others to extend, and may leave `budget.window` out.

    \b
    ctxpolicy check policies/*.yaml
    ctxpolicy check --strict --format github policies/*.yaml

    `ctxpolicy explain-code CODE` says more about a finding. Exit codes: 0 no errors, 1 errors (with --strict also
    warnings), 2 a file that cannot be read.
    """
    checked, unreadable = _load(files)
    _tell_unusable(checked)
    if output_format == "json":
        click.echo(json.dumps({"files": [_file(loaded) for loaded in checked]}, indent=2))
    elif output_format == "text":
        click.echo("\n".join(map(_as_text, checked)), nl=bool(checked))
    elif said := render(_distinct(checked), output_format):
        click.echo(said)
    failed = not exit_zero and any(loaded.stopped or (strict and loaded.reported) for loaded in checked)
    return 2 if unreadable else int(failed)


def _load(files: Sequence[str]) -> tuple[list[Loaded], bool]:
    """The policies that can be read, and whether one cannot. Tests that stand beside them are stepped over."""
    checked: list[Loaded] = []
    unreadable = False
    policies = [file for file in files if not file.endswith(".test.yaml")]
    for file in policies:
        if Path(file).is_dir():
            note(f"error: cannot read {file}: it is a directory; name the policies in it, as {Path(file) / '*.yaml'}")
            unreadable = True
            continue
        try:
            checked.append(load_named(file))
        except PolicyUnreadable as error:
            note(f"error: {error}")
            unreadable = True
    if tests := len(files) - len(policies):
        note(f"{counted(tests, 'file')} of tests left out; `ctxpolicy test` runs them")
    return checked, unreadable


def _tell_unusable(checked: Iterable[Loaded]) -> None:
    """Say which summarizers cannot be asked from here: no fault of the policy, so no finding, but good to know."""
    for loaded in checked:
        if loaded.spec is not None:
            base = None if loaded.name.startswith(BUILTIN) else Path(loaded.name).parent
            for why in unusable(loaded.spec, base):
                note(f"note: {visible(loaded.name)}: {visible(why)}")


def _distinct(checked: Iterable[Loaded]) -> list[Finding]:
    """Every finding once: what is wrong with a base is found for each policy that extends it."""
    return list(dict.fromkeys(finding for loaded in checked for finding in loaded.reported))


def _as_text(loaded: Loaded) -> str:
    name = visible(loaded.name)
    lines = [report(loaded.reported)] if loaded.reported else []
    if loaded.is_base and not loaded.stopped:
        lines.append(f"{name}: a base to extend; it has no `budget.window`, so it cannot run alone")
    elif loaded.spec is not None:
        lines += [f"{name}: valid", *_table(loaded)]
    return "\n".join(lines)


def _table(loaded: Loaded) -> list[str]:
    rows = list(_rows(loaded))
    widths = [max(len(row[column]) for row in rows) for column in range(3)]
    return [
        f"  {owner:<{widths[0]}}  {words:<{widths[1]}}  {tokens:>{widths[2]}} tokens  {share:>5} of the window"
        for owner, words, tokens, share in rows
    ]


def _rows(loaded: Loaded) -> Iterator[tuple[str, str, str, str]]:
    assert loaded.spec is not None
    budget = loaded.spec.budget
    plan = f"{budget.window:,} x {budget.ratio:g} - {budget.reserve:,}"
    yield "limit", plan, f"{budget.limit:,}", percent(budget.limit / budget.window)
    for found in thresholds(loaded.spec):
        yield found.owner, found.words, f"{found.tokens:,}", found.window_share(budget)


def _file(loaded: Loaded) -> dict[str, Any]:
    spec = loaded.spec
    limits = {"window": spec.budget.window, "limit": spec.budget.limit} if spec else {}
    rows = [{"owner": t.owner, "threshold": t.words, "tokens": t.tokens} for t in thresholds(spec)] if spec else []
    return {"file": loaded.name, "valid": not loaded.stopped, "base": loaded.is_base, **limits,
            "findings": [as_data(finding) for finding in loaded.reported], "thresholds": rows}  # fmt: skip
