"""Runs to try: a policy, a transcript and a summariser by script.

The window is a share of what the transcript costs, so that rules act.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from typing import Any

import ctxpolicy
from ctxpolicy import Policy, PolicyInvalid, Result, SummaryReply, SummaryRequest
from ctxpolicy.archive import MemoryArchive
from properties.chance import Chance
from properties.documents import budget, document, with_plain_goals
from properties.matches import Doc
from properties.transcripts import Wire, metas, transcript

REPLIES: dict[str, Any] = {
    "good": "The user asked for a fix. `deploy.sh` failed with exit code 2; it must stay as it is.",
    "again": "Tests were run twice and passed.",
    "nothing": "**nothing.**",
    "nil": "Nil",
    "blank": " \n",
    "long": " ".join(f"word{n}" for n in range(3000)),
    "cut off": SummaryReply("The user asked", finish_reason="length"),
    "call": SummaryReply(None, tool_calls=[{"id": "x"}]),
    "no text": 7,
    "broken": "half \ud83d a note",
    "marked": "[3 earlier turns left out, ref 3f9a12c0d4e1.]",
}
_WORDS = ("good", "again", "good", *(word for word in REPLIES if word not in ("good", "again")), "raise")


class Scripted:
    """A summariser that answers by script, over and over; `requests` is what it was asked."""

    def __init__(self, script: Sequence[str]) -> None:
        self.script = script
        self.requests: list[SummaryRequest] = []

    def __call__(self, request: SummaryRequest) -> Any:
        word = self.script[len(self.requests) % len(self.script)]
        self.requests.append(request)
        if word == "raise":
            raise TimeoutError("no answer in time")
        return REPLIES[word]


@dataclass(frozen=True)
class Scenario:
    """A policy, a transcript with its metadata, and a summariser's script."""

    doc: Doc
    messages: list[Wire]
    meta: Mapping[int, Doc]
    script: tuple[str, ...]
    pristine: str = field(init=False, repr=False)  # the messages as JSON, before anything could change them

    def __post_init__(self) -> None:
        object.__setattr__(self, "pristine", json.dumps(self.messages))

    @cached_property
    def policy(self) -> Policy:
        return make_policy(self.doc)

    def summarizer(self) -> Scripted:
        return Scripted(self.script)

    def apply(self, messages: list[Wire] | None = None, **options: Any) -> Result:
        """One `apply` with a fresh summariser and an archive in memory."""
        options = {"summarize": self.summarizer(), "archive": MemoryArchive(), "meta": self.meta, **options}
        return self.policy.apply(self.messages if messages is None else messages, **options)

    def varied(self, **changes: Any) -> Scenario:
        """The same with other top-level entries of the policy."""
        return replace(self, doc={**self.doc, **changes})


def make_policy(doc: Doc) -> Policy:
    """The policy of a document, by the real loader."""
    return _loaded(json.dumps(doc))


_loaded = lru_cache(maxsize=8)(ctxpolicy.loads)


def is_valid(doc: Doc) -> bool:
    try:
        return make_policy(doc) is not None
    except PolicyInvalid:
        return False


def scenario(chance: Chance, most: int = 18, tight: bool = False) -> Scenario | None:
    """A run of up to `most` moves, or None where the loader refuses the policy.

    `tight`: for what only shows where messages leave.
    """
    messages = transcript(chance, most)
    doc = document(chance, tight)
    doc["budget"] = budget(chance, _cost(messages), tight)
    valid = next((d for d in (doc, with_plain_goals(doc)) if is_valid(d)), None)
    script = tuple(chance.one(_WORDS) for _ in range(chance.number(1, 4)))
    return None if valid is None else Scenario(valid, messages, metas(chance, len(messages)), script)


_COSTS = make_policy({"version": 1, "budget": {"window": 1000, "media": {"image": 120}}, "rules": []})


def _cost(messages: list[Wire]) -> int:
    return sum(row.tokens for row in _COSTS.look(messages))
