"""Whose messages a match can reach."""

from __future__ import annotations

from typing import get_args

from ctxpolicy.policy.checks.walk import given
from ctxpolicy.policy.model import Match, ReadRole

ROLES: frozenset[str] = frozenset(get_args(ReadRole))

# What a message of a role never has. Only roles that are read as they are sent: `read_as` can make anything into a
# system message, a tool result or an injected one.
_NEVER: dict[str, frozenset[str]] = {
    "user": frozenset({"tool", "superseded", "tool_call", "reasoning", "error", "summary"}),
    "developer": frozenset({"tool", "superseded", "tool_call", "reasoning", "error", "summary"}),
    "assistant": frozenset({"opening", "superseded", "error", "summary"}),
    "tool": frozenset({"opening", "summary"}),
}


def reaches(match: Match, role: str) -> bool:
    """True unless something in a match rules out every message of a role. Where in doubt, True."""
    if match.role is not None and role not in match.role:
        return False
    if _NEVER.get(role, frozenset()) & _asked(match):
        return False
    if match.has is not None and set(match.has) <= _NEVER.get(role, frozenset()):
        return False
    if match.not_ is not None and given(match.not_) == ["role"] and role in (match.not_.role or ()):
        return False
    if match.any_ is not None and not any(reaches(one, role) for one in match.any_):
        return False
    return all(reaches(one, role) for one in match.all_ or ())


def _asked(match: Match) -> set[str]:
    """The keys of a match that only some messages can meet."""
    return {name for name in ("tool", "opening", "superseded") if getattr(match, name)}
