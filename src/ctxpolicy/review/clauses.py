"""A match or a condition taken apart: each of its clauses with the answer for a message, and the value it looked at.

Every clause is compiled and asked by the same code that runs the policy, so an explanation cannot disagree with it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import msgspec
from msgspec.structs import asdict, replace

from ctxpolicy.items import Facts, Item
from ctxpolicy.match import Traits, recorded
from ctxpolicy.policy.model import Compare, Match, Rank, When
from ctxpolicy.policy.node import Path_
from ctxpolicy.select import Selector, selector
from ctxpolicy.view import View
from ctxpolicy.when import condition

RANKS = ("newest", "oldest", "all_but_newest")
_ALONE = (
    "everything", "role", "name", "tool", "has", "tokens", "share", "field", "meta", "contains", "regex", "opening",
    "turn_age", "superseded",
)  # fmt: skip
_SIGNS = {"gt": ">", "gte": ">=", "lt": "<", "lte": "<="}
_NO_RANKS: dict[str, Any] = dict.fromkeys(RANKS)


class Clause(msgspec.Struct, frozen=True):
    """One key of a match or condition: what it asks (`wanted`), what is there (`found`), and whether it holds.

    `path` leads to it in the effective policy. `inside` are the clauses under `not`, `any` and `all`.
    """

    key: str
    wanted: str
    found: str
    holds: bool
    path: Path_
    inside: tuple[Clause, ...] = ()


class Check(msgspec.Struct, frozen=True):
    """A compiled clause of a match. `base` is set for ranks: the match without any rank, whose messages are ranked."""

    key: str
    match: Match
    path: Path_
    chosen: Selector
    base: Selector | None = None
    inside: tuple[tuple[Check, ...], ...] = ()


def checks(match: Match, limit: int, traits: Traits, path: Path_) -> tuple[Check, ...]:
    """The clauses of a match, compiled into `traits` for a budget limit in tokens. All hold where the match does."""
    return tuple(_checks(match, limit, traits, path))


def _checks(match: Match, limit: int, traits: Traits, path: Path_) -> Iterator[Check]:
    for key in _ALONE:
        value = getattr(match, key)
        if value is not None and (key, value) != ("everything", False):
            alone = Match(**{key: value})
            place = path if key == "everything" else (*path, key)
            yield Check(key, alone, place, selector(alone, limit, traits))
    for key, inner in (("not", (match.not_,)), ("all", match.all_), ("any", match.any_)):
        if inner and None not in inner:
            alone = Match(**{f"{key}_": getattr(match, f"{key}_")})
            places = [(*path, key)] if key == "not" else [(*path, key, n) for n in range(len(inner))]
            nested = tuple(checks(m, limit, traits, at) for m, at in zip(inner, places, strict=True) if m is not None)
            yield Check(key, alone, (*path, key), selector(alone, limit, traits), inside=nested)
    for key in RANKS:
        if getattr(match, key) is not None:
            only = replace(match, **{**_NO_RANKS, key: getattr(match, key)})
            base = replace(match, **{**_NO_RANKS, "newest": Rank(count=1 << 62)})  # every message that is ranked at all
            yield Check(key, only, (*path, key), selector(only, limit, traits), selector(base, limit, traits))


class Asked:
    """Checks over one view: the answers for each position, found out when first asked for."""

    def __init__(self, view: View) -> None:
        self.view = view
        self._answers: dict[int, dict[int, int]] = {}

    def matching(self, chosen: Selector) -> dict[int, int]:
        """Every position that matches, in order, with how many do before it."""
        if id(chosen) not in self._answers:
            self._answers[id(chosen)] = {i: nth for nth, i in enumerate(chosen.select(self.view))}
        return self._answers[id(chosen)]

    def takes(self, chosen: Selector, position: int) -> bool:
        """True where a pin or rule takes a message: it matches, and is no note or marker of the policy's own."""
        return position in self.matching(chosen) and self.view.items[position].ours is None

    def places(self, chosen: Selector) -> list[int]:
        """Every position that a pin or rule takes."""
        return [i for i in self.matching(chosen) if self.takes(chosen, i)]

    def index(self, position: int) -> int:
        """The caller's index of the message at a position (of the first, where it stands for several)."""
        item = self.view.items[position]
        return item.message.index if item.message.index >= 0 else item.start

    def clauses(self, many: Sequence[Check], position: int) -> tuple[Clause, ...]:
        """The clauses of a match for one position."""
        return tuple(self._clause(check, position) for check in many)

    def _clause(self, check: Check, position: int) -> Clause:
        holds = position in self.matching(check.chosen)
        inside = tuple(
            self.clauses(one, position)[0] if len(one) == 1 else self._group(one, position) for one in check.inside
        )
        return Clause(check.key, wanted(check), self._found(check, position), holds, check.path, inside)

    def _group(self, many: Sequence[Check], position: int) -> Clause:
        """Several clauses of one mapping under `not`, `any` or `all`."""
        inner = self.clauses(many, position)
        return Clause("all of", "", "", all(clause.holds for clause in inner), many[0].path[:-1], inner)

    def _found(self, check: Check, position: int) -> str:
        item = self.view.items[position]
        if check.base is not None:
            return self._rank(check, check.base, position)
        if check.key in _PLACE:
            return _PLACE[check.key](self.view, position)
        return _MESSAGE[check.key](item, check.match, self.view.load.limit) if check.key in _MESSAGE else ""

    def _rank(self, check: Check, base: Selector, position: int) -> str:
        places = self.matching(base)
        if position not in places:
            return "not ranked: it does not match the other keys"
        rank: Rank = getattr(check.match, check.key)
        order = list(places) if check.key == "oldest" else list(places)[::-1]
        nth = places[position] + 1 if check.key == "oldest" else len(order) - places[position]
        end = "oldest" if check.key == "oldest" else "newest"
        if rank.count is not None:
            return f"number {nth:,} from the {end} of {len(order):,} that match"
        tokens = sum(self.view.items[i].tokens for i in order[:nth])
        return f"{tokens:,} tokens up to it from the {end} of {len(order):,} that match"


