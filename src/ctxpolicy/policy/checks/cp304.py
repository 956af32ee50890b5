"""Evict trigger not above the compact trigger.

An evict rule acts at or below the pressure from which a compact rule acts.

Why: It would evict what should be summarised. Eviction is for what compaction could not help.

Bad:

    version: 1
    budget: {window: 128000}
    rules:
      - {id: shorten, when: {pressure: {gt: 0.7}}, compact: {until: {pressure: {lt: 0.5}}}}
      - {id: make-room, when: {pressure: {gt: 0.6}}, evict: {until: {pressure: {lt: 0.4}}}}

Good:

    version: 1
    budget: {window: 128000}
    rules:
      - {id: shorten, when: {pressure: {gt: 0.7}}, compact: {until: {pressure: {lt: 0.5}}}}
      - {id: make-room, when: {pressure: {gt: 0.9}}, evict: {until: {pressure: {lt: 0.7}}}}
"""

from __future__ import annotations

from collections.abc import Iterator

from ctxpolicy.policy.checks.lines import ANY_LIMIT, triggers
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
        if trigger <= line:
            message = (
                f"the evict rule `{rule.id}` acts above pressure {trigger / limit:.4g}, not above the trigger of the "
                f"compact rule `{compacting.id}`, {at}: it would evict what should be summarised"
            )
            also = Also(("rules", place, "when"), f"`{compacting.id}` acts from here")
            hint = f"let `{rule.id}` act above {at}"
            yield Problem("CP304", ("rules", index, "when"), message, hint, also=also)
