"""Which files a user means by a path, a folder or a glob."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from ctxpolicy.errors import TranscriptInvalid
from ctxpolicy.logs import registry
from ctxpolicy.logs.source import Source
from ctxpolicy.transcripts import layout
from ctxpolicy.transcripts.reader import STDIN

SUFFIXES = (".jsonl", ".json", ".traj", ".eval", ".yaml", ".yml", ".har")  # those that logs and transcripts have
_JSON = (".jsonl", ".json", ".traj", ".eval")  # a file so named that cannot be read is told, not passed over


def find(paths: Iterable[str], last: int | None = None) -> list[str]:
    """The inputs that the paths name: files as given, those of a folder or glob newest first; `last`: the newest N.

    A folder without logs and a glob that matches nothing stay as they are: opening them says what is wrong.
    """
    found = [name for path in paths for name in _found(path) or [path]]
    return found if last is None else sorted(found, key=lambda name: _age(Path(name)))[:last]


def _found(path: str) -> list[str]:
    """What a folder or glob stands for."""
    if path == STDIN or Path(path).is_file():
        return [path]
    if Path(path).is_dir():
        return _inside(Path(path))
    if not glob.has_magic(path):
        return []
    matches = [Path(name) for name in glob.glob(path, recursive=True)]
    inside = (name for match in matches for name in (_inside(match) if match.is_dir() else [str(match)]))
    once = dict.fromkeys(inside)  # a folder and a file in it may both match
    return [str(path) for path in _newest(map(Path, once))]


def _inside(folder: Path) -> list[str]:
    """The logs and transcripts below a folder, newest first."""
    if event_files(folder) is not None:
        return [str(folder)]
    return [str(path) for path in _newest(_candidates(folder)) if _is_input(path)]


def _candidates(folder: Path) -> Iterator[Path]:
    for name, folders, files in os.walk(folder):
        directory = Path(name)
        if event_files(directory) is not None:
            folders.clear()
            yield directory
        else:
            yield from (directory / file for file in files if file.endswith(SUFFIXES))


def event_files(folder: Path) -> list[Path] | None:
    """The event files of an OpenHands conversation, in order; None where the folder is none."""
    events = folder if folder.name == "events" else folder / "events"
    if not events.is_dir():
        return None
    files = [path for path in events.glob("*.json") if path.stem.removeprefix("event-").split("-")[0].isdecimal()]
    return sorted(files, key=lambda path: int(path.stem.removeprefix("event-").split("-")[0])) or None


def _newest(paths: Iterable[Path]) -> list[Path]:
    return sorted(paths, key=lambda path: (_age(path), str(path)))


def _age(path: Path) -> float:
    try:
        return -path.stat().st_mtime
    except OSError:
        return 0.0


def _is_input(path: Path) -> bool:
    """Whether a file of a folder is a log or transcript, or one that cannot be read and must be told."""
    if path.is_dir():
        return True
    try:
        with path.open("rb") as stream:
            source = Source(str(path), stream)
            return registry.detect(source) is not None or _is_transcript(source)
    except (TranscriptInvalid, OSError):
        return path.suffix in _JSON


def _is_transcript(source: Source) -> bool:
    """Whether a file holds messages. Raises TranscriptInvalid where it should be JSON, and is not."""
    value = source.head[0] if source.head else source.document if source.name.endswith(_JSON) else None
    if layout.is_message(value) or layout.collection_path(value) is not None:
        return True
    try:
        layout.messages_path(value)
    except TranscriptInvalid:
        return False
    return True
