"""`lint --fix`: a transcript repaired by the rules of its provider (see `ctxpolicy.repairs`)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ctxpolicy import formats
from ctxpolicy.formats.detect import detect
from ctxpolicy.repairs import Repaired, repaired
from ctxpolicy.repairs.cache_marks import fewer_marks, room_for_marks


def fix(messages: Sequence[Any], format: str | None = None, *, strict: bool = False, beside: Any = None) -> Repaired:
    """The list with what can be repaired repaired; a sound list comes back with the same objects.

    `format` is the wire format (None: as the messages tell). `strict` also repairs what only some models and servers
    refuse. `beside` is what is sent beside the list, tools and system text: their cache marks count. Raises
    TranscriptInvalid for what is no message of the format.
    """
    wire_format = formats.get(format or detect(messages))
    done = repaired(messages, wire_format, strict=strict)
    return fewer_marks(done, room_for_marks(beside)) if wire_format.NAME == "anthropic" else done
