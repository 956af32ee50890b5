"""What callers pass, checked before anything is done with it: a wrong kind says what it is and what is wanted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeGuard

from ctxpolicy.errors import CtxPolicyError, TranscriptInvalid

Metas = Sequence[Mapping[str, Any] | None] | Mapping[int, Mapping[str, Any]] | None


def message_list(messages: Any) -> Sequence[Any]:
    """A list of messages. Raises TranscriptInvalid for anything else."""
    if _is_list(messages):
        return messages
    raise TranscriptInvalid(f"the messages are {_kind(messages)}; give them in a list")


def tool_list(tools: Any) -> Sequence[Any] | None:
    """The schemas of the tools sent along, None where they are not known. Raises CtxPolicyError for anything else."""
    if tools is None or _is_list(tools):
        return tools
    raise CtxPolicyError(f"tools= is {_kind(tools)}; give the list of schemas that is sent along, or None")


def window_size(window: Any) -> int:
    """A model's window in tokens. Raises CtxPolicyError for what is no whole number."""
    if isinstance(window, bool) or not isinstance(window, int):
        raise CtxPolicyError(f"window= is {window!r}; give the model's window as a whole number of tokens")
    return window


def meta_of(meta: Any) -> dict[str, Any] | None:
    """The metadata of one message. Raises CtxPolicyError for what is no mapping."""
    if meta is not None and not isinstance(meta, Mapping):
        raise CtxPolicyError(f"the metadata of a message is {_kind(meta)}; give a mapping, such as {{'pin': True}}")
    return dict(meta) if meta else None


def metas(meta: Metas, size: int) -> list[Mapping[str, Any] | None] | None:
    """Metadata as one entry for each of `size` messages, None where nothing was given. Raises CtxPolicyError."""
    if meta is None:
        return None
    if isinstance(meta, Mapping):
        beyond = [i for i in meta if not isinstance(i, int) or not 0 <= i < size]
        if beyond:
            raise CtxPolicyError(f"meta names message {beyond[0]!r}, but there are {size} messages, counted from 0")
        return [meta_of(meta.get(i)) for i in range(size)]
    if not _is_list(meta):
        raise CtxPolicyError(f"meta= is {_kind(meta)}; give an entry for each message, or a mapping by index")
    if len(meta) != size:
        raise CtxPolicyError(f"meta has {len(meta)} entries for {size} messages; give one each, or a mapping by index")
    return [meta_of(one) for one in meta]


def _is_list(value: Any) -> TypeGuard[Sequence[Any]]:
    return isinstance(value, Sequence) and not isinstance(value, (str, bytes, bytearray))


def _kind(value: Any) -> str:
    name = type(value).__name__
    return f"{'an' if name[0] in 'aeiou' else 'a'} {name}"
