"""Match that cannot be decided when a message arrives.

A rule at append asks about the list: `when`, `opening`, `newest`, `oldest`, `all_but_newest`, `turn_age` or
`superseded`.

Why: At append a rule sees the message alone, so that a live loop and a recorded transcript are decided alike.

Bad:

    version: 1
    budget: {window: 128000}
    rules:
      - {id: cap, at: append, match: {role: tool, all_but_newest: 3}, truncate: {max_tokens: 2000}}

Good:

    version: 1
    budget: {window: 128000}
    rules:
      - {id: cap, at: send, match: {role: tool, all_but_newest: 3}, truncate: {max_tokens: 2000}}
"""

from __future__ import annotations

from collections.abc import Iterator

from ctxpolicy.policy.checks.problem import Context, Problem
from ctxpolicy.policy.checks.walk import AT_APPEND, RANKS, nested, rules

_OF_PLACE = ("opening", *RANKS, "turn_age", "superseded")


def check(context: Context) -> Iterator[Problem]:
    for path, rule in rules(context.spec):
        if rule.at != "append":
            continue
        if rule.when is not None and isinstance(rule.action, AT_APPEND):
            message = "a rule at append sees the message alone, so it can have no `when`"
            yield Problem("CP315", path, message, "say it in `match`, or write `at: send`", "when")
        for inner, match, _ in nested((*path, "match"), rule.match) if rule.match else ():
            for key in _OF_PLACE:
                if getattr(match, key) is not None:
                    message = f"`{key}` depends on the other messages, and a rule at append sees the message alone"
                    yield Problem("CP315", inner, message, "leave it out, or write `at: send`", key)
