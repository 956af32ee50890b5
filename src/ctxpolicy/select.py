"""A match on a whole list: what needs the other messages is decided here; what a message alone decides is known."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable

import msgspec

from ctxpolicy.match import Traits, by_message_alone, own_test, test_of_role
from ctxpolicy.policy.model import Match, Rank
from ctxpolicy.view import View


class Selector(msgspec.Struct, frozen=True):
    """A compiled match. `mask` is its test on single messages; the rest needs the list."""

    mask: int
    match: Match | None = None  # None: the message alone decides
    counts_injected: bool = False
    not_: Selector | None = None
    any_: tuple[Selector, ...] = ()
    all_: tuple[Selector, ...] = ()

    def select(self, view: View) -> list[int]:
        """The positions that match, in order."""
        mask = self.mask
        places = [i for i, bits in enumerate(view.traits) if bits & mask]
        if self.match is None:
            return places
        if self.not_ is not None:
            others = set(self.not_.select(view))
            places = [i for i in places if i not in others]
        for child in self.all_:
            places = _both(places, child.select(view))
        if self.any_:
            places = _both(places, [i for child in self.any_ for i in child.select(view)])
        return self._ranked(_by_place(places, self.match, view), self.match, view)

    def _ranked(self, places: list[int], match: Match, view: View) -> list[int]:
        """Apply `newest`, `oldest` and `all_but_newest`; they are decided last and together."""
        if match.newest is None and match.oldest is None and match.all_but_newest is None:
            return places
        kept: list[int] | None = None
        if match.newest is not None:
            kept = self._covered(reversed(places), match.newest, view)[::-1]
        if match.oldest is not None:
            oldest = self._covered(places, match.oldest, view)
            kept = oldest if kept is None else _both(kept, oldest)
        if match.all_but_newest is not None:
            newest = set(self._covered(reversed(places), match.all_but_newest, view))
            kept = [i for i in (places if kept is None else kept) if i not in newest and self._counts(i, view)]
        return kept or []

    def _covered(self, places: Iterable[int], rank: Rank, view: View) -> list[int]:
        """The first of `places` that the rank covers: whole messages, the one that crosses the line is out."""
        room = rank.count if rank.count is not None else rank.amount.of(view.load.limit) if rank.amount else 0
        covered: list[int] = []
        for i in places:
            if self._counts(i, view):
                room -= 1 if rank.count is not None else view.items[i].tokens
                if room < 0:
                    break
                covered.append(i)
        return covered

    def _counts(self, position: int, view: View) -> bool:
        return self.counts_injected or view.items[position].role != "injected"


def _by_place(places: list[int], match: Match, view: View) -> list[int]:
    if match.opening is not None:
        end = bisect_left(places, view.opening_end)
        places = places[:end] if match.opening else places[end:]
    if match.turn_age is not None:
        ages, holds = view.turn_ages, match.turn_age.holds
        places = [i for i in places if holds(ages[i])]
    if match.superseded is not None:
        places = [i for i in places if bool(view.superseded[i]) is match.superseded]
    return places


def _both(places: list[int], others: Iterable[int]) -> list[int]:
    inside = set(others)
    return [i for i in places if i in inside]


def selector(match: Match, limit: int, traits: Traits) -> Selector:
    """Compile a match for a budget limit in tokens."""
    if by_message_alone(match):
        return Selector(traits.add(match.role, test_of_role(match, limit)))
    return Selector(
        traits.add(match.role, own_test(match, limit)),
        match,
        match.role is not None and "injected" in match.role,
        selector(match.not_, limit, traits) if match.not_ else None,
        tuple(selector(m, limit, traits) for m in match.any_ or ()),
        tuple(selector(m, limit, traits) for m in match.all_ or ()),
    )
