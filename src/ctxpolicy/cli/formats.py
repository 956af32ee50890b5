"""`ctxpolicy formats`: what is read and written, and where it lies."""

from __future__ import annotations

import json

import click

from ctxpolicy.cli.output import Column, paint, table, terminal_width
from ctxpolicy.formats import FORMATS
from ctxpolicy.logs.registry import LOG_FORMATS

_WIRE = {
    "openai-chat": "OpenAI Chat Completions",
    "anthropic": "Anthropic Messages",
    "openai-responses": "OpenAI Responses items",
    "gemini": "Gemini contents",
}
_WIRE_COLUMNS = (Column("messages", least=8), Column("of", least=8, drop=2))
_LOG_COLUMNS = (
    Column("log", least=8),
    Column("written by", least=8, drop=1),
    Column("messages", least=8, drop=2),
    Column("for example", least=10, drop=3),
)


@click.command("formats")
@click.option("--format", "-f", "output_format", type=click.Choice(("text", "json")), default="text", show_default=True)
def command(output_format: str) -> int:
    """List the formats that are read and written.

    Transcripts hold messages of the first list, one a line, in an array, or in an object, and are written back in their
    own shape. Logs of the second list are told by their content; a changed log is never written, its messages are.
    """
    if output_format == "json":
        click.echo(json.dumps(_as_json(), indent=2))
        return 0
    width = terminal_width()
    wire = [(name, _WIRE[name]) for name in FORMATS]
    logs = [(log.name, log.writer, ", ".join(log.messages), log.example) for log in LOG_FORMATS]
    for columns, rows in ((_WIRE_COLUMNS, wire), (_LOG_COLUMNS, logs)):
        titles, *lines = table(columns, [list(row) for row in rows], width)
        click.echo(paint(titles, bold=True))
        for line in lines:
            click.echo(line)
        click.echo()
    click.echo("read: all of them.  written: messages; in the log's own shape: " + ", ".join(_in_place()))
    return 0


def _in_place() -> list[str]:
    return [log.name for log in LOG_FORMATS if log.in_place]


def _as_json() -> dict[str, object]:
    logs = [
        {
            "name": log.name, "written_by": log.writer, "messages": log.messages, "example": log.example,
            "in_place": log.in_place,
        }
        for log in LOG_FORMATS
    ]  # fmt: skip
    return {"messages": [{"name": name, "of": _WIRE[name]} for name in FORMATS], "logs": logs}
