"""Bounds that no number meets.

A lower bound is above the upper one.

Why: The match or condition could never hold.

Bad:

    version: 1
    budget: {window: 128000}
    pins:
      - {id: short, match: {role: user, tokens: {gt: 500, lt: 100}}}

Good:

    version: 1
    budget: {window: 128000}
    pins:
      - {id: short, match: {role: user, tokens: {lt: 100}}}
"""

from __future__ import annotations

from collections.abc import Iterator

from ctxpolicy.policy.checks.problem import Context, Problem
from ctxpolicy.policy.checks.walk import conditions, nested, root_matches
from ctxpolicy.policy.model import Compare
from ctxpolicy.policy.node import Path_


def check(context: Context) -> Iterator[Problem]:
    for root, match in root_matches(context.spec):
        for path, inner, _ in nested(root, match):
            pairs = [(key, getattr(inner, key)) for key in ("tokens", "share", "turn_age")]
            yield from (_contradiction(path, key, bounds) for key, bounds in pairs if bounds and empty(bounds))
    for path, when in conditions(context.spec):
        yield from (_contradiction(path, key, bounds) for key, bounds in when.facts if empty(bounds))


def _contradiction(path: Path_, key: str, bounds: Compare) -> Problem:
    written = ", ".join(
        f"{sign}: {value:g}" for sign in ("gt", "gte", "lt", "lte") if (value := getattr(bounds, sign)) is not None
    )
    return Problem("CP319", (*path, key), f"no number meets `{{{written}}}`", "swap the bounds, or leave one out")


def empty(bounds: Compare) -> bool:
    low = [(value, strict) for value, strict in ((bounds.gt, True), (bounds.gte, False)) if value is not None]
    high = [(value, strict) for value, strict in ((bounds.lt, True), (bounds.lte, False)) if value is not None]
    return any(a > b or (a == b and (s or t)) for a, s in low for b, t in high)
