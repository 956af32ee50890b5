"""Truncation that can reach the user's words.

Nothing in the match of a truncate rule at send rules out a message of the user's.

Why: A request that lost its middle is answered wrongly, and nobody sees why.

Bad:

    version: 1
    budget: {window: 128000}
    rules:
      - {id: cap, at: send, match: {tokens: {gt: 2000}}, truncate: {max_tokens: 2000}}

Good:

    version: 1
    budget: {window: 128000}
    rules:
      - {id: cap, at: send, match: {role: tool, tokens: {gt: 2000}}, truncate: {max_tokens: 2000}}
"""

from __future__ import annotations

from collections.abc import Iterator

from ctxpolicy.policy.checks.problem import Context, Problem
from ctxpolicy.policy.checks.reach import reaches
from ctxpolicy.policy.checks.walk import rules
from ctxpolicy.policy.model import Truncate


def check(context: Context) -> Iterator[Problem]:
    for path, rule in rules(context.spec):
        if rule.at == "append":
            continue  # there only tool results are cut
        if isinstance(rule.action, Truncate) and rule.match and reaches(rule.match, "user"):
            message = f"`{rule.id}` can cut what the user wrote"
            yield Problem("CP405", (*path, "match"), message, "add `role: tool` to its match")
