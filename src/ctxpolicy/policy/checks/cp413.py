"""Summary longer than what it replaces.

A note of `word_limit` words is longer than the smallest span that the rule would compact: `min_gain` tokens, or, where
that is not given, what lies between trigger and goal.

Why: The summariser is asked for a note that is thrown away when it comes, because it would save nothing. A word is
counted as 1.5 tokens.

Bad:

    version: 1
    budget: {window: 8000}
    rules:
      - id: shorten
        when: {pressure: {gt: 0.7}}
        compact: {until: {pressure: {lt: 0.5}}, min_gain: 0.05, word_limit: 1000}

Good:

    version: 1
    budget: {window: 8000}
    rules:
      - id: shorten
        when: {pressure: {gt: 0.7}}
        compact: {until: {pressure: {lt: 0.5}}, min_gain: 0.05, word_limit: 100}
"""

from __future__ import annotations

from collections.abc import Iterator

from ctxpolicy.policy.checks.lines import goal, triggers
from ctxpolicy.policy.checks.problem import Context, Problem
from ctxpolicy.policy.checks.walk import rules
from ctxpolicy.policy.model import TOKENS_PER_WORD, Compact


def check(context: Context) -> Iterator[Problem]:
    if context.limit is None:
        return
    starts = {rule.id: trigger for _, rule, trigger in triggers(context, Compact)}
    for path, rule in rules(context.spec):
        if not isinstance(rule.action, Compact):
            continue
        note = rule.action.word_limit * TOKENS_PER_WORD
        smallest, why = rule.action.min_gain.of(context.limit), "min_gain"
        if not smallest and rule.id in starts:
            stops = goal(rule, starts[rule.id], context.limit)
            smallest, why = starts[rule.id] - stops if stops is not None else 0, "from the trigger to the goal"
        if 0 < smallest < note:
            message = (
                f"a note of {rule.action.word_limit:,} words is about {note:,.0f} tokens, more than the smallest span "
                f"that `{rule.id}` replaces, {smallest:,.0f} ({why})"
            )
            key = "word_limit" if context.document.at((*path, "compact")).mapping.get("word_limit") else None
            hint = f"write `word_limit: {int(smallest / TOKENS_PER_WORD / 2)}` or less, or ask for a larger `min_gain`"
            yield Problem("CP413", (*path, "compact"), message, hint, key)
