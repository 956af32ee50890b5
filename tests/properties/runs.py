"""What the assertions on a run share."""

from __future__ import annotations

from typing import Any

from ctxpolicy import Result
from ctxpolicy.archive import MemoryArchive
from properties.reference import Reference
from properties.scenarios import Scenario

STAYS = ("kept", "pinned", "live")
GONE = ("compacted", "evicted")


def acted(result: Result, *actions: str) -> bool:
    """True where a rule (of these actions) acted."""
    return any(e.acted and (not actions or e.action in actions) for e in result.events)


def reader(scenario: Scenario) -> Reference:
    """The reference, with the transcript read and no rule applied."""
    reference = Reference(scenario.policy.spec)
    reference.read(scenario.messages, scenario.meta)
    return reference


def same_objects(result: Result, scenario: Scenario) -> bool:
    given, got = scenario.messages, result.messages
    return len(given) == len(got) and all(a is b for a, b in zip(given, got, strict=True))


class Full(MemoryArchive):
    """An archive on a full disk."""

    def put(self, records: Any) -> None:
        raise OSError(28, "No space left on device", "/archive")
