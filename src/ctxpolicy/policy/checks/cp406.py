"""Model-backed summarizer with nothing to fall back on.

The summaries come from a model or a command, and no evict rule makes room when it does not answer.

Why: A summariser that fails never stops the loop, but then the list grows until the provider refuses it.

Bad:

    version: 1
    budget: {window: 128000}
    summarizer: openai:gpt-4o-mini
    rules:
      - {id: shorten, when: {pressure: {gt: 0.7}}, compact: {until: {pressure: {lt: 0.5}}}}

Good:

    version: 1
    budget: {window: 128000}
    summarizer: [openai:gpt-4o-mini, extract]
    rules:
      - {id: shorten, when: {pressure: {gt: 0.7}}, compact: {until: {pressure: {lt: 0.5}}}}
"""

from __future__ import annotations

from collections.abc import Iterator

from ctxpolicy.policy.checks.problem import Context, Problem
from ctxpolicy.policy.checks.walk import own_summarizers
from ctxpolicy.policy.model import Compact, Evict

_NO_MODEL = ("none", "extract", "scripted")


def check(context: Context) -> Iterator[Problem]:
    if any(isinstance(rule.action, Evict) for rule in context.spec.rules):
        return
    shared = context.spec.summarizer
    compacting = [rule for rule in context.spec.rules if isinstance(rule.action, Compact)]
    asked = [(path, (*own, *shared)) for path, own in own_summarizers(context.spec)]
    if shared and len(asked) < len(compacting):
        asked.append((("summarizer",), shared))
    for path, chain in asked:
        if all(one.use.partition(":")[0] not in _NO_MODEL for one in chain):
            message = "when the model does not answer, nothing else makes room"
            yield Problem("CP406", path, message, "add an `evict` rule, or `extract` as the last summarizer")
