"""`ctxpolicy explain-code`: what a code means, why it is found, and how to mend it."""

from __future__ import annotations

import json
from dataclasses import asdict

import click

from ctxpolicy.formats import FORMATS
from ctxpolicy.lint import Rule, rules
from ctxpolicy.policy.codes import as_text, codes, entry
from ctxpolicy.policy.phrases import did_you_mean


@click.command("explain-code")
@click.argument("code", metavar="CODE")
@click.option(
    "--format", "-f", "output_format", type=click.Choice(("text", "json")), default="text", show_default=True,
    help="json: one object.",
)  # fmt: skip
def command(code: str, output_format: str) -> int:
    """Say what a code means: what was found, why, and a bad and a good policy.

    \b
    ctxpolicy explain-code CP303

    Exit codes: 0 printed, 2 no such code.
    """
    known = codes()
    if (rule := _rule(code.upper())) is not None:
        told = {"code": rule.code, "title": rule.title, "level": rule.level, "error": rule.error, "do": rule.do}
        click.echo(json.dumps(told, indent=2) if output_format == "json" else _rule_text(rule))
        return 0
    if code.upper() not in known:
        hint = did_you_mean(code.upper(), known) or f"Codes go from {known[0]} to {known[-1]}."
        raise click.BadParameter(f"there is no code {code!r}; {hint}", param_hint="CODE")
    found = entry(code.upper())
    click.echo(json.dumps(asdict(found), indent=2) if output_format == "json" else as_text(found))
    return 0


def _rule(code: str) -> Rule | None:
    """A rule of `lint`, whose codes have a dash."""
    found = (rules(name).get(code) for name in FORMATS if "-" in code)
    return next((rule for rule in found if rule is not None), None)


def _rule_text(rule: Rule) -> str:
    levels = {
        "error": "The provider refuses it.",
        "warning": "The provider takes it, to some harm.",
        "route": "Some models, clouds and compatible servers refuse it (`lint --for strict`).",
    }
    return f"{rule.code}: {rule.title}\n\n{levels[rule.level]} It says: {rule.error}\n\nWhat to do: {rule.do}."
