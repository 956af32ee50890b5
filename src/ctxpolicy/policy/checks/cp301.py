"""No budget.window.

The effective policy does not say how many tokens the model accepts.

Why: Every threshold is a share of it. A policy with neither budget, pins nor rules is one for others to extend and may
leave it out.

Bad:

    version: 1
    budget: {ratio: 0.7}

Good:

    version: 1
    budget: {window: 128000, ratio: 0.7}
"""

from __future__ import annotations

from collections.abc import Iterator

from ctxpolicy.policy.checks.problem import Context, Problem


def check(context: Context) -> Iterator[Problem]:
    if context.spec.budget.window == 0 and not context.unsure & {"budget", "extends", ""}:
        message = "`budget.window` is missing: the tokens that the model accepts"
        yield Problem("CP301", ("budget",), message, "add `budget: {window: 128000}` with the number of your model")
