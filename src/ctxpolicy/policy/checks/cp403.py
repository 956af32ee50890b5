"""Masking without batch or min_gain.

A mask rule may rewrite the list before every model call.

Why: What stands after the first change is lost to the provider's prompt cache and paid in full again. In batches the
list is rewritten once in many calls.

Bad:

    version: 1
    budget: {window: 128000}
    rules:
      - {id: mask-old, match: {role: tool, all_but_newest: 10}, mask: {}}

Good:

    version: 1
    budget: {window: 128000}
    rules:
      - {id: mask-old, match: {role: tool, all_but_newest: 10}, mask: {batch: 10}}
"""

from __future__ import annotations

from collections.abc import Iterator

from ctxpolicy.policy.checks.problem import Context, Problem
from ctxpolicy.policy.checks.walk import rules
from ctxpolicy.policy.model import Mask


def check(context: Context) -> Iterator[Problem]:
    for path, rule in rules(context.spec):
        if isinstance(rule.action, Mask) and rule.action.batch is None and rule.action.min_gain is None:
            lost = "the provider's prompt cache is lost each time"
            message = f"`{rule.id}` may rewrite the list at every call, and {lost}"
            yield Problem("CP403", (*path, "mask"), message, "add `batch: 10` or `min_gain: 0.05`")
