"""A policy's thresholds as figures: in tokens, and as a share of the window where that says more."""

from __future__ import annotations

from collections.abc import Iterator

from ctxpolicy.cli.output import percent
from ctxpolicy.policy.model import Budget, Compact, Compare, Evict, Mask, Refuse, Rule, Spec, Truncate, Until, When

_SIGNS = (("gt", "over"), ("gte", "from"), ("lt", "under"), ("lte", "up to"))


def budget_line(budget: Budget) -> str:
    """The budget limit and how it comes about."""
    reserve = f" - {budget.reserve:,}" if budget.reserve else ""
    return f"limit {budget.limit:,} tokens = {percent(budget.ratio)} of the window of {budget.window:,}{reserve}"


def shares(tokens: float, budget: Budget) -> str:
    """Tokens as a share of the limit and of the window."""
    return f"{percent(tokens / budget.limit)} of the limit, {percent(tokens / budget.window)} of the window"


def thresholds(spec: Spec) -> list[tuple[str, str]]:
    """Each rule's id, and in words when it acts and what it aims at, with every share in tokens."""
    return [(rule.id, "; ".join(_of(rule, spec.budget))) for rule in spec.rules]


def _of(rule: Rule, budget: Budget) -> Iterator[str]:
    action, limit = rule.action, budget.limit
    size = rule.match and (rule.match.tokens or (rule.match.share and _scaled(rule.match.share, limit)))
    if isinstance(action, Truncate):
        yield (
            f"cuts what is {_bounds(size)} to {action.max_tokens:,}"
            if size
            else f"cuts to {action.max_tokens:,} tokens"
        )
    elif isinstance(action, Refuse):
        yield f"refuses what is {_bounds(size)}" if size else "refuses what matches"
    if rule.when:
        yield "acts " + _condition(rule.when, budget)
    if isinstance(action, (Compact, Evict, Mask)) and (goal := _goal(action.until, budget)):
        yield goal
    if isinstance(action, (Compact, Mask)) and action.min_gain and (gain := round(action.min_gain.of(limit))):
        yield f"gains at least {gain:,}"
    if isinstance(action, Mask) and action.batch:
        yield f"in blocks of {action.batch:,}"


def _goal(until: Until, budget: Budget) -> str:
    if until == "all":
        return ""
    return f"until {_condition(until, budget)}" if until else "until no longer over the trigger"


def _condition(when: When, budget: Budget) -> str:
    parts = [_fact(name, bounds, budget) for name, bounds in when.facts]
    parts += [f"not ({_condition(when.not_, budget)})"] if when.not_ else []
    parts += [f"({' or '.join(_condition(one, budget) for one in when.any_)})"] if when.any_ else []
    parts += [_condition(one, budget) for one in when.all_ or ()]
    return " and ".join(parts)


def _fact(name: str, bounds: Compare, budget: Budget) -> str:
    if name == "pressure":
        bounds, name = _scaled(bounds, budget.limit), "used"
    if name == "used":
        first = next(v for key, _ in _SIGNS if (v := getattr(bounds, key)) is not None)
        return f"{_bounds(bounds)} ({shares(first, budget)})"
    words = name.replace("_", " ")
    return (
        f"at {words} {_bounds(bounds, '')}"
        if name in ("messages", "results", "turns")
        else f"at {words} {_bounds(bounds)}"
    )


def _scaled(bounds: Compare, limit: int) -> Compare:
    return Compare(**{key: v * limit for key, _ in _SIGNS if (v := getattr(bounds, key)) is not None})


def _bounds(bounds: Compare, unit: str = " tokens") -> str:
    words = [f"{word} {v:,.0f}" for key, word in _SIGNS if (v := getattr(bounds, key)) is not None]
    return " and ".join(words) + unit
