"""`ctxpolicy init`: a commented policy to start from."""

from __future__ import annotations

from pathlib import Path

import click

from ctxpolicy.cli.output import note
from ctxpolicy.data import starter_policies
from ctxpolicy.errors import CtxPolicyError

_DEFAULT = "policy.yaml"


@click.command("init")
@click.argument("file", default=_DEFAULT)
@click.option(
    "--for", "kind", type=click.Choice(tuple(starter_policies())), default="coding-agent", show_default=True,
    help="What kind of agent it is for.",
)  # fmt: skip
@click.option("--force", is_flag=True, help="Write over a file that is there.")
def command(file: str, kind: str, force: bool) -> int:
    """Write a commented policy to start from.

    It extends builtin:default and says what differs for this kind of agent, and why. FILE is policy.yaml if not given,
    `-` is standard output.

    \b
    ctxpolicy init --for chat
    ctxpolicy init --for coding-agent policies/agent.yaml
    """
    text = starter_policies()[kind].read_text(encoding="utf-8")
    if file == "-":
        click.echo(text, nl=False)
        return 0
    text = text.replace(" FILE", f" {file}")
    path = Path(file)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("w" if force else "x", encoding="utf-8") as out:
            out.write(text)
    except FileExistsError:
        raise CtxPolicyError(f"{file} is there already; give another name, or --force to write over it") from None
    note(f"{file}: a policy for {kind}; now run: ctxpolicy check {file}")
    return 0
