"""Matches: what can be asked where, and what cannot be meant."""

from __future__ import annotations

from collections.abc import Iterator

from ctxpolicy.policy.checks.actions import AT_APPEND
from ctxpolicy.policy.checks.problem import Context, Problem
from ctxpolicy.policy.checks.walk import conditions, nested, root_matches, rules
from ctxpolicy.policy.model import Compare, Match

DEEPEST = 4
_RANKS = ("newest", "oldest", "all_but_newest")
_OF_PLACE = ("opening", *_RANKS, "turn_age", "superseded")


def _at_append(context: Context) -> Iterator[Problem]:
    for path, rule in rules(context.spec):
        if rule.at != "append":
            continue
        if rule.when is not None and isinstance(rule.action, AT_APPEND):
            message = "a rule at append sees the message alone, so it can have no `when`"
            yield Problem("CP315", path, message, "say it in `match`, or write `at: send`", "when")
        for inner, match, _ in nested((*path, "match"), rule.match) if rule.match else ():
            for key in _OF_PLACE:
                if getattr(match, key) is not None:
                    message = f"`{key}` depends on the other messages, and a rule at append sees the message alone"
                    yield Problem("CP315", inner, message, "leave it out, or write `at: send`", key)


def _depth(context: Context) -> Iterator[Problem]:
    for root, match in root_matches(context.spec):
        for path, _, depth in nested(root, match):
            if depth == DEEPEST + 1:
                message = f"a match may be nested {DEEPEST} deep, and this one is deeper"
                yield Problem("CP316", path, message, "list several values under one key, or split the rule")
                break


def _rank_under_not(context: Context) -> Iterator[Problem]:
    for root, match in root_matches(context.spec):
        for path, outer, _ in nested(root, match):
            inner = outer.not_
            if inner is not None and _only_rank(inner):
                message = (
                    "a rank alone under `not` counts among all messages, not among those that the other keys match"
                )
                hint = (
                    "write `all_but_newest: N` beside the other keys"
                    if inner.newest
                    else "repeat the other keys under `not`"
                )
                yield Problem("CP401", path, message, hint, "not")


def _only_rank(match: Match) -> bool:
    given = [name for name in Match.__slots__ if getattr(match, name) not in (None, False)]
    return len(given) == 1 and given[0] in _RANKS


def _bounds(context: Context) -> Iterator[Problem]:
    for root, match in root_matches(context.spec):
        for path, inner, _ in nested(root, match):
            pairs = [(key, getattr(inner, key)) for key in ("tokens", "share", "turn_age")]
            yield from (_contradiction(path, key, bounds) for key, bounds in pairs if bounds and _empty(bounds))
    for path, when in conditions(context.spec):
        yield from (_contradiction(path, key, bounds) for key, bounds in when.facts if _empty(bounds))


def _contradiction(path: tuple[str | int, ...], key: str, bounds: Compare) -> Problem:
    written = ", ".join(
        f"{sign}: {value:g}" for sign in ("gt", "gte", "lt", "lte") if (value := getattr(bounds, sign)) is not None
    )
    return Problem("CP319", (*path, key), f"no number meets `{{{written}}}`", "swap the bounds, or leave one out")


def _empty(bounds: Compare) -> bool:
    low = [(value, strict) for value, strict in ((bounds.gt, True), (bounds.gte, False)) if value is not None]
    high = [(value, strict) for value, strict in ((bounds.lt, True), (bounds.lte, False)) if value is not None]
    return any(a > b or (a == b and (s or t)) for a, s in low for b, t in high)


CHECKS = (_at_append, _depth, _rank_under_not, _bounds)
