"""Head and tail are more than the whole.

The shares of the room for the beginning and the end of a cut text add up to more than 1.

Why: Both cannot be kept: where they meet, some of the text would stand twice.

Bad:

    version: 1
    budget: {window: 128000}
    rules:
      - {id: cap, at: append, match: {role: tool}, truncate: {max_tokens: 2000, head: 0.7, tail: 0.5}}

Good:

    version: 1
    budget: {window: 128000}
    rules:
      - {id: cap, at: append, match: {role: tool}, truncate: {max_tokens: 2000, head: 0.5, tail: 0.5}}
"""

from __future__ import annotations

from collections.abc import Iterator

from ctxpolicy.policy.checks.problem import Also, Context, Problem
from ctxpolicy.policy.checks.walk import rules
from ctxpolicy.policy.model import Truncate


def check(context: Context) -> Iterator[Problem]:
    for path, rule in rules(context.spec):
        action = rule.action
        if isinstance(action, Truncate) and action.head + action.tail > 1 + 1e-9:
            message = f"head {action.head:g} and tail {action.tail:g} are more than the whole"
            also = Also((*path, "truncate", "head"), "the head is here")
            hint = "together they may be 1 at most"
            yield Problem("CP317", (*path, "truncate", "tail"), message, hint, also=also)
