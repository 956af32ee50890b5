"""`ctxpolicy restore`: the originals in place of markers, summaries and cut results."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from ctxpolicy.archive import Archive, DirectoryArchive
from ctxpolicy.cli.inputs import inputs_argument
from ctxpolicy.cli.options import targets
from ctxpolicy.cli.output import counted, note
from ctxpolicy.cli.rewrite import rewrite
from ctxpolicy.errors import ArchiveError
from ctxpolicy.restoring import restore
from ctxpolicy.transcripts import Conversation


@click.command("restore")
@inputs_argument()
@click.option(
    "--archive", type=click.Path(path_type=Path), default=Path(".ctxpolicy/archive"), show_default=True, metavar="DIR",
    help="Where the originals are.",
)  # fmt: skip
@click.option(
    "--output", "-o", metavar="OUT", help="File to write, or directory for several inputs.  [default: stdout]"
)
def command(transcripts: tuple[str, ...], archive: Path, output: str | None) -> int:
    """Put back what a policy took out.

    Every marker, summary and cut result that the archive has a record of becomes what stood there before. `-` is
    standard input.

    \b
    ctxpolicy restore --archive .ctxpolicy/archive short.jsonl -o whole.jsonl
    """
    if not archive.is_dir():
        raise ArchiveError(f"{archive}: no such archive; give the directory that `apply` wrote to with --archive DIR")
    run = _Run(DirectoryArchive(archive))
    outcome = rewrite(targets(transcripts, output), run)
    failed = f", {outcome.failed:,} failed" if outcome.failed else ""
    messages = f"{run.before:,} -> {run.after:,} messages, {run.put_back:,} put back"
    note(f"{counted(outcome.done, 'conversation')}{failed}, {messages}")
    return outcome.code


class _Run:
    """Restoring as a transformation of conversations, and its figures."""

    def __init__(self, archive: Archive) -> None:
        self._archive = archive
        self.before = self.after = self.put_back = 0

    def __call__(self, conversation: Conversation) -> Sequence[Any]:
        messages = restore(conversation.messages, self._archive)
        own = set(map(id, conversation.messages))
        self.before += len(conversation.messages)
        self.after += len(messages)
        self.put_back += sum(id(message) not in own for message in messages)
        return messages
