"""The text that stands in a message: what an archive record's `left` is the digest of, and what `restore` looks for."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from ctxpolicy import formats
from ctxpolicy.errors import TranscriptInvalid
from ctxpolicy.formats.detect import format_of
from ctxpolicy.messages import Message
from ctxpolicy.values import canonical, sha256

REFERENCE = re.compile(r"[0-9a-f]{12}")


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


def whole(wire: Any) -> str:
    """The digest by which a repaired message is known again: SHA-256 over its canonical JSON.

    It names no reference, so it must stand exactly as it was made.
    """
    return sha256(canonical(wire))
