"""Duplicate id.

Two entries have the same id.

Why: Decisions, events and `disable` name pins and rules by id, so one id is one entry.

Bad:

    version: 1
    budget: {window: 128000}
    pins:
      - {id: recent, match: {newest: 4}}
      - {id: recent, match: {role: user, newest: 1}}

Good:

    version: 1
    budget: {window: 128000}
    pins:
      - {id: recent, match: {newest: 4}}
      - {id: request, match: {role: user, newest: 1}}
"""

from __future__ import annotations

from collections.abc import Iterator

from ctxpolicy.policy.checks.problem import Also, Context, Problem


def check(context: Context) -> Iterator[Problem]:
    pins = {pin.id: index for index, pin in enumerate(context.spec.pins)}
    for index, rule in enumerate(context.spec.rules):
        if rule.id in pins:
            message = f"the id `{rule.id}` is given to a pin and to a rule"
            hint = "reports name pins and rules by id; rename one of them"
            also = Also(("pins", pins[rule.id], "id"), f"the pin `{rule.id}` is here")
            yield Problem("CP307", ("rules", index, "id"), message, hint, also=also)
