"""Action at the wrong point.

`append` is when a message arrives, `send` right before a model call, and the action is not possible there.

Why: What arrives can only be cut or refused: nothing else is known of the list yet. What is in the list already can no
longer be refused. At append only tool results are cut, because a user's words are never shortened in silence.

Bad:

    version: 1
    budget: {window: 128000}
    rules:
      - {id: too-large, at: send, match: {share: {gte: 1.0}}, refuse: {}}

Good:

    version: 1
    budget: {window: 128000}
    rules:
      - {id: too-large, at: append, match: {share: {gte: 1.0}}, refuse: {}}
"""

from __future__ import annotations

from collections.abc import Iterator

from ctxpolicy.policy.checks.problem import Context, Problem
from ctxpolicy.policy.checks.walk import AT_APPEND, action_of, rules
from ctxpolicy.policy.model import Refuse, Truncate


def check(context: Context) -> Iterator[Problem]:
    for path, rule in rules(context.spec):
        roles = rule.match.role if rule.match else None
        if rule.at == "send" and isinstance(rule.action, Refuse):
            hint = "write `at: append`; what is in the list already can be masked, compacted or evicted"
            yield Problem("CP314", (*path, "at"), "a message can only be refused when it arrives", hint)
        elif rule.at == "append" and not isinstance(rule.action, AT_APPEND):
            message = f"`{action_of(rule)}` looks at the whole list, so it cannot run when a message arrives"
            yield Problem("CP314", (*path, "at"), message, "write `at: send`")
        elif rule.at == "append" and isinstance(rule.action, Truncate) and roles and "tool" not in roles:
            message = "at append only tool results are cut, and this match rules them out"
            yield Problem("CP314", (*path, "match", "role"), message, "write `role: tool`, or `at: send`")
