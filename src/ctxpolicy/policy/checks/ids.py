"""Ids: a decision names a pin or a rule, so one id is one entry."""

from __future__ import annotations

from collections.abc import Iterator

from ctxpolicy.policy.checks.problem import Context, Problem


def _shared(context: Context) -> Iterator[Problem]:
    pins = {pin.id for pin in context.spec.pins}
    for index, rule in enumerate(context.spec.rules):
        if rule.id in pins:
            message = f"the id `{rule.id}` is given to a pin and to a rule"
            yield Problem(
                "CP307", ("rules", index, "id"), message, "reports name pins and rules by id; rename one of them"
            )


CHECKS = (_shared,)
