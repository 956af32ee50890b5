"""Budget limit not above zero.

limit = floor(window x ratio) - reserve, and what is reserved for the answer takes all of it.

Why: Nothing could ever be sent.

Bad:

    version: 1
    budget: {window: 8000, ratio: 0.5, reserve: 4000}

Good:

    version: 1
    budget: {window: 8000, ratio: 0.9, reserve: 1000}
"""

from __future__ import annotations

from collections.abc import Iterator

from ctxpolicy.policy.checks.problem import Context, Problem


def check(context: Context) -> Iterator[Problem]:
    budget = context.spec.budget
    if context.limit is not None or not budget.window or context.unsure & {"budget", "extends", ""}:
        return
    planned = budget.limit + budget.reserve
    message = (
        f"the budget limit is {budget.limit:,} tokens: window {budget.window:,} x ratio {budget.ratio:g} "
        f"= {planned:,}, less reserve {budget.reserve:,}; nothing could ever be sent"
    )
    key = "reserve" if budget.reserve else "window"
    yield Problem("CP302", ("budget", key), message, f"make `reserve` smaller than {planned:,}, or the window larger")
