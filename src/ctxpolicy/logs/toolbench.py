"""ToolBench answers: the search for one answer, as several copies of one growing conversation."""

from __future__ import annotations

from collections.abc import Iterator

from ctxpolicy.logs.in_place import sessions
from ctxpolicy.logs.model import Session
from ctxpolicy.logs.source import Source


def recognises(source: Source) -> bool:
    value = source.document_or_none
    answer = value.get("answer_generation") if isinstance(value, dict) else None
    return isinstance(answer, dict) and isinstance(answer.get("train_messages"), list)


def read(source: Source) -> Iterator[Session | str]:
    """Every copy: each is what the model saw at one step."""
    return sessions(source, "toolbench")
