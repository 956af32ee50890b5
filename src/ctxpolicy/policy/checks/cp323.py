"""Match that nothing can satisfy.

Two keys of a match rule each other out, whatever the messages are.

Why: The pin or rule could never do anything, so something else was meant.

Bad:

    version: 1
    budget: {window: 128000}
    pins:
      - {id: edits, match: {role: user, tool: edit_file, newest: 3}}

Good:

    version: 1
    budget: {window: 128000}
    pins:
      - {id: edits, match: {role: tool, tool: edit_file, newest: 3}}
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from ctxpolicy.policy.checks.covers import covers, ranked
from ctxpolicy.policy.checks.problem import Context, Problem
from ctxpolicy.policy.checks.reach import ROLES, reaches
from ctxpolicy.policy.checks.walk import given, nested, root_matches
from ctxpolicy.policy.model import Match
from ctxpolicy.policy.phrases import listed


def check(context: Context) -> Iterator[Problem]:
    for root, match in root_matches(context.spec):
        for path, inner, _ in nested(root, match):
            if why := impossible(inner):
                yield Problem("CP323", path, f"no message can match this: {why}", "leave one of the two out")
                break  # what stands around it cannot match for the same reason


def impossible(match: Match) -> str | None:
    """Why no message can match, None where one may."""
    if not any(reaches(match, role) for role in ROLES):
        return _clash(match)
    excluded = match.not_
    if excluded is not None and not ranked(excluded) and covers(excluded, replace(match, not_=None)):
        return "`not` rules out all that the other keys match"
    newest, rest = match.newest, match.all_but_newest
    if newest and rest and newest.count is not None and rest.count is not None and newest.count <= rest.count:
        return f"the newest {newest.count} are not among all but the newest {rest.count}"
    return None


def _clash(match: Match) -> str:
    """Which key the role rules out, as far as one alone does."""
    for name in given(match):
        alone = Match(role=match.role, **{name: getattr(match, name)}) if match.role and name != "role" else None
        if alone and not any(reaches(alone, role) for role in ROLES):
            return f"{listed(match.role or ())} messages never meet `{name.rstrip('_')}`"
    return "its keys rule each other out, whatever the role"
