"""The text that stands in a message: what an archive record's `left` is the digest of, and what `restore` looks for."""

from __future__ import annotations

import re
from typing import Any

from ctxpolicy.errors import TranscriptInvalid
from ctxpolicy.formats import openai_chat

REFERENCE = re.compile(r"[0-9a-f]{12}")


def standing(message: Any) -> str:
    """The text of a chat message, then NUL and the arguments of each of its calls; "" for what is not a chat message.

    Nothing else counts: callers drop ids, names and reasoning from their lists, and what stands there must be known
    again without them.
    """
    try:
        (seen,) = openai_chat.read(message, 0)
    except TranscriptInvalid:
        return ""
    return "\0".join([seen.text, *(call.arguments for call in seen.calls)])
