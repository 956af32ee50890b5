"""Conditions on the list, compiled to one test over its facts."""

from __future__ import annotations

from collections.abc import Callable
from operator import attrgetter

from ctxpolicy.items import Facts
from ctxpolicy.match import bounds
from ctxpolicy.policy.model import Compare, When

Condition = Callable[[Facts], bool]


def always(_: Facts) -> bool:
    return True


def never(_: Facts) -> bool:
    return False


def condition(when: When | None) -> Condition:
    """Compile a condition; None always holds."""
    if when is None:
        return always
    tests = [_test(name, compared) for name, compared in when.facts]
    if when.not_ is not None:
        tests.append(negated(condition(when.not_)))
    if when.all_ is not None:
        tests += map(condition, when.all_)
    if when.any_ is not None:
        choices = [condition(w) for w in when.any_]
        tests.append(lambda facts: any(choice(facts) for choice in choices))
    return tests[0] if len(tests) == 1 else lambda facts: all(test(facts) for test in tests)


def negated(inner: Condition) -> Condition:
    return lambda facts: not inner(facts)


def _test(name: str, compared: Compare) -> Condition:
    fact, holds = attrgetter(name), bounds(compared)
    return lambda facts: holds(fact(facts))
