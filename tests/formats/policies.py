"""Policies for the tests of formats: a tiny window in which every action happens."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ctxpolicy.api import Policy
from ctxpolicy.policy.model import (
    Amount,
    Archive,
    Budget,
    Compact,
    Compare,
    Evict,
    Mask,
    Match,
    Pin,
    Rank,
    Rule,
    Spec,
    Truncate,
    When,
)

PARTS = ("results", "arguments", "media", "reasoning")


def pressure(**bounds: float) -> When:
    return When(facts=(("pressure", Compare(**bounds)),))


def tiny(window: int = 300, cap: int = 60, parts: Sequence[Any] = PARTS, **more: Any) -> Policy:
    """Caps results on arrival; over half of the window masks, compacts and evicts."""
    over = pressure(gt=0.5)
    old = Match(role=("tool", "user", "assistant"), all_but_newest=Rank(count=6))
    compact = Compact(until=pressure(lt=0.3), word_limit=5, span_min=2, min_gain=Amount(tokens=1))
    rules = (
        Rule("cap", "append", Truncate(max_tokens=cap), match=Match(role=("tool",), tokens=Compare(gt=cap))),
        Rule("mask", "send", Mask(parts=tuple(parts)), match=old, when=over),
        Rule("compact", "send", compact, when=over),
        Rule("evict", "send", Evict(until=pressure(lt=0.2)), when=pressure(gt=0.7)),
    )  # fmt: skip
    return Policy(
        Spec(
            name="tiny",
            budget=Budget(window=window, counter="chars"),
            pins=(Pin("task", Match(role=("user",), oldest=Rank(count=1))),),
            rules=rules,
            archive=Archive(path=None),
            **more,
        )
    )
