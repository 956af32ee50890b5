"""Triggers and goals: each goal below its trigger, eviction above compaction.

Pressure, used tokens and headroom say the same thing, so all three are compared as used tokens, under the name `used`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from ctxpolicy.policy.checks.problem import Context, Problem
from ctxpolicy.policy.checks.walk import action_of, rules
from ctxpolicy.policy.model import Compact, Compare, Evict, Rule, When

_ANY_LIMIT = 1_000_000  # where the limit is not known: shares compare alike under any
Side = Literal["above", "below"]


def lines(when: When, side: Side, limit: int) -> dict[str, float]:
    """The line of each fact above (or below) which a condition holds, as far as single bounds say it.

    What stands under `any` or `not` is left out: a condition that can be met in several ways has no one line.
    """
    found: dict[str, float] = {}
    for fact, bounds in when.facts:
        line = _line(fact, bounds, side, limit)
        if line is not None:
            _narrow(found, "used" if fact in ("pressure", "headroom") else fact, line, side)
    for inner in when.all_ or ():
        for fact, line in lines(inner, side, limit).items():
            _narrow(found, fact, line, side)
    return found


def _line(fact: str, bounds: Compare, side: Side, limit: int) -> float | None:
    if fact == "headroom":  # grows as the list shrinks
        room = _bound(bounds, "below" if side == "above" else "above")
        return None if room is None else limit - room
    bound = _bound(bounds, side)
    return bound * limit if fact == "pressure" and bound is not None else bound


def _bound(bounds: Compare, side: Side) -> float | None:
    strict, loose = (bounds.gt, bounds.gte) if side == "above" else (bounds.lt, bounds.lte)
    return strict if strict is not None else loose


def _narrow(found: dict[str, float], fact: str, line: float, side: Side) -> None:
    known = found.get(fact, line)
    found[fact] = max(known, line) if side == "above" else min(known, line)


def _until(context: Context) -> Iterator[Problem]:
    for path, rule in rules(context.spec):
        until = getattr(rule.action, "until", None)
        if not isinstance(until, When) or rule.when is None or not _comparable(context, rule.when, until):
            continue
        limit = context.limit or _ANY_LIMIT
        goals, triggers = lines(until, "below", limit), lines(rule.when, "above", limit)
        for fact in sorted(goals.keys() & triggers.keys()):
            if goals[fact] >= triggers[fact]:
                goal, trigger = _said(fact, goals[fact], limit), _said(fact, triggers[fact], limit)
                message = f"the goal of `{rule.id}`, {goal}, is not below its trigger, {trigger}"
                hint = "a goal well below the trigger gives the list room to grow again"
                yield Problem("CP303", (*path, action_of(rule), "until"), message, hint)


def _comparable(context: Context, *conditions: When) -> bool:
    """Without a limit, tokens cannot be compared with shares."""
    facts = {fact for condition in conditions for fact, _ in condition.facts}
    return context.limit is not None or not ("pressure" in facts and facts & {"used", "headroom"})


def _said(fact: str, line: float, limit: int) -> str:
    return f"pressure {line / limit:.4g}" if fact == "used" else f"{fact} {line:g}"


def _triggers(context: Context, kind: type[Compact] | type[Evict]) -> Iterator[tuple[int, Rule, float]]:
    """The rules of a kind that act above a pressure, with that line in tokens."""
    for index, rule in enumerate(context.spec.rules):
        if isinstance(rule.action, kind) and rule.when is not None:
            known = context.limit is not None or all(fact == "pressure" for fact, _ in rule.when.facts)
            line = lines(rule.when, "above", context.limit or _ANY_LIMIT).get("used") if known else None
            if line is not None:
                yield index, rule, line


def _evict_above_compact(context: Context) -> Iterator[Problem]:
    first = min(_triggers(context, Compact), key=lambda found: found[2], default=None)
    if first is None:
        return
    _, compacting, line = first
    limit = context.limit or _ANY_LIMIT
    at = f"{line / limit:.4g}"
    for index, rule, trigger in _triggers(context, Evict):
        if trigger <= line:
            message = (
                f"the evict rule `{rule.id}` acts above pressure {trigger / limit:.4g}, not above the trigger of the "
                f"compact rule `{compacting.id}`, {at}: it would evict what should be summarised"
            )
            yield Problem("CP304", ("rules", index, "when"), message, f"let `{rule.id}` act above {at}")
            continue
        goal = _goal(rule, trigger, limit)
        if goal is not None and goal > line:
            message = f"`{rule.id}` stops at pressure {goal / limit:.4g}, above the trigger of `{compacting.id}`, {at}"
            hint = f"write `until: {{pressure: {{lt: {at}}}}}`, or the next call compacts at once"
            yield Problem("CP407", ("rules", index, "evict"), message, hint)


def _goal(rule: Rule, trigger: float, limit: int) -> float | None:
    """Down to where an evict rule goes, in tokens; without `until` to its trigger."""
    until = getattr(rule.action, "until", None)
    if until is None:
        return trigger
    return lines(until, "below", limit).get("used") if isinstance(until, When) else None


CHECKS = (_until, _evict_above_compact)
