"""Actions: each at a point where it can act, with numbers that fit each other."""

from __future__ import annotations

from collections.abc import Iterator

from ctxpolicy.policy.checks.problem import Context, Problem
from ctxpolicy.policy.checks.walk import action_of, rules
from ctxpolicy.policy.model import Compact, Mask, Refuse, Truncate

AT_APPEND = (Truncate, Refuse)


def _point(context: Context) -> Iterator[Problem]:
    for path, rule in rules(context.spec):
        if rule.at == "send" and isinstance(rule.action, Refuse):
            hint = "write `at: append`; what is in the list already can be masked, compacted or evicted"
            yield Problem("CP314", (*path, "at"), "a message can only be refused when it arrives", hint)
        if rule.at == "append" and not isinstance(rule.action, AT_APPEND):
            message = f"`{action_of(rule)}` looks at the whole list, so it cannot run when a message arrives"
            yield Problem("CP314", (*path, "at"), message, "write `at: send`")


def _no_results(context: Context) -> Iterator[Problem]:
    for path, rule in rules(context.spec):
        roles = rule.match.role if rule.match else None
        if rule.at == "append" and isinstance(rule.action, Truncate) and roles and "tool" not in roles:
            message = "at append only tool results are cut, and this match rules them out"
            yield Problem("CP314", (*path, "match", "role"), message, "write `role: tool`, or `at: send`")


def _shares(context: Context) -> Iterator[Problem]:
    for path, rule in rules(context.spec):
        action = rule.action
        if isinstance(action, Truncate) and action.head + action.tail > 1 + 1e-9:
            message = f"head {action.head:g} and tail {action.tail:g} are more than the whole"
            yield Problem("CP317", (*path, "truncate", "tail"), message, "together they may be 1 at most")


def _span(context: Context) -> Iterator[Problem]:
    for path, rule in rules(context.spec):
        action = rule.action
        if isinstance(action, Compact) and action.span_max is not None and action.span_min > action.span_max:
            message = f"span.min {action.span_min} is above span.max {action.span_max}: no span is ever long enough"
            yield Problem("CP318", (*path, "compact", "span"), message, "make `max` at least as large as `min`")


def _until(context: Context) -> Iterator[Problem]:
    for path, rule in rules(context.spec):
        if isinstance(rule.action, Compact) and rule.action.until is None:
            message = f"`{rule.id}` stops as soon as its trigger no longer holds, and soon acts again"
            hint = "set a goal well below it, such as `until: {pressure: {lt: 0.5}}`, to save calls and cached prefixes"
            yield Problem("CP402", (*path, "compact"), message, hint)


def _rewrites(context: Context) -> Iterator[Problem]:
    for path, rule in rules(context.spec):
        if isinstance(rule.action, Mask) and rule.action.batch is None and rule.action.min_gain is None:
            message = (
                f"`{rule.id}` may rewrite the list at every call, and the provider's prompt cache is lost each time"
            )
            yield Problem("CP403", (*path, "mask"), message, "add `batch: 10` or `min_gain: 0.05`")


def _merged(context: Context) -> Iterator[Problem]:
    for path, rule in rules(context.spec):
        if isinstance(rule.action, Compact) and rule.action.summaries == "merge":
            message = "a merged summary is a summary of a summary: details fade with every pass"
            yield Problem(
                "CP408", (*path, "compact", "summaries"), message, "`summaries: keep` lists them side by side"
            )


CHECKS = (_point, _no_results, _shares, _span, _until, _rewrites, _merged)
