"""Whose words a rule can reach."""

from __future__ import annotations

from collections.abc import Iterator

from ctxpolicy.policy.checks.problem import Context, Problem
from ctxpolicy.policy.checks.walk import rules
from ctxpolicy.policy.model import Match, Truncate


def reaches_user(match: Match) -> bool:
    """True when nothing in a match rules out a message of the user's."""
    if match.role is not None and "user" not in match.role:
        return False
    if match.tool is not None or match.superseded:
        return False
    if match.has is not None and set(match.has) <= {"tool_call", "reasoning", "error", "summary"}:
        return False
    if match.not_ is not None and match.not_.role is not None and "user" in match.not_.role and _only_role(match.not_):
        return False
    if match.any_ is not None and not any(map(reaches_user, match.any_)):
        return False
    return all(map(reaches_user, match.all_ or ()))


def _only_role(match: Match) -> bool:
    return all(getattr(match, name) in (None, False) for name in Match.__slots__ if name != "role")


def _truncation(context: Context) -> Iterator[Problem]:
    for path, rule in rules(context.spec):
        if rule.at == "append":
            continue  # there only tool results are cut
        if isinstance(rule.action, Truncate) and rule.match and reaches_user(rule.match):
            message = f"`{rule.id}` can cut what the user wrote"
            yield Problem("CP405", (*path, "match"), message, "add `role: tool` to its match")


CHECKS = (_truncation,)
