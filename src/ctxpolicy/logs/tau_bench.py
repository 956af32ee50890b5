"""tau-bench results (docent stores them too): tasks with the messages of each under `traj`."""

from __future__ import annotations

from collections.abc import Iterator

from ctxpolicy.logs.in_place import sessions
from ctxpolicy.logs.model import Session
from ctxpolicy.logs.source import Source


def recognises(source: Source) -> bool:
    value = source.document_or_none
    first = value[0] if isinstance(value, list) and value else value
    return isinstance(first, dict) and isinstance(first.get("traj"), list) and {"task_id", "reward"} <= set(first)


def read(source: Source) -> Iterator[Session | str]:
    """A conversation for each task and trial."""
    return sessions(source, "tau-bench")
