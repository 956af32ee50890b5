"""`ctxpolicy restore`: the originals in place of markers, summaries and cut results."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from ctxpolicy.archive import Archive, DirectoryArchive
from ctxpolicy.archive.restoring import finder, restore
from ctxpolicy.archive.standing import digests
from ctxpolicy.archive.unresolved import unresolved
from ctxpolicy.cli.inputs import inputs_argument
from ctxpolicy.cli.options import Place, targets
from ctxpolicy.cli.output import counted, note
from ctxpolicy.cli.rewrite import rewrite
from ctxpolicy.errors import ArchiveError
from ctxpolicy.transcripts import Conversation

_NAMED = 3  # references that are named where more could not be put back


@click.command("restore")
@inputs_argument()
@click.option(
    "--archive", type=Place(Path), default=Path(".ctxpolicy/archive"), show_default=True, metavar="DIR",
    help="Where the originals are.",
)  # fmt: skip
@click.option(
    "--output",
    "-o",
    type=Place(),
    metavar="OUT",
    help="File to write, or directory for several inputs.  [default: stdout]",
)
def command(transcripts: tuple[str, ...], archive: Path, output: str | None) -> int:
    """Put back what a policy took out.

    Every marker, summary and cut result that the archive has a record of becomes what stood there before. `-` is
    standard input.

    Exit codes: 0 all is back, 1 a reference could not be put back or a conversation failed, 2 nothing could be read.

    \b
    ctxpolicy restore --archive .ctxpolicy/archive short.jsonl -o whole.jsonl
    """
    if not archive.is_dir():
        raise ArchiveError(f"{archive}: no such archive; give the directory that `apply` wrote to with --archive DIR")
    run = _Run(DirectoryArchive(archive))
    outcome = rewrite(targets(transcripts, output), run)
    if outcome.code == 2:
        return 2  # nothing could be read, which is told
    failed = f", {outcome.failed:,} failed" if outcome.failed else ""
    messages = f"{run.before:,} -> {run.after:,} messages, {run.put_back:,} put back"
    added = f", {run.added:,} that a repair had added taken out" if run.added else ""
    note(f"{counted(outcome.done, 'conversation')}{failed}, {messages}{added}")
    if run.left:
        first = ", ".join(run.left[:_NAMED]) + (", ..." if len(run.left) > _NAMED else "")
        what = f"{counted(len(run.left), 'reference')} could not be put back: {first}"
        note(f"error: {what}; is {archive} the right archive? name another with --archive DIR")
    return max(outcome.code, int(bool(run.left)))


class _Run:
    """Restoring as a transformation of conversations, and its figures."""

    def __init__(self, archive: Archive) -> None:
        self._archive, self._find = archive, finder(archive)
        self.before = self.after = self.put_back = self.added = 0
        self.left: list[str] = []  # references that still stand in the results

    def __call__(self, conversation: Conversation) -> Sequence[Any]:
        messages = restore(conversation.messages, self._archive)
        own = set(map(id, conversation.messages))
        self.before += len(conversation.messages)
        self.after += len(messages)
        self.put_back += sum(id(message) not in own for message in messages)
        self.added += sum(map(self._is_added, digests(conversation.messages)))
        self.left += unresolved(messages)
        return messages

    def _is_added(self, digest: str) -> bool:
        """Whether the last message of the list with this digest stood for none: a repair had put it in."""
        return any(not record["removed"] for record in self._find("", digest))