def wanted(check: Check) -> str:
    """What a clause asks, in words."""
    value = getattr(check.match, check.key, None)
    if isinstance(value, Compare):
        return bounds(value)
    if isinstance(value, Rank):
        return _rank_words(value)
    if isinstance(value, bool) or value is None:
        return {True: "true", False: "false", None: ""}[value]
    if isinstance(value, tuple):
        return " or ".join(_short(one) for one in value)
    return ", ".join(f"{key}: {' or '.join(_short(v) for v in options)}" for key, options in value.items())


def bounds(compare: Compare) -> str:
    """`> 0.7 and <= 0.9`."""
    given = asdict(compare).items()
    return " and ".join(f"{_SIGNS[name]} {_number(value)}" for name, value in given if value is not None)


def _number(value: float) -> str:
    return f"{value:,.10g}"


def _rank_words(rank: Rank) -> str:
    if rank.count is not None:
        return f"{rank.count:,}"
    assert rank.amount is not None
    return f"{rank.amount.tokens:,} tokens" if rank.amount.tokens is not None else f"{rank.amount.share:g} of the limit"


def _short(value: Any, most: int = 60) -> str:
    text = str(value).lower() if isinstance(value, bool) else str(value)
    return text if len(text) <= most else text[: most - 1] + "…"


def _role(item: Item, _match: Match, _limit: int) -> str:
    wire = item.message.role
    return item.role if item.role == wire else f"{item.role} (sent as {wire})"


def _equals(values: Any, keys: Any) -> str:
    return ", ".join(f"{key}: {_short(values[key]) if key in (values or {}) else 'not there'}" for key in keys)


def _pattern(item: Item, _match: Match, _limit: int) -> str:
    return f"in its {len(item.message.text):,} characters of text"


_MESSAGE: dict[str, Callable[[Item, Match, int], str]] = {
    "everything": lambda item, match, limit: "",
    "role": _role,
    "name": lambda item, match, limit: item.message.name or "no name",
    "tool": lambda item, match, limit: ", ".join(item.tools) or "no tool",
    "has": lambda item, match, limit: ", ".join(sorted(item.message.has)) or "none of them",
    "tokens": lambda item, match, limit: f"{item.tokens:,}",
    "share": lambda item, match, limit: f"{item.tokens / limit:.3f} of the limit",
    "field": lambda item, match, limit: _equals({**recorded(item), **item.message.wire}, match.field or ()),
    "meta": lambda item, match, limit: _equals(item.meta, match.meta or ()),
    "contains": _pattern,
    "regex": _pattern,
}


def _opening(view: View, position: int) -> str:
    if view.opening_end == len(view.items):
        return "nothing has been answered yet"
    return f"the first answer, note or marker is message {view.items[view.opening_end].start}"


_PLACE: dict[str, Callable[[View, int], str]] = {
    "opening": _opening,
    "turn_age": lambda view, position: f"{view.turn_ages[position]:,} user turns from the end",
    "superseded": lambda view, position: (
        "its call came again, and was answered" if view.superseded[position] else "no later call is the same"
    ),
}


def when_clauses(when: When | None, facts: Facts, path: Path_) -> tuple[Clause, ...]:
    """The clauses of a condition for the facts of a list."""
    return tuple(_when_clauses(when, facts, path)) if when is not None else ()


def _when_clauses(when: When, facts: Facts, path: Path_) -> Iterator[Clause]:
    for name, compare in when.facts:
        holds = condition(When(facts=((name, compare),)))(facts)
        yield Clause(name, bounds(compare), _fact(getattr(facts, name)), holds, (*path, name))
    if when.not_ is not None:
        inner = when_clauses(when.not_, facts, (*path, "not"))
        yield Clause("not", "", "", condition(When(not_=when.not_))(facts), (*path, "not"), inner)
    for key, many in (("all", when.all_), ("any", when.any_)):
        if many is not None:
            alone = When(all_=many) if key == "all" else When(any_=many)
            inside = tuple(_when_group(one, facts, (*path, key, n)) for n, one in enumerate(many))
            yield Clause(key, "", "", condition(alone)(facts), (*path, key), inside)


def _when_group(when: When, facts: Facts, path: Path_) -> Clause:
    inner = when_clauses(when, facts, path)
    return inner[0] if len(inner) == 1 else Clause("all of", "", "", condition(when)(facts), path, inner)


def _fact(value: float) -> str:
    return f"{value:,}" if isinstance(value, int) else f"{value:,.0f}" if value >= 100 else f"{value:.3f}"
