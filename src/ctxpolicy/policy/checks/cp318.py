"""Fewest messages above most messages.

`span.min` is larger than `span.max`.

Why: No span could ever be long enough.

Bad:

    version: 1
    budget: {window: 128000}
    rules:
      - id: shorten
        when: {pressure: {gt: 0.7}}
        compact: {until: {pressure: {lt: 0.5}}, span: {min: 20, max: 10}}

Good:

    version: 1
    budget: {window: 128000}
    rules:
      - id: shorten
        when: {pressure: {gt: 0.7}}
        compact: {until: {pressure: {lt: 0.5}}, span: {min: 2, max: 10}}
"""

from __future__ import annotations

from collections.abc import Iterator

from ctxpolicy.policy.checks.problem import Context, Problem
from ctxpolicy.policy.checks.walk import rules
from ctxpolicy.policy.model import Compact


def check(context: Context) -> Iterator[Problem]:
    for path, rule in rules(context.spec):
        action = rule.action
        if isinstance(action, Compact) and action.span_max is not None and action.span_min > action.span_max:
            message = f"span.min {action.span_min} is above span.max {action.span_max}: no span is ever long enough"
            yield Problem("CP318", (*path, "compact", "span"), message, "make `max` at least as large as `min`")
