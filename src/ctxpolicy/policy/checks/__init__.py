"""The third layer: what a policy means. One module for each family of checks, all of them run every time."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from ctxpolicy.policy.checks import actions, budget, fallback, ids, matches, patterns, reach, templates, thresholds
from ctxpolicy.policy.checks.problem import Context, Problem

__all__ = ["Check", "Context", "Problem", "run"]

Check = Callable[[Context], Iterator[Problem]]

_FAMILIES = (budget, ids, actions, matches, patterns, templates, thresholds, reach, fallback)
_CHECKS: tuple[Check, ...] = tuple(check for family in _FAMILIES for check in family.CHECKS)


def run(context: Context) -> Iterator[Problem]:
    """Every problem that any check finds."""
    for check in _CHECKS:
        yield from check(context)
