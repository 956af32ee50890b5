"""The budget: there is a window, something of it is left, and its counter can count."""

from __future__ import annotations

from collections.abc import Iterator

from ctxpolicy.errors import PolicyInvalid
from ctxpolicy.policy.checks.problem import Context, Problem
from ctxpolicy.tokens import counter


def _window(context: Context) -> Iterator[Problem]:
    if context.spec.budget.window == 0 and not context.unsure & {"budget", "extends", ""}:
        message = "`budget.window` is missing: the tokens that the model accepts"
        yield Problem("CP301", ("budget",), message, "add `budget: {window: 128000}` with the number of your model")


def _limit(context: Context) -> Iterator[Problem]:
    budget = context.spec.budget
    if context.limit is None and budget.window and not context.unsure & {"budget", "extends", ""}:
        planned = budget.limit + budget.reserve
        message = (
            f"the budget limit is {budget.limit:,} tokens: window {budget.window:,} x ratio {budget.ratio:g} "
            f"= {planned:,}, less reserve {budget.reserve:,}; nothing could ever be sent"
        )
        key = "reserve" if budget.reserve else "window"
        yield Problem(
            "CP302", ("budget", key), message, f"make `reserve` smaller than {planned:,}, or the window larger"
        )


def _counter(context: Context) -> Iterator[Problem]:
    try:
        counter(context.spec.budget.counter)
    except PolicyInvalid as error:
        yield Problem("CP321", ("budget", "counter"), str(error))


CHECKS = (_window, _limit, _counter)
