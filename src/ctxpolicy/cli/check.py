"""`ctxpolicy check`: is a policy valid, and what are its thresholds in tokens."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

import click

from ctxpolicy.cli.output import note
from ctxpolicy.policy.load import Loaded, load_named
from ctxpolicy.policy.report import report, visible
from ctxpolicy.policy.source import PolicyUnreadable
from ctxpolicy.policy.thresholds import percent, thresholds


@click.command("check")
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@click.option(
    "--format", "-f", "output_format", type=click.Choice(("text", "json")), default="text", show_default=True,
    help="json: one object with every finding and threshold.",
)  # fmt: skip
def command(files: tuple[str, ...], output_format: str) -> int:
    """Check policy files: errors at line and column, with hints.

    Prints every threshold of a valid policy in tokens and as a share of the window. FILE may also be builtin:NAME. A
    file with neither budget, pins nor rules is one for others to extend, and may leave `budget.window` out.

    \b
    ctxpolicy check policies/*.yaml

    Exit codes: 0 no errors, 1 errors, 2 a file that cannot be read.
    """
    code = 0
    checked: list[Loaded] = []
    for file in files:
        try:
            checked.append(load_named(file))
        except PolicyUnreadable as error:
            note(f"error: {error}")
            code = 2
    click.echo(_as_json(checked) if output_format == "json" else "\n".join(map(_as_text, checked)), nl=bool(checked))
    return code or int(any(loaded.stopped for loaded in checked))


def _as_text(loaded: Loaded) -> str:
    name = visible(loaded.name)
    if loaded.is_base and not loaded.stopped:
        return f"{name}: a base to extend; it has no `budget.window`, so it cannot run alone"
    lines = [report(loaded.findings)] if loaded.findings else []
    if loaded.spec is not None:
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


def _as_json(checked: list[Loaded]) -> str:
    return json.dumps({"files": [_file(loaded) for loaded in checked]}, indent=2, ensure_ascii=False)


def _file(loaded: Loaded) -> dict[str, Any]:
    spec = loaded.spec
    limits = {"window": spec.budget.window, "limit": spec.budget.limit} if spec else {}
    rows = [{"owner": t.owner, "threshold": t.words, "tokens": t.tokens} for t in thresholds(spec)] if spec else []
    findings = [{"severity": f.severity, **asdict(f)} for f in loaded.findings]
    return {"file": loaded.name, "valid": not loaded.stopped, "base": loaded.is_base, **limits,
            "findings": findings, "thresholds": rows}  # fmt: skip
