"""`ctxpolicy show`: the effective policy, and where each value comes from."""

from __future__ import annotations

import json
from typing import Any

import click

from ctxpolicy.cli.output import note
from ctxpolicy.policy.defaults import filled
from ctxpolicy.policy.listing import listing
from ctxpolicy.policy.load import load_named
from ctxpolicy.policy.node import DEFAULT, Node
from ctxpolicy.policy.report import report, visible
from ctxpolicy.policy.thresholds import thresholds


@click.command("show")
@click.argument("file", metavar="FILE")
@click.option(
    "--format", "-f", "output_format", type=click.Choice(("text", "json")), default="text", show_default=True,
    help="json: the document, where each value stands, and the thresholds.",
)  # fmt: skip
def command(file: str, output_format: str) -> int:
    """Print the effective policy and where each value comes from.

    What the policy extends is merged in, defaults are filled in. The text is YAML that loads again; each value has the
    file and line it was written in, thresholds their tokens. FILE may also be builtin:NAME.

    \b
    ctxpolicy show policies/default.yaml

    Exit codes: 0 printed, 1 the policy is invalid, 2 the file cannot be read.
    """
    loaded = load_named(file)
    if loaded.spec is None or loaded.document is None:
        note(report(loaded.findings))
        return 1
    if output_format == "json":
        rows = [{"owner": t.owner, "threshold": t.words, "tokens": t.tokens} for t in thresholds(loaded.spec)]
        document = filled(loaded.document)
        shown = {"policy": document.plain(), "origins": _origins(document), "thresholds": rows,
                 "limit": loaded.spec.budget.limit, "hash": loaded.spec.hash}  # fmt: skip
        click.echo(json.dumps(shown, indent=2, ensure_ascii=False))
        return 0
    budget = loaded.spec.budget
    plan = f"window {budget.window:,} x {budget.ratio:g} - {budget.reserve:,}"
    click.echo(f"# {visible(loaded.name)}: limit {budget.limit:,} tokens = {plan}")
    click.echo(listing(loaded.document, loaded.spec), nl=False)
    return 0


def _origins(node: Node, path: str = "") -> dict[str, str]:
    """The origin of every scalar and empty collection by its path, such as `rules[0].truncate.head`."""
    found: dict[str, str] = {}
    pairs: list[tuple[str, Any]] = [(f"{path}.{key}".lstrip("."), value) for key, value in node.mapping.items()]
    pairs += [(f"{path}[{index}]", item) for index, item in enumerate(node.items)]
    for inner, value in pairs:
        if isinstance(value.value, (dict, list)) and value.value:
            found |= _origins(value, inner)
        else:
            found[inner] = "default" if value.span is DEFAULT else str(value.span)
    return found
