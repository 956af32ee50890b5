"""`ctxpolicy test`: does a policy do what its test files say."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ctxpolicy.cli.output import counted, note, paint
from ctxpolicy.errors import CtxPolicyError

if TYPE_CHECKING:
    from ctxpolicy.testing.coverage import Coverage, Covered
    from ctxpolicy.testing.outcome import Outcome
    from ctxpolicy.testing.suite import Suite


@click.command("test")
@click.argument("paths", nargs=-1, metavar="[PATH]...")
@click.option(
    "--coverage-min", type=click.FloatRange(0, 100), metavar="N",
    help="Fail where less than N percent of a policy's pins and rules are exercised.",
)  # fmt: skip
@click.option("--junit", type=click.Path(path_type=Path), metavar="FILE", help="Write a JUnit report for CI.")
@click.option("--verbose", "-v", is_flag=True, help="Name every case, and every pin and rule.")
@click.option(
    "--format", "-f", "output_format", type=click.Choice(("text", "json")), default="text", show_default=True,
    help="json: one object with every case and the coverage.",
)  # fmt: skip
def command(
    paths: tuple[str, ...], coverage_min: float | None, junit: Path | None, verbose: bool, output_format: str
) -> int:
    """Run the tests beside policies.

    A test file is named after its policy: default.test.yaml tests default.yaml. PATH is a test file, a policy with
    tests beside it, or a folder; without any it is the present folder. A failure shows where the expectation is
    written, the smallest difference, and why the policy did what it did.

    \b
    ctxpolicy test policies
    ctxpolicy test --coverage-min 100 --junit report.xml policies/default.yaml

    Exit codes: 0 all passed, 1 failed cases or too little coverage, 2 nothing to run.
    """
    from ctxpolicy.testing.discover import find

    files = find(paths or (".",))
    if not files:
        raise CtxPolicyError(f"no tests in {', '.join(paths) or 'this folder'}: write cases into NAME.test.yaml")
    outcomes, coverages = _run(files, show=verbose and output_format == "text")
    if junit is not None:
        _write(junit, outcomes)
    covered = {name: list(coverage.entries()) for name, coverage in coverages.items()}
    if output_format == "json":
        click.echo(json.dumps(_as_json(outcomes, covered), indent=2, ensure_ascii=False))
    else:
        _show(outcomes, covered, verbose)
    return int(any(outcome.faults for outcome in outcomes) or _short(covered, coverage_min))


def _run(files: Sequence[Path], show: bool) -> tuple[list[Outcome], dict[str, Coverage]]:
    from ctxpolicy.testing.coverage import Coverage
    from ctxpolicy.testing.outcome import run_suite
    from ctxpolicy.testing.suite import load_suite

    outcomes: list[Outcome] = []
    coverages: dict[str, Coverage] = {}
    for file in files:
        suite = load_suite(file)
        coverage = coverages.setdefault(_policy_of(suite), Coverage(suite)) if suite.policy else None
        for outcome in run_suite(suite, coverage):
            outcomes.append(outcome)
            if show:
                word = paint("FAIL", fg="red") if outcome.faults else paint("pass", fg="green")
                click.echo(f"{word} {outcome.where}: {outcome.name}")
    return outcomes, coverages


def _policy_of(suite: Suite) -> str:
    """The name of the policy under test, the same for every test file about it."""
    assert suite.loaded is not None
    return suite.loaded.name


def _show(outcomes: Sequence[Outcome], covered: dict[str, list[Covered]], verbose: bool) -> None:
    failed = [outcome for outcome in outcomes if outcome.faults]
    for outcome in failed:
        click.echo(f"{paint('FAIL', fg='red', bold=True)} {outcome.where}: {outcome.name}")
        for fault in outcome.faults:
            click.echo("\n".join(f"  {line}" for line in fault.splitlines()))
        click.echo()
    for name, entries in covered.items():
        _show_coverage(name, entries, verbose)
    passed = len(outcomes) - len(failed)
    summary = f"{counted(len(outcomes), 'case')}: {passed:,} passed, {len(failed):,} failed"
    click.echo(paint(summary, fg="red" if failed else "green"))


def _show_coverage(name: str, entries: Sequence[Covered], verbose: bool) -> None:
    from ctxpolicy.testing.coverage import share

    if not entries:
        return
    done = sum(entry.status == "exercised" for entry in entries)
    click.echo(f"{name}: {done:,} of {len(entries):,} pins and rules exercised ({share(entries):.0f} %)")
    for entry in entries:
        if verbose or entry.status != "exercised":
            why = f": {entry.why}" if entry.why else ""
            click.echo(f"  {entry.span}: {entry.kind} {entry.id}: {entry.status}{why}")


def _short(covered: dict[str, list[Covered]], least: float | None) -> bool:
    """Whether some policy has too little coverage, which is told."""
    from ctxpolicy.testing.coverage import share

    short = [name for name, entries in covered.items() if least is not None and share(entries) < least]
    for name in short:
        note(f"{name}: coverage {share(covered[name]):.0f} % is under --coverage-min {least:g}")
    return bool(short)


def _write(file: Path, outcomes: Sequence[Outcome]) -> None:
    from ctxpolicy.testing.junit import junit
    from ctxpolicy.transcripts import Output

    with Output(file) as out:
        out.write(junit(outcomes))


def _as_json(outcomes: Sequence[Outcome], covered: dict[str, list[Covered]]) -> dict[str, Any]:
    from ctxpolicy.testing.coverage import share

    cases = [
        {"file": o.suite.name, "line": o.line, "name": o.name, "passed": not o.faults, "faults": list(o.faults),
         "seconds": round(o.seconds, 6)}
        for o in outcomes
    ]  # fmt: skip
    coverage = [
        {"policy": name, "percent": share(entries), "entries": [
            {"id": e.id, "kind": e.kind, "where": str(e.span), "status": e.status, "why": e.why} for e in entries
        ]}
        for name, entries in covered.items()
    ]  # fmt: skip
    return {"passed": not any(o.faults for o in outcomes), "cases": cases, "coverage": coverage}
