"""The five actions. Each is a pure function from a view of the list to a step: what to put where, and why."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from ctxpolicy.gaps import Change
from ctxpolicy.result import Spent
from ctxpolicy.view import KEEP, LAST, LIVE, USER, View


class Swap(msgspec.Struct, frozen=True):
    """The message at `position` is to be replaced by this wire message; the original goes under `ref`."""

    position: int
    wire: Any
    ref: str


class Step(msgspec.Struct, frozen=True):
    """What an action decided: changes and swaps to make (none: it declined), and the reason in words.

    `spent` and `facts` are as in an Event.
    """

    reason: str
    changes: Sequence[Change] = ()
    swaps: Sequence[Swap] = ()
    min_gain: int | None = None
    spent: Spent | None = None
    facts: float | None = None


_OWN_REASONS = {LIVE: "the live tail", LAST: "the last message", USER: "the newest user message", KEEP: "keep"}


def held(view: View, protection: Sequence[str | None]) -> str:
    """In words, what holds the list: each pin with the tokens of the messages it protects."""
    sizes: dict[str, int] = {}
    for item, why in zip(view.items, protection, strict=True):
        if why is not None:
            sizes[why] = sizes.get(why, 0) + item.tokens
    named = [f"{_name(why)} {tokens:,}" for why, tokens in sizes.items()]
    if view.load.tools:
        named.append(f"tools {view.load.tools:,}")
    return "held by " + (", ".join(named) + " tokens" if named else "nothing")


def _name(why: str) -> str:
    return _OWN_REASONS.get(why, f"pin {why}")
