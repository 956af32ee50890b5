"""The text that stands in a message: what an archive record's `left` is the digest of, and what `restore` looks for."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from ctxpolicy import formats
from ctxpolicy.errors import TranscriptInvalid
from ctxpolicy.formats.detect import format_of
from ctxpolicy.messages import Message
from ctxpolicy.values import canonical

REFERENCE = re.compile(r"[0-9a-f]{12}")
START = b""  # the digest of an empty list


def parts_of(wire: Any) -> Sequence[Message]:
    """What a message is to the rules, in the format that its form tells; nothing for what is not a message."""
    try:
        return formats.get(format_of(wire)).read(wire, 0)
    except TranscriptInvalid:
        return ()


def text_of(message: Message) -> str:
    """The text of a message, then NUL and the arguments of each of its calls.

    Nothing else counts: callers drop ids, names and reasoning from their lists, and what stands there must be known
    again without them.
    """
    return "\0".join([message.text, *(call.arguments for call in message.calls)])


def texts_of(message: Message) -> tuple[str, str]:
    """The texts by which a message may be known again: its own and, for masked reasoning, that with all else sent."""
    own = text_of(message)
    return own, "\0".join([own, *message.extra])


def left_in(message: Message, ref: str) -> str:
    """The text that stands in a message of ours or a changed one: the first that names its reference, else its own."""
    texts = texts_of(message)
    return next((text for text in texts if ref in text), texts[0])


def standing(wire: Any, ref: str = "") -> str:
    """The text that stands in a wire message of one part (see `left_in`); "" for any other."""
    seen = parts_of(wire)
    return left_in(seen[0], ref) if len(seen) == 1 else ""


def fingerprint(wire: Any) -> bytes:
    """SHA-256 over the canonical JSON of a message; nothing for what is no JSON, which is never archived."""
    try:
        return hashlib.sha256(canonical(wire)).digest()
    except (TypeError, ValueError, RecursionError):
        return b""


def behind(before: bytes, own: bytes) -> bytes:
    """The digest of a list one message longer: SHA-256 over the digest so far and the message's fingerprint.

    By it a repaired message is known again. It names no reference, and others may be equal to it, so it must stand
    exactly as it was made, behind exactly what it was made behind.
    """
    return hashlib.sha256(before + own).digest()


def digests(wires: Iterable[Any]) -> Iterator[str]:
    """The digest (hex) of the list up to each message, that one included: the `left` of a repaired one."""
    digest = START
    for wire in wires:
        digest = behind(digest, fingerprint(wire))
        yield digest.hex()
