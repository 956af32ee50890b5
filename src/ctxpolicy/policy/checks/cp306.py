"""Cap not larger than its marker.

The marker that says what is missing may alone take as many tokens as the text may have.

Why: Nothing of the text itself would be left.

Bad:

    version: 1
    budget: {window: 128000}
    rules:
      - {id: cap, at: append, match: {role: tool}, truncate: {max_tokens: 20}}

Good:

    version: 1
    budget: {window: 128000}
    rules:
      - {id: cap, at: append, match: {role: tool}, truncate: {max_tokens: 2000}}
"""

from __future__ import annotations

from collections.abc import Iterator

from ctxpolicy import template
from ctxpolicy.cut import DEFAULT_TRUNCATE_MARKER
from ctxpolicy.policy.checks.problem import Context, Problem
from ctxpolicy.policy.checks.walk import action_of, rules
from ctxpolicy.policy.model import Truncate
from ctxpolicy.tokens import counter

# The longest that a marker can get: a text of a hundred million characters, a long tool name.
_LARGEST = {
    "count": "99,999",
    "chars": "99,999,999",
    "lines": "9,999,999",
    "tokens": "99,999,999",
    "tool": "a_tool_with_a_long_name",
    "ref": "0" * 12,
}


def check(context: Context) -> Iterator[Problem]:
    name = context.spec.budget.counter
    count = counter("estimate" if context.unsure & {"budget"} or name.startswith("tokenizer:") else name)
    for path, rule in rules(context.spec):
        action = rule.action
        if not isinstance(action, Truncate):
            continue
        text = DEFAULT_TRUNCATE_MARKER if action.marker is None else action.marker
        if template.check(text, template.MARKER_VARIABLES).faults or not template.is_plain(text):
            continue
        size = count(template.compile(text)(**_LARGEST))
        if action.max_tokens <= size:
            message = f"max_tokens {action.max_tokens:,} leaves no room: the marker alone may take {size:,} tokens"
            place = (*path, action_of(rule), "max_tokens")
            yield Problem("CP306", place, message, f"allow more than {size:,}; 2000 is usual")
