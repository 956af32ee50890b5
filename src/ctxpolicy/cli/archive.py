"""`ctxpolicy archive`: what policies took out, listed and shown."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

import click

from ctxpolicy.archive import DirectoryArchive, Record
from ctxpolicy.archive.recall import shown
from ctxpolicy.archive.standing import parts_of
from ctxpolicy.cli.options import Place
from ctxpolicy.cli.output import Column, counted, note, printable, table, terminal_width
from ctxpolicy.errors import ArchiveError

_COLUMNS = (
    Column("REF"),
    Column("MESSAGES", right=True),
    Column("CHARACTERS", right=True),
    Column("BEGINS WITH", least=20),
)
_Command = TypeVar("_Command", bound=Callable[..., Any])
_BEGINNING = 200  # characters of a record's first text that are listed

_archive = click.option(
    "--archive", type=Place(Path), default=Path(".ctxpolicy/archive"), show_default=True, metavar="DIR",
    help="Where the originals are.",
)  # fmt: skip


def _format(text: str) -> Callable[[_Command], _Command]:
    return click.option(
        "--format", "-f", "output_format", type=click.Choice(("text", "json")), default="text", show_default=True,
        help=text,
    )  # fmt: skip


@click.group("archive")
def command() -> None:
    """List or show what policies took out."""


@command.command("list")
@_archive
@_format("json: one object a line for each record.")
def list_(archive: Path, output_format: str) -> int:
    """List the records of an archive, the oldest file first.

    \b
    ctxpolicy archive list --archive .ctxpolicy/archive
    """
    rows = [_row(record) for record in _records(archive)]
    if output_format == "json":
        for row in rows:
            click.echo(json.dumps(row))
        return 0
    cells = [(row["ref"], f"{row['messages']:,}", f"{row['characters']:,}", row["begins"]) for row in rows]
    for line in table(_COLUMNS, cells, terminal_width()) if rows else ():
        click.echo(line)
    note(counted(len(rows), "record"))
    return 0


@command.command("show")
@click.argument("ref")
@_archive
@_format("json: the messages as they stood, one a line.")
def show(ref: str, archive: Path, output_format: str) -> int:
    """Show the messages behind a reference.

    \b
    ctxpolicy archive show 3f9a12c0d4e1
    ctxpolicy archive show --format json 3f9a12c0d4e1 > messages.jsonl
    """
    record = _opened(archive).get(ref)[0]
    if output_format == "json":
        for message in record["removed"]:
            click.echo(json.dumps(message))
        return 0
    for label, text in shown(record):
        click.echo(f"{printable(label)}:")
        for line in text.split("\n"):
            click.echo(f"  {printable(line)}".rstrip())
    return 0


def _opened(directory: Path) -> DirectoryArchive:
    if not directory.is_dir():
        raise ArchiveError(f"{directory}: no such archive; give the directory that `apply` wrote to with --archive DIR")
    return DirectoryArchive(directory)


def _records(directory: Path) -> Iterator[Record]:
    """Each record once, also where several runs wrote it."""
    seen: set[tuple[str, str]] = set()
    for record in _opened(directory).records():
        key = (record["ref"], record["left"])
        if key not in seen:
            seen.add(key)
            yield record


def _row(record: Record) -> dict[str, Any]:
    texts = [message.text for wire in record["removed"] for message in parts_of(wire)]
    return {
        "ref": record["ref"],
        "messages": len(record["removed"]),
        "characters": sum(map(len, texts)),
        "begins": printable(" ".join(next(filter(str.strip, texts), "")[:_BEGINNING].split())),
    }
