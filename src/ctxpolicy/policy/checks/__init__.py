"""The codes of a policy's findings, a module for each: its docstring is the reference.

The reference has a title, what was found, `Why:`, and a `Bad:` and a `Good:` policy; `policy.codes` reads it. A module
whose code is about what a policy means also holds the check that finds it. Codes are stable: one is never given another
meaning. CP1 is YAML and files, CP2 the schema, CP3 meaning, CP4 warnings.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from ctxpolicy.policy.checks import (
    cp111,
    cp301,
    cp302,
    cp303,
    cp304,
    cp306,
    cp307,
    cp310,
    cp311,
    cp312,
    cp313,
    cp314,
    cp315,
    cp316,
    cp317,
    cp318,
    cp319,
    cp321,
    cp322,
    cp323,
    cp401,
    cp402,
    cp403,
    cp404,
    cp405,
    cp406,
    cp407,
    cp408,
    cp410,
    cp411,
    cp412,
    cp413,
    cp414,
    cp415,
    cp416,
)
from ctxpolicy.policy.checks.problem import Also, Context, Problem

__all__ = ["CHECKS", "Also", "Check", "Context", "Problem", "run"]

Check = Callable[[Context], Iterator[Problem]]

CHECKS: tuple[Check, ...] = (
    cp111.check,
    cp301.check,
    cp302.check,
    cp303.check,
    cp304.check,
    cp306.check,
    cp307.check,
    cp310.check,
    cp311.check,
    cp312.check,
    cp313.check,
    cp314.check,
    cp315.check,
    cp316.check,
    cp317.check,
    cp318.check,
    cp319.check,
    cp321.check,
    cp322.check,
    cp323.check,
    cp401.check,
    cp402.check,
    cp403.check,
    cp404.check,
    cp405.check,
    cp406.check,
    cp407.check,
    cp408.check,
    cp410.check,
    cp411.check,
    cp412.check,
    cp413.check,
    cp414.check,
    cp415.check,
    cp416.check,
)


def run(context: Context) -> Iterator[Problem]:
    """Every problem that any check finds."""
    for check in CHECKS:
        yield from check(context)
