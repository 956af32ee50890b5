"""What could act at most: whether a rule may ever act where nothing is larger than given bounds.

Only sizes are looked at. Every other key may hold, and what stands under `not` may be either way, so the answer "no"
is sure and the answer "yes" is not.
"""

from __future__ import annotations

from collections.abc import Sequence

from ctxpolicy.items import Facts
from ctxpolicy.policy.model import Compare, Match, ReadAs, Rule, Truncate, When


def may_act_on_arrival(rule: Rule, roles: frozenset[str], tokens: int, limit: int) -> bool:
    """Whether an append rule may act on a message that has at most `tokens` and is read as one of these roles."""
    if isinstance(rule.action, Truncate) and "tool" not in roles:  # it cuts tool results alone
        return False
    return rule.match is None or may_match(rule.match, roles, tokens, limit)


def may_match(match: Match, roles: frozenset[str], tokens: int, limit: int) -> bool:
    """Whether a match may hold for such a message; `limit` is the budget limit in tokens."""
    return (
        (match.role is None or not roles.isdisjoint(match.role))
        and (match.tokens is None or _may_reach(match.tokens, tokens))
        and (match.share is None or _may_reach(match.share, tokens / limit))
        and all(may_match(inner, roles, tokens, limit) for inner in match.all_ or ())
        and (match.any_ is None or any(may_match(inner, roles, tokens, limit) for inner in match.any_))
    )


def may_hold(when: When | None, most: Facts) -> bool:
    """Whether a condition may hold for a list none of whose facts is over `most` (its headroom: none under it)."""
    return when is None or (
        all(_fact_may(name, bounds, most) for name, bounds in when.facts)
        and all(may_hold(inner, most) for inner in when.all_ or ())
        and (when.any_ is None or any(may_hold(inner, most) for inner in when.any_))
    )


def _fact_may(name: str, bounds: Compare, most: Facts) -> bool:
    return _may_fall(bounds, most.headroom) if name == "headroom" else _may_reach(bounds, getattr(most, name))


def _may_reach(bounds: Compare, most: float) -> bool:
    """Whether a number of at most `most` may be within the bounds."""
    return (bounds.gt is None or most > bounds.gt) and (bounds.gte is None or most >= bounds.gte)


def _may_fall(bounds: Compare, least: float) -> bool:
    """Whether a number of at least `least` may be within the bounds."""
    return (bounds.lt is None or least < bounds.lt) and (bounds.lte is None or least <= bounds.lte)


def roles_of(wire: str, read_as: Sequence[ReadAs]) -> frozenset[str]:
    """The roles as which a message with this wire role may be read: its own, what `read_as` may say, and for a user
    message what our marks are read as."""
    said = (entry.as_ for entry in read_as if entry.match.role is None or wire in entry.match.role)
    return frozenset((wire, *said, *(("injected", "tool") if wire == "user" else ())))
