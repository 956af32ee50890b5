"""The lines above or below which conditions hold.

Pressure, used tokens and headroom say the same thing, so all three are compared as used tokens, under the name `used`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from ctxpolicy.policy.checks.problem import Context
from ctxpolicy.policy.model import Compact, Compare, Evict, Rule, When

ANY_LIMIT = 1_000_000  # where the limit is not known: shares compare alike under any
Side = Literal["above", "below"]
_TOKENS = ("pressure", "used", "headroom")


def lines(when: When, side: Side, limit: int) -> dict[str, float]:
    """The line of each fact above (or below) which a condition holds, as far as single bounds say it.

    What stands under `any` or `not` is left out: a condition that can be met in several ways has no one line.
    """
    found: dict[str, float] = {}
    for fact, bounds in when.facts:
        line = _line(fact, bounds, side, limit)
        if line is not None:
            _narrow(found, "used" if fact in _TOKENS else fact, line, side)
    for inner in when.all_ or ():
        for fact, line in lines(inner, side, limit).items():
            _narrow(found, fact, line, side)
    return found


def _line(fact: str, bounds: Compare, side: Side, limit: int) -> float | None:
    above = (side == "above") != (fact == "headroom")  # headroom falls as the list grows
    given = [b for b in ((bounds.gt, bounds.gte) if above else (bounds.lt, bounds.lte)) if b is not None]
    if not given:
        return None
    bound = max(given) if above else min(given)
    return {"pressure": bound * limit, "headroom": limit - bound}.get(fact, bound)


def _narrow(found: dict[str, float], fact: str, line: float, side: Side) -> None:
    choose = max if side == "above" else min
    found[fact] = choose(found.get(fact, line), line)


def comparable(context: Context, *conditions: When) -> bool:
    """Without a limit, tokens cannot be compared with shares."""
    facts = {fact for condition in conditions for fact in _facts(condition)}
    return context.limit is not None or not ("pressure" in facts and facts & {"used", "headroom"})


def _facts(when: When) -> set[str]:
    return {fact for fact, _ in when.facts}.union(*map(_facts, when.all_ or ()))


def said(fact: str, line: float, limit: int) -> str:
    """A line as findings name it."""
    return f"pressure {line / limit:.4g}" if fact == "used" else f"{fact} {line:g}"


def triggers(context: Context, *kinds: type[Compact] | type[Evict]) -> Iterator[tuple[int, Rule, float]]:
    """The rules of some kinds that act above a pressure: index, rule, and that line in tokens."""
    for index, rule in enumerate(context.spec.rules):
        if isinstance(rule.action, kinds) and rule.when is not None:
            known = context.limit is not None or _facts(rule.when) <= {"pressure"}
            line = lines(rule.when, "above", context.limit or ANY_LIMIT).get("used") if known else None
            if line is not None:
                yield index, rule, line


def goal(rule: Rule, trigger: float, limit: int) -> float | None:
    """Down to where a rule goes, in tokens; without `until` to its trigger. None where that cannot be said."""
    until = getattr(rule.action, "until", None)
    if until is None:
        return trigger
    return lines(until, "below", limit).get("used") if isinstance(until, When) else None
