"""Where the messages stand in a JSON value, and what may be a message. A new file shape is added here.

A value is a conversation (a list of messages, or an object around one), or it holds a list of conversations.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from ctxpolicy.errors import TranscriptInvalid

ROLES = ("system", "developer", "user", "assistant", "tool", "function", "model")
SYSTEM_KEYS = ("system", "systemInstruction", "system_instruction", "instructions")
KEYS = ("messages", "traj", "trajectory", "history", "input", "contents")
COLLECTIONS: tuple[tuple[str, ...], ...] = (
    (),  # the file or line is itself an array of conversations
    ("answer_generation", "train_messages"),  # ToolBench
)


_ITEMS = (
    "reasoning",
    "item_reference",
    "compaction",
    "mcp_list_tools",
    "mcp_approval_request",
    "mcp_approval_response",
)


def is_message(value: Any) -> bool:
    """True for what is meant as a message, whether or not its role is known."""
    return isinstance(value, dict) and ("role" in value or is_item(value))


def is_item(value: dict[str, Any]) -> bool:
    """True for an item of the OpenAI Responses API that is no message: a call, its output, reasoning."""
    kind = value.get("type")
    if not isinstance(kind, str) or "role" in value:
        return False
    return kind in _ITEMS or kind.endswith(("_call", "_output"))


def system_of(around: dict[str, Any]) -> Any:
    """The system text beside the messages, in the words of the providers."""
    return next((around[key] for key in SYSTEM_KEYS if around.get(key)), None)


def _is_messages(value: Any) -> bool:
    return isinstance(value, list) and any(map(is_message, value))


def messages_path(value: Any) -> tuple[str, ...]:
    """The keys that lead to the list of messages of one conversation.

    Raises TranscriptInvalid where there is none, or where it cannot be told which of several is meant.
    """
    paths = _paths(value)
    if not paths:
        raise TranscriptInvalid(
            "holds no list of messages; give messages with a `role`, an array of them, or an object with `messages`"
        )
    if len(paths) > 1:
        keys = " and ".join(f"`{key}`" for (key,) in paths)
        raise TranscriptInvalid(f"holds lists of messages under {keys}; remove one, or rename it to `messages`")
    return paths[0]


def _paths(value: Any) -> list[tuple[str, ...]]:
    if _is_messages(value) or value == []:
        return [()]
    if not isinstance(value, dict):
        return []
    if isinstance(value.get("messages"), list):
        return [("messages",)]
    return [(key,) for key, item in value.items() if _is_messages(item)] or [
        (key,) for key in KEYS if value.get(key) == []
    ]


def collection_path(value: Any) -> tuple[str, ...] | None:
    """The keys that lead to a list of conversations; None where the value holds none."""
    for path in COLLECTIONS:
        items = descend(value, path)
        if isinstance(items, list) and not _is_messages(items) and any(map(_paths, items)):
            return path
    return None


def descend(value: Any, path: Sequence[str]) -> Any:
    """The value at the end of a path of keys, or None."""
    for key in path:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def check_message(value: Any, index: int) -> None:
    """Raises TranscriptInvalid, with `index`, for what is not a message."""
    if not isinstance(value, dict):
        shown = json.dumps(value)[:40]
        raise TranscriptInvalid(f"message {index} is not an object but {shown}; remove it", index=index)
    known = ", ".join(ROLES)
    if "role" not in value and is_item(value):
        return
    if "role" not in value:
        raise TranscriptInvalid(f"message {index} has no `role`; give it one of {known}", index=index)
    if value["role"] not in ROLES:
        raise TranscriptInvalid(
            f"message {index} has the unknown role {value['role']!r}; the roles are {known}", index=index
        )
