"""Every threshold of a policy in tokens: shares of an already reduced budget are easily misread."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from ctxpolicy.policy.checks.walk import action_of, nested, root_matches, rules
from ctxpolicy.policy.model import Amount, Budget, Compact, Compare, Mask, Match, Rank, Rule, Spec, Truncate, When
from ctxpolicy.policy.node import Path_

_SIGNS = {"gt": ">", "gte": ">=", "lt": "<", "lte": "<="}
_SHARES = ("pressure", "share")
_TOKENS = ("used", "tokens", "tool_tokens", "headroom")


class Threshold(msgspec.Struct, frozen=True):
    """A number that decides something. `owner` is a pin's or rule's id, `path` leads to the number in the document."""

    owner: str
    words: str
    tokens: int
    path: Path_

    def window_share(self, budget: Budget) -> str:
        """The same as a share of the window: `47 %`."""
        return percent(self.tokens / budget.window)


def percent(share: float) -> str:
    """A share as a percentage: `47 %`, and `0.2 %` where it is under one."""
    return f"{share:.0%}".replace("%", " %") if share >= 0.01 or not share else f"{share:.1%}".replace("%", " %")


def thresholds(spec: Spec) -> Iterator[Threshold]:
    """The thresholds of pins and rules, in file order. What counts messages or turns has no tokens and is left out."""
    owners: dict[Path_, str] = {("pins", index): pin.id for index, pin in enumerate(spec.pins)}
    owners |= {path: rule.id for path, rule in rules(spec)}
    matches = [(path, match) for path, match in root_matches(spec) if path[:2] in owners]
    for start, owner in owners.items():
        for path, match in matches:
            if path[:2] == start:
                yield from _of_match(owner, path, match, spec.budget.limit)
        if start[0] == "rules":
            yield from _of_rule(start, spec.rules[int(start[1])], spec.budget.limit)


def _of_match(owner: str, root: Path_, match: Match, limit: int) -> Iterator[Threshold]:
    prefix = "keep " if root[-1] == "keep" else ""
    for path, inner, _ in nested(root, match):
        for key in ("tokens", "share"):
            if bounds := getattr(inner, key):
                yield from _of_bounds(owner, prefix, key, bounds, (*path, key), limit)
        for key in ("newest", "oldest", "all_but_newest"):
            rank: Rank | None = getattr(inner, key)
            if rank and rank.amount:
                yield _of_amount(owner, prefix + key.replace("_", " "), rank.amount, (*path, key), limit)


def _of_rule(path: Path_, rule: Rule, limit: int) -> Iterator[Threshold]:
    action, kind = rule.action, action_of(rule)
    if rule.when:
        yield from _of_when(rule.id, "", rule.when, (*path, "when"), limit)
    if isinstance(action, Truncate):
        yield Threshold(rule.id, "max_tokens", action.max_tokens, (*path, kind, "max_tokens"))
    until = getattr(action, "until", None)
    if isinstance(until, When):
        yield from _of_when(rule.id, "until ", until, (*path, kind, "until"), limit)
    if isinstance(action, (Compact, Mask)) and action.min_gain and action.min_gain.of(limit):
        yield _of_amount(rule.id, "min_gain", action.min_gain, (*path, kind, "min_gain"), limit)
    if isinstance(action, Compact) and action.input_tokens:
        yield Threshold(rule.id, "input max_tokens", action.input_tokens, (*path, kind, "input", "max_tokens"))


def _of_when(owner: str, prefix: str, when: When, path: Path_, limit: int) -> Iterator[Threshold]:
    for fact, bounds in when.facts:
        yield from _of_bounds(owner, prefix, fact, bounds, (*path, fact), limit)
    if when.not_:
        yield from _of_when(owner, f"{prefix}not ", when.not_, (*path, "not"), limit)
    for key, several in (("any", when.any_), ("all", when.all_)):
        for index, inner in enumerate(several or ()):
            yield from _of_when(owner, prefix, inner, (*path, key, index), limit)


def _of_bounds(owner: str, prefix: str, fact: str, bounds: Compare, path: Path_, limit: int) -> Iterator[Threshold]:
    for sign, shown in _SIGNS.items():
        value = getattr(bounds, sign)
        if value is None or fact not in _SHARES + _TOKENS:
            continue
        share = fact in _SHARES
        words = f"{prefix}{fact} {shown} " + (f"{value:.2f}" if share else f"{value:,.0f}")
        yield Threshold(owner, words, round(value * limit if share else value), (*path, sign))


def _of_amount(owner: str, words: str, amount: Amount, path: Path_, limit: int) -> Threshold:
    if amount.tokens is not None:
        return Threshold(owner, words, amount.tokens, (*path, "tokens"))
    place = path if path[-1] == "min_gain" else (*path, "share")
    return Threshold(owner, f"{words} {amount.share:.2f}", round(amount.of(limit)), place)
