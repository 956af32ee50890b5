"""Counter that is not installed.

The exact tokenizers come with the extra `tokens`, and it is not there.

Why: Counting in another way would move every threshold.

Bad: `counter: {tokenizer: o200k_base}` where `ctxpolicy[tokens]` is not installed.

Good:

    version: 1
    budget: {window: 128000, counter: estimate}
"""

from __future__ import annotations

from collections.abc import Iterator

from ctxpolicy.errors import PolicyInvalid
from ctxpolicy.policy.checks.problem import Context, Problem
from ctxpolicy.tokens import counter


def check(context: Context) -> Iterator[Problem]:
    try:
        counter(context.spec.budget.counter)
    except PolicyInvalid as error:
        yield Problem("CP321", ("budget", "counter"), str(error))
