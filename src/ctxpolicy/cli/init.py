"""`ctxpolicy init`: a commented policy to start from."""

from __future__ import annotations

import textwrap
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ctxpolicy.cli.output import note
from ctxpolicy.data import builtin_policies
from ctxpolicy.errors import CtxPolicyError

if TYPE_CHECKING:
    from ctxpolicy.policy.model import Spec

_WIDTH = 118
_KINDS = tuple(name for name in builtin_policies() if name != "harness")  # which says only how messages are read
_STARTER = """\
# {description}
#
# This policy builds on builtin:{kind} and says only what differs from it. Print the whole, with the
# place that each value comes from, and try a change before it ships:
#
#   ctxpolicy show {file}
#   ctxpolicy check {file}
#   ctxpolicy diff builtin:{kind} {file} session.jsonl
#
# For completion in an editor, write the schema beside this file (ctxpolicy schema > policy-v1.schema.json) and make
# this the first line:
# # yaml-language-server: $schema=policy-v1.schema.json
version: 1
name: {name}
extends: [builtin:{kind}]

budget:
  window: {window:<11} # tokens your model accepts
  # ratio: {ratio:<10g} # share of the window to plan with
  # reserve: {reserve:<8} # tokens kept free for the answer

{inherited}
#
# An entry with the id of an inherited one replaces it, any other is added at the end, or where `before: ID` says.
# Take off the `#` of what you want, and change it.

# pins:                        # what never leaves
#   - {{id: notes, match: {{tool: 'note_*', newest: 1}}}}       # the newest result of your agent's own tools for notes
#   - {{id: recent, match: {{newest: 10}}}}                     # more of the newest messages

# rules:
#   - id: cap-search           # one tool whose results are seldom worth more
#     at: append
#     match: {{role: tool, tool: search, tokens: {{gt: 1000}}}}
#     truncate: {{max_tokens: 1000}}

# disable: [ID]                # an inherited pin or rule to leave out

# Who writes the notes, where a rule compacts: in turn, until one answers. Without any, that rule declines and says so.
# In Python you can pass your own function instead: policy.window(summarize=...).
# summarizer: [openai:MODEL, extract]
"""


@click.command("init")
@click.argument("file", default="policy.yaml")
@click.option("--for", "kind", type=click.Choice(_KINDS), default="default", show_default=True, help="What it is for.")
@click.option("--force", is_flag=True, help="Write over a file that is there.")
def command(file: str, kind: str, force: bool) -> int:
    """Write a commented policy to start from.

    It extends the built-in policy for this kind of agent, says what that one has, and shows how to change it. FILE is
    policy.yaml if not given, `-` is standard output.

    \b
    ctxpolicy init --for chat
    ctxpolicy init --for coding-agent policies/agent.yaml
    """
    text = starter(kind, "policy.yaml" if file == "-" else file)
    if file == "-":
        click.echo(text, nl=False)
        return 0
    path = Path(file)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("w" if force else "x", encoding="utf-8") as out:
            out.write(text)
    except FileExistsError:
        raise CtxPolicyError(f"{file} is there already; give another name, or --force to write over it") from None
    note(f"{file}: a policy that extends builtin:{kind}; now run: ctxpolicy check {file}")
    return 0


def starter(kind: str, file: str) -> str:
    """The text of a policy that extends `builtin:KIND`, for a file of that name."""
    from ctxpolicy.policy.load import load_checked

    spec, _ = load_checked(f"builtin:{kind}")
    budget = spec.budget
    stem = Path(file).stem
    return _STARTER.format(
        kind=kind, file=file, description=spec.description, window=budget.window, ratio=budget.ratio,
        name=stem if stem.replace("-", "").replace("_", "").isalnum() else "policy", reserve=budget.reserve,
        inherited=_inherited(spec),
    )  # fmt: skip


def _inherited(spec: Spec) -> str:
    pins = ", ".join(pin.id for pin in spec.pins)
    rules = ", ".join(rule.id for rule in spec.rules)
    words = f"Inherited pins: {pins}. Inherited rules, in this order: {rules}."
    return textwrap.fill(words, _WIDTH, initial_indent="# ", subsequent_indent="# ", break_on_hyphens=False)
