"""Messages as a simulation sees them: each is read and priced once, however many calls carry it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from ctxpolicy.intake import Reading
from ctxpolicy.values import canonical


class Seen(NamedTuple):
    """What matters of one wire message: its tokens, text, wire role, the ids of its calls and results, and whether it
    goes on with the turn before it."""

    wire: Any
    tokens: int
    text: str
    role: str
    calls: tuple[str, ...]
    results: tuple[str, ...]
    follows: bool = False


class Reader:
    """Reads lists that mostly hold the same messages as the list before: equal ones give the same object."""

    def __init__(self, reading: Reading) -> None:
        self._reading = reading
        self._known: dict[bytes, Seen] = {}

    def read(self, messages: Sequence[Any]) -> list[Seen]:
        """The messages of a list, in order."""
        known = self._known
        named = [(canonical(wire), wire) for wire in messages]
        self._known = {name: known.get(name) or self.one(wire) for name, wire in named}
        return [self._known[name] for name, _ in named]

    def one(self, wire: Any) -> Seen:
        """A single message. Raises TranscriptInvalid for what is none."""
        parts = self._reading.format.read(wire, 0)
        return Seen(
            wire,
            sum(map(self._reading.meter.message, parts)),
            "\n".join(part.text for part in parts),
            parts[0].role,
            tuple(call.id or "" for part in parts for call in part.calls),
            tuple(part.result_of for part in parts if part.result_of is not None),
            parts[0].follows,
        )
