"""Reading a made-up log in a test."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ctxpolicy import formats
from ctxpolicy.logs import LogFile, Session, read_log
from ctxpolicy.transcripts.model import Broken

from .samples import LOGS


def write(folder: Path, name: str) -> Path:
    """The sample of that name as a file."""
    file, text = LOGS[name]
    path = folder / file
    path.write_text(text, encoding="utf-8")
    return path


def opened(folder: Path, name: str) -> tuple[LogFile, list[Session]]:
    """The sample of that name, read."""
    return everything(write(folder, name))


def everything(path: Path) -> tuple[LogFile, list[Session]]:
    """A log and its sessions; nothing in it may be broken."""
    log = read_log(path)
    parts = list(log.parts())
    assert not [str(part.error) for part in parts if isinstance(part, Broken)]
    return log, [part for part in parts if isinstance(part, Session)]


def roles(session: Session) -> list[str]:
    """The role of each message as the rules see it."""
    view = formats.get(session.format)
    return [part.role for index, wire in enumerate(session.messages) for part in view.read(wire, index)]


def pairs(session: Session) -> tuple[list[Any], list[Any]]:
    """The ids of calls, and the ids that results answer."""
    view = formats.get(session.format)
    parts = [part for index, wire in enumerate(session.messages) for part in view.read(wire, index)]
    return [call.id for part in parts for call in part.calls], [p.result_of for p in parts if p.role == "tool"]
