"""Unknown summarizer.

There is no summarizer of this kind, or something follows one that stands alone.

Why: The compact rules would never get a summary.

Bad:

    version: 1
    budget: {window: 128000}
    summarizer: comand:./summarise.sh

Good:

    version: 1
    budget: {window: 128000}
    summarizer: command:./summarise.sh
"""

from __future__ import annotations

from collections.abc import Iterator

from ctxpolicy.policy.checks.problem import Context, Problem
from ctxpolicy.policy.checks.walk import own_summarizers
from ctxpolicy.policy.phrases import did_you_mean

ALONE = ("none", "extract")  # nothing may follow these
KINDS = (*ALONE, "scripted", "command", "openai", "anthropic")


def check(context: Context) -> Iterator[Problem]:
    for path, asked in [(("summarizer",), context.spec.summarizer), *own_summarizers(context.spec)]:
        for one in asked:
            kind, colon, _ = one.use.partition(":")
            if kind not in KINDS:
                hint = did_you_mean(kind, KINDS) or f"there are {', '.join(KINDS)}"
                yield Problem("CP322", path, f"there is no summarizer `{one.use}`", hint)
            elif kind in ALONE and colon:
                yield Problem("CP322", path, f"nothing may follow `{kind}`, as in `{one.use}`", f"write `{kind}`")
