"""Summariser's input too small.

`input.max_tokens` is filled by the prompt's own words and the least that the fewest messages of a span take.

Why: Results are shortened to fit, but not below 200 tokens each. Then every span ends after its first unit, and a
summary of one unit seldom pays.

Bad:

    version: 1
    budget: {window: 128000}
    rules:
      - id: shorten
        when: {pressure: {gt: 0.7}}
        compact: {until: {pressure: {lt: 0.5}}, span: {min: 10}, input: {max_tokens: 1000}}

Good:

    version: 1
    budget: {window: 128000}
    rules:
      - id: shorten
        when: {pressure: {gt: 0.7}}
        compact: {until: {pressure: {lt: 0.5}}, span: {min: 10}, input: {max_tokens: 16000}}
"""

from __future__ import annotations

from collections.abc import Iterator

from ctxpolicy.policy.checks.problem import Context, Problem
from ctxpolicy.policy.checks.walk import rules
from ctxpolicy.policy.model import Compact
from ctxpolicy.summarize.prompt import PROMPT
from ctxpolicy.tokens import counter

LEAST_RESULT = 200  # tokens below which a tool result is not shortened for the summariser


def check(context: Context) -> Iterator[Problem]:
    count = counter("estimate")  # near enough, and always there
    for path, rule in rules(context.spec):
        action = rule.action
        if not isinstance(action, Compact) or action.input_tokens is None:
            continue
        prompt = count(PROMPT if action.prompt is None else action.prompt)
        least = prompt + action.span_min * LEAST_RESULT
        if action.input_tokens < least:
            message = (
                f"the summarizer may be given {action.input_tokens:,} tokens; the prompt takes {prompt:,} and the "
                f"{action.span_min:,} messages of the smallest span up to {least - prompt:,}"
            )
            yield Problem("CP414", (*path, "compact", "input"), message, f"allow at least {least:,}; 16000 is usual")
