"""Goal not below its trigger.

`until` names a line at or above the one from which the rule acts.

Why: The goal would be met before the rule has done anything, so it could never act.

Bad:

    version: 1
    budget: {window: 128000}
    rules:
      - {id: make-room, when: {pressure: {gt: 0.9}}, evict: {until: {pressure: {lt: 0.95}}}}

Good:

    version: 1
    budget: {window: 128000}
    rules:
      - {id: make-room, when: {pressure: {gt: 0.9}}, evict: {until: {pressure: {lt: 0.7}}}}
"""

from __future__ import annotations

from collections.abc import Iterator

from ctxpolicy.policy.checks import cp304
from ctxpolicy.policy.checks.lines import ANY_LIMIT, comparable, lines, said
from ctxpolicy.policy.checks.problem import Also, Context, Problem
from ctxpolicy.policy.checks.walk import action_of, rules
from ctxpolicy.policy.model import When


def check(context: Context) -> Iterator[Problem]:
    limit = context.limit or ANY_LIMIT
    too_early = {problem.path[:2] for problem in cp304.check(context)}  # moving the trigger mends the goal as well
    for path, rule in rules(context.spec):
        until = getattr(rule.action, "until", None)
        if rule.when is None or not isinstance(until, When) or path in too_early:
            continue
        if not comparable(context, rule.when, until):
            continue
        goals, starts = lines(until, "below", limit), lines(rule.when, "above", limit)
        for fact in sorted(goals.keys() & starts.keys()):
            if goals[fact] >= starts[fact]:
                goal, trigger = said(fact, goals[fact], limit), said(fact, starts[fact], limit)
                message = f"the goal of `{rule.id}`, {goal}, is not below its trigger, {trigger}"
                hint = "a goal well below the trigger gives the list room to grow again"
                also = Also((*path, "when"), "the trigger is here")
                yield Problem("CP303", (*path, action_of(rule), "until"), message, hint, also=also)
