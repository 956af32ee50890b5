"""Canonical repairs, in the order in which harnesses make them.

Drop what is empty or private, drop results that answer nothing, answer what is unanswered, put results where they
belong; for strict servers merge and lead.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from ctxpolicy import formats
from ctxpolicy.formats.detect import detect
from ctxpolicy.lint.pairing import Pairing
from ctxpolicy.lint.scrub import scrub
from ctxpolicy.lint.strict import merge_and_lead


class Repair(msgspec.Struct, frozen=True):
    """What was done to message `index` (of the list as it was given), and the rule that asked for it."""

    code: str
    index: int
    says: str

    def __str__(self) -> str:
        return f"message {self.index}: {self.code}: {self.says}"


class Fixed(msgspec.Struct, frozen=True):
    """The repaired list, what was done, and the messages of the given list that are no longer in it as they were."""

    messages: list[Any]
    repairs: list[Repair]
    removed: list[Any]


_CODES = {
    "openai-chat": {"orphan": "OAC-02", "double": "OAC-02", "dead": "OAC-01", "apart": "OAC-01", "empty": "OAC-05"},
    "anthropic": {"orphan": "ANT-02", "double": "ANT-03", "dead": "ANT-01", "apart": "ANT-04", "empty": "ANT-15"},
    "openai-responses": {"orphan": "OAR-02", "double": "X-01", "dead": "OAR-01", "apart": "OAR-15", "empty": "X-08"},
    "gemini": {"orphan": "GEM-02", "double": "GEM-03", "dead": "GEM-03", "apart": "GEM-02", "empty": "GEM-07"},
}


def fix(messages: Sequence[Any], format: str | None = None, *, strict: bool = False) -> Fixed:
    """The list with what can be repaired repaired; a sound list comes back with the same objects.

    `strict` also merges neighbours of one role and begins with a user message. Raises TranscriptInvalid for what is no
    message of the format.
    """
    name = format or detect(messages)
    wire_format, codes = formats.get(name), _CODES[name]
    repairs: list[Repair] = []

    def note(kind: str, index: int, says: str) -> None:
        repairs.append(Repair(codes.get(kind, kind), index, says))

    pairing = Pairing(wire_format, scrub(messages, name, note), note)
    pairing.pair()
    numbered = pairing.join()
    if strict:
        numbered = merge_and_lead(numbered, wire_format, note)
    out = [wire for _, wire in numbered]
    kept = {id(wire) for wire in out}
    return Fixed(out, sorted(repairs, key=lambda r: r.index), [wire for wire in messages if id(wire) not in kept])
