"""A match on a whole list: what needs the other messages is decided here; what a message alone decides is known."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec

from ctxpolicy.match import Traits, by_message_alone, own_test, test
from ctxpolicy.policy.model import Match, Rank
from ctxpolicy.view import View


class Selector(msgspec.Struct, frozen=True):
    """A compiled match. `mask` is its test on single messages; the rest needs the list."""

    mask: int
    match: Match
    counts_injected: bool
    not_: Selector | None = None
    any_: tuple[Selector, ...] = ()
    all_: tuple[Selector, ...] = ()

    def select(self, view: View) -> bytearray:
        """1 for each position that matches."""
        mask = self.mask
        flags = bytearray([1 if bits & mask else 0 for bits in view.traits])
        if self.not_ is not None:
            _keep(flags, self.not_.select(view), wanted=0)
        for child in self.all_:
            _keep(flags, child.select(view), wanted=1)
        if self.any_:
            _keep(flags, _union([child.select(view) for child in self.any_]), wanted=1)
        self._select_by_place(flags, view)
        return _ranked(flags, self.match, view, self.counts_injected)

    def _select_by_place(self, flags: bytearray, view: View) -> None:
        match = self.match
        if match.opening is not None:
            for i in range(len(flags)):
                flags[i] &= (i < view.opening_end) is match.opening
        if match.turn_age is not None:
            ages = view.turn_ages
            for i, flag in enumerate(flags):
                flags[i] = bool(flag and match.turn_age.holds(ages[i]))
        if match.superseded is not None:
            _keep(flags, view.superseded, wanted=int(match.superseded))


def _keep(flags: bytearray, other: bytearray, wanted: int) -> None:
    for i, flag in enumerate(other):
        if flag != wanted:
            flags[i] = 0


def _union(many: Sequence[bytearray]) -> bytearray:
    return bytearray(map(any, zip(*many, strict=True)))


def _ranked(flags: bytearray, match: Match, view: View, counts_injected: bool) -> bytearray:
    """Apply `newest`, `oldest` and `all_but_newest`; they are decided last and together."""
    if match.newest is None and match.oldest is None and match.all_but_newest is None:
        return flags
    places = [i for i, flag in enumerate(flags) if flag and (counts_injected or view.items[i].role != "injected")]
    kept = set(places)
    if match.newest is not None:
        kept &= set(_first(reversed(places), match.newest, view))
    if match.oldest is not None:
        kept &= set(_first(places, match.oldest, view))
    if match.all_but_newest is not None:
        kept -= set(_first(reversed(places), match.all_but_newest, view))
    return bytearray(1 if i in kept else 0 for i in range(len(flags)))


def _first(places: Iterable[int], rank: Rank, view: View) -> Iterable[int]:
    """The first of `places` that the rank covers: whole messages, the one that crosses the line is out."""
    room = rank.count if rank.count is not None else rank.amount.of(view.load.limit) if rank.amount else 0
    for i in places:
        room -= 1 if rank.count is not None else view.items[i].tokens
        if room < 0:
            return
        yield i


def selector(match: Match, limit: int, traits: Traits) -> Selector:
    """Compile a match for a budget limit in tokens."""
    if by_message_alone(match):
        return Selector(traits.add(test(match, limit)), Match(), False)
    return Selector(
        traits.add(own_test(match, limit)),
        match,
        match.role is not None and "injected" in match.role,
        selector(match.not_, limit, traits) if match.not_ else None,
        tuple(selector(m, limit, traits) for m in match.any_ or ()),
        tuple(selector(m, limit, traits) for m in match.all_ or ()),
    )
