"""Rank alone under not.

`not: {newest: N}` counts the newest of all messages.

Why: Usually the newest among those that the other keys match are meant, which is `all_but_newest: N` beside them.

Bad:

    version: 1
    budget: {window: 128000}
    rules:
      - {id: mask-old, match: {role: tool, not: {newest: 3}}, mask: {batch: 10}}

Good:

    version: 1
    budget: {window: 128000}
    rules:
      - {id: mask-old, match: {role: tool, all_but_newest: 3}, mask: {batch: 10}}
"""

from __future__ import annotations

from collections.abc import Iterator

from ctxpolicy.policy.checks.problem import Context, Problem
from ctxpolicy.policy.checks.walk import RANKS, given, nested, root_matches


def check(context: Context) -> Iterator[Problem]:
    for root, match in root_matches(context.spec):
        for path, outer, _ in nested(root, match):
            inner = outer.not_
            if inner is None or len(keys := given(inner)) != 1 or keys[0] not in RANKS:
                continue
            message = "a rank alone under `not` counts among all messages, not among those that the other keys match"
            hint = "write `all_but_newest: N` beside the other keys"
            yield Problem("CP401", path, message, hint if inner.newest else "repeat the other keys under `not`", "not")
