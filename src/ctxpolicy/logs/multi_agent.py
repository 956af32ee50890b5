"""Logs of several agents talking (Magentic-One and AutoGen groups, as in Who&When): who said what, without calls.

The person's words are the user's; every agent's are an assistant's, told apart by `name`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ctxpolicy.logs.chat import speaker
from ctxpolicy.logs.model import Gathering, Session, scalars
from ctxpolicy.logs.source import Source
from ctxpolicy.transcripts.layout import ROLES

_SIGNS = ("question", "mistake_agent", "ground_truth")


def recognises(source: Source) -> bool:
    value = source.document_or_none
    history = value.get("history") if isinstance(value, dict) else None
    if not isinstance(history, list) or not history:
        return False
    return (
        not set(_SIGNS).isdisjoint(value)
        and all(isinstance(m, dict) and isinstance(m.get("role"), str) and "content" in m for m in history)
        and any("name" in m or m["role"] not in ROLES for m in history)
    )


def read(source: Source) -> Iterator[Session]:
    """The one conversation."""
    now = Gathering("multi-agent", "openai-chat", source.name)
    for record in source.document["history"]:
        fields = scalars(record)
        fields.pop("content", None)
        now.add(_message(record), 1, fields)
    yield now.session()


def _message(record: dict[str, Any]) -> dict[str, Any]:
    role, name = record["role"], record.get("name")
    if role in ("user", "human", "system"):
        message = {"role": "user" if role == "human" else role, "content": record["content"]}
    else:
        name = name or (role if role != "assistant" else None)
        message = {"role": "assistant", "content": record["content"]}
    return {**message, "name": speaker(str(name))} if name else message
