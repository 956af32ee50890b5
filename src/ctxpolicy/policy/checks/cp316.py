"""Match nested too deep.

`not`, `any` and `all` stand inside each other more than four deep.

Why: Nobody can say any more what such a match means.

Bad:

    version: 1
    budget: {window: 128000}
    pins:
      - {id: notes, match: {not: {not: {not: {not: {role: user}}}}, newest: 2}}

Good:

    version: 1
    budget: {window: 128000}
    pins:
      - {id: notes, match: {role: user, newest: 2}}
"""

from __future__ import annotations

from collections.abc import Iterator

from ctxpolicy.policy.checks.problem import Context, Problem
from ctxpolicy.policy.checks.walk import nested, root_matches

DEEPEST = 4


def check(context: Context) -> Iterator[Problem]:
    for root, match in root_matches(context.spec):
        for path, _, depth in nested(root, match):
            if depth == DEEPEST + 1:
                message = f"a match may be nested {DEEPEST} deep, and this one is deeper"
                yield Problem("CP316", path, message, "list several values under one key, or split the rule")
                break
