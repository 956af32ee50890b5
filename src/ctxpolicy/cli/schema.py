"""`ctxpolicy schema`: the JSON Schema of the policy language, for editors."""

from __future__ import annotations

import click

from ctxpolicy.data import schema_file


@click.command("schema")
def command() -> int:
    """Print the JSON Schema of the policy language.

    For completion and errors in an editor, write it to a file and name that in the first line of a policy:

    \b
    ctxpolicy schema > policy-v1.schema.json
    # yaml-language-server: $schema=policy-v1.schema.json
    """
    click.echo(schema_file().read_text(encoding="utf-8"), nl=False)
    return 0
