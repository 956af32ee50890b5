"""Pins that hold nearly everything.

A pin without any bound matches all assistant messages or all tool results. A unit stays whole, so the calls and results
that belong to them stay too.

Why: Hardly anything is left that compaction, masking or eviction could act on, and the list grows until it no longer
fits.

Bad:

    version: 1
    budget: {window: 128000}
    pins:
      - {id: work, match: {role: [assistant, tool]}}

Good:

    version: 1
    budget: {window: 128000}
    pins:
      - {id: work, match: {role: [assistant, tool], newest: 10}}
"""

from __future__ import annotations

from collections.abc import Iterator

from ctxpolicy.policy.checks.problem import Context, Problem
from ctxpolicy.policy.checks.walk import given
from ctxpolicy.policy.model import Compare, Match, Rank

NEARLY = 0.9  # of the budget limit
_WORK = {"assistant": "all assistant messages", "tool": "all tool results"}  # what an agent's list mostly is


def check(context: Context) -> Iterator[Problem]:
    for index, pin in enumerate(context.spec.pins):
        held = [words for role, words in _WORK.items() if holds_all(pin.match, role, context.limit)]
        if held:
            message = f"the pin `{pin.id}` holds {' and '.join(held)}, so hardly anything is left to act on"
            hint = "bound it, such as with `newest: 10` or `newest: {tokens: 4000}`"
            yield Problem("CP410", ("pins", index, "match"), message, hint)


def holds_all(match: Match, role: str, limit: int | None) -> bool:
    """True when a match surely holds for every message of a role that a list within the limit can have."""
    if match.role is not None and role not in match.role:
        return False
    if match.not_ is not None and (given(match.not_) != ["role"] or role in (match.not_.role or ())):
        return False
    if match.any_ is not None and not any(holds_all(one, role, limit) for one in match.any_):
        return False
    if not all(holds_all(one, role, limit) for one in match.all_ or ()):
        return False
    if match.tool is not None and tuple(match.tool) != ("*",):
        return False
    bounded = {"name", "contains", "regex", "share", "has", "field", "meta", "opening", "turn_age", "superseded"}
    if bounded & set(given(match)) or match.all_but_newest is not None:
        return False
    return _loose(match.tokens, limit) and all(_large(rank, limit) for rank in (match.newest, match.oldest))


def _loose(bounds: Compare | None, limit: int | None) -> bool:
    """Bounds on tokens that every message is within."""
    if bounds is None:
        return True
    high = bounds.lt if bounds.lt is not None else bounds.lte
    return not (bounds.gt or bounds.gte) and (high is None or (limit is not None and high >= limit))


def _large(rank: Rank | None, limit: int | None) -> bool:
    """A rank that takes in nearly as many tokens as there can be."""
    if rank is None:
        return True
    if rank.amount is None:
        return False
    return limit is not None and rank.amount.of(limit) >= NEARLY * limit
