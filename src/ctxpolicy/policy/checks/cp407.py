"""Evict goal above the compact trigger.

An evict rule stops at a pressure at which a compact rule acts.

Why: The next call compacts at once, and the list is rewritten twice.

Bad:

    version: 1
    budget: {window: 128000}
    rules:
      - {id: shorten, when: {pressure: {gt: 0.7}}, compact: {until: {pressure: {lt: 0.5}}}}
      - {id: make-room, when: {pressure: {gt: 0.9}}, evict: {until: {pressure: {lt: 0.8}}}}

Good:

    version: 1
    budget: {window: 128000}
    rules:
      - {id: shorten, when: {pressure: {gt: 0.7}}, compact: {until: {pressure: {lt: 0.5}}}}
      - {id: make-room, when: {pressure: {gt: 0.9}}, evict: {until: {pressure: {lt: 0.7}}}}
"""

from __future__ import annotations

from collections.abc import Iterator

from ctxpolicy.policy.checks.lines import ANY_LIMIT, goal, triggers
from ctxpolicy.policy.checks.problem import Also, Context, Problem
from ctxpolicy.policy.model import Compact, Evict


def check(context: Context) -> Iterator[Problem]:
    first = min(triggers(context, Compact), key=lambda found: found[2], default=None)
    if first is None:
        return
    place, compacting, line = first
    limit = context.limit or ANY_LIMIT
    at = f"{line / limit:.4g}"
    for index, rule, trigger in triggers(context, Evict):
        stops = goal(rule, trigger, limit)
        if trigger > line and stops is not None and stops > line:
            message = f"`{rule.id}` stops at pressure {stops / limit:.4g}, above the trigger of `{compacting.id}`, {at}"
            hint = f"write `until: {{pressure: {{lt: {at}}}}}`, or the next call compacts at once"
            also = Also(("rules", place, "when"), f"`{compacting.id}` acts from here")
            yield Problem("CP407", ("rules", index, "evict"), message, hint, also=also)
