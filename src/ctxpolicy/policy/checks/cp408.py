"""Summary of a summary.

`summaries: merge` gives the newest summary to the next one, which takes its place.

Why: What was left out once is gone, and details fade with every pass.

Bad:

    version: 1
    budget: {window: 128000}
    rules:
      - {id: shorten, when: {pressure: {gt: 0.7}}, compact: {until: {pressure: {lt: 0.5}}, summaries: merge}}

Good:

    version: 1
    budget: {window: 128000}
    rules:
      - {id: shorten, when: {pressure: {gt: 0.7}}, compact: {until: {pressure: {lt: 0.5}}, summaries: keep}}
"""

from __future__ import annotations

from collections.abc import Iterator

from ctxpolicy.policy.checks.problem import Context, Problem
from ctxpolicy.policy.checks.walk import rules
from ctxpolicy.policy.model import Compact


def check(context: Context) -> Iterator[Problem]:
    for path, rule in rules(context.spec):
        if isinstance(rule.action, Compact) and rule.action.summaries == "merge":
            message = "a merged summary is a summary of a summary: details fade with every pass"
            hint = "`summaries: keep` lists them side by side"
            yield Problem("CP408", (*path, "compact", "summaries"), message, hint)
