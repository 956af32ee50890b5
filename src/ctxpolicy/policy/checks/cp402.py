"""Compaction without a goal.

A compact rule has no `until`, so it stops as soon as its trigger no longer holds.

Why: It would soon act again. A goal well below the trigger means one summary for many turns, fewer model calls, and a
prompt that stays the same in between, which the provider's cache needs.

Bad:

    version: 1
    budget: {window: 128000}
    rules:
      - {id: shorten, when: {pressure: {gt: 0.7}}, compact: {}}

Good:

    version: 1
    budget: {window: 128000}
    rules:
      - {id: shorten, when: {pressure: {gt: 0.7}}, compact: {until: {pressure: {lt: 0.5}}}}
"""

from __future__ import annotations

from collections.abc import Iterator

from ctxpolicy.policy.checks.problem import Context, Problem
from ctxpolicy.policy.checks.walk import rules
from ctxpolicy.policy.model import Compact


def check(context: Context) -> Iterator[Problem]:
    for path, rule in rules(context.spec):
        if isinstance(rule.action, Compact) and rule.action.until is None:
            message = f"`{rule.id}` stops as soon as its trigger no longer holds, and soon acts again"
            hint = "set a goal well below it, such as `until: {pressure: {lt: 0.5}}`, to save calls and cached prefixes"
            yield Problem("CP402", (*path, "compact"), message, hint)
