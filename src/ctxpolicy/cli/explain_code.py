"""`ctxpolicy explain-code`: what a code means, why it is found, and how to mend it."""

from __future__ import annotations

import json

import click
import msgspec
from msgspec.structs import asdict

from ctxpolicy.formats import FORMATS
from ctxpolicy.lint import Rule, rules
from ctxpolicy.lint.unjudged import JUDGED_AS, NOT_JUDGED
from ctxpolicy.policy.codes import as_text, codes, entry, title
from ctxpolicy.policy.phrases import did_you_mean

# Rules of providers without a code of their own in what `lint` finds.
_UNJUDGED = {code: f"judged as {', '.join(told)}" for code, told in JUDGED_AS.items()} | {
    code: f"not judged from a transcript: {why}" for code, why in NOT_JUDGED.items()
}


@click.command("explain-code")
@click.argument("code", metavar="CODE", required=False)
@click.option("--list", "listed", is_flag=True, help="Every code with its title, one a line.")
@click.option(
    "--format", "-f", "output_format", type=click.Choice(("text", "json")), default="text", show_default=True,
    help="json: one object.",
)  # fmt: skip
def command(code: str | None, listed: bool, output_format: str) -> int:
    """Say what a code means, with a bad and a good example.

    CODE is one of `check`'s, such as CP303, or of `lint`'s, such as X-06. For a rule of a provider that `lint` does not
    judge, or judges under another code, it says so.

    \b
    ctxpolicy explain-code CP303

    Exit codes: 0 printed, 2 no such code.
    """
    of_lint = {code: rule for name in FORMATS for code, rule in rules(name).items()}
    if listed:
        titles = {code: title(code) for code in codes()} | {code: rule.title for code, rule in of_lint.items()}
        return _list(titles | _UNJUDGED, output_format)
    if code is None:
        raise click.UsageError("no code was given; `ctxpolicy explain-code --list` shows them all")
    wanted = code.upper()
    known = (*codes(), *of_lint, *_UNJUDGED)
    if wanted not in known:
        hint = did_you_mean(wanted, known) or "`ctxpolicy explain-code --list` shows them all"
        raise click.BadParameter(f"there is no code {code!r}; {hint}", param_hint="CODE")
    if rule := of_lint.get(wanted):
        data, text = msgspec.to_builtins(rule), _rule_as_text(rule)
    elif says := _UNJUDGED.get(wanted):
        data, text = {"code": wanted, "title": says}, f"{wanted}: {says}"
    else:
        found = entry(wanted)
        data, text = asdict(found), as_text(found)
    click.echo(json.dumps(data, indent=2) if output_format == "json" else text)
    return 0


def _list(titles: dict[str, str], output_format: str) -> int:
    if output_format == "json":
        click.echo(json.dumps(titles, indent=2))
    else:
        for code, says in titles.items():
            click.echo(f"{code}: {says}")
    return 0


def _rule_as_text(rule: Rule) -> str:
    """A rule of a provider. `route`: only some models, clouds and compatible servers refuse it."""
    return f"{rule.code}: {rule.title} ({rule.level})\n\nThe provider answers: {rule.error}\n\nWhat to do: {rule.do}"
