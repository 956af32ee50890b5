"""The match language, compiled: what depends on a message alone becomes one test, what depends on place a selection."""

from __future__ import annotations

import fnmatch
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import msgspec
import re2

from ctxpolicy.items import RECORDED, Item
from ctxpolicy.policy.model import Match, Rank

if TYPE_CHECKING:
    from ctxpolicy.view import View

Test = Callable[[Item], bool]


class Traits:
    """Tests on single messages, numbered. Their answers are kept on the item as bits and found out once."""

    def __init__(self) -> None:
        self._tests: list[Test] = []

    def add(self, test: Test) -> int:
        """The bit mask of a test."""
        self._tests.append(test)
        return 1 << (len(self._tests) - 1)

    def of(self, item: Item) -> int:
        """All answers for an item, as bits."""
        bits = item.traits
        if bits < 0:
            bits = item.traits = sum(1 << i for i, test in enumerate(self._tests) if test(item))
        return bits


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
        traits.add(_own_test(match, limit)),
        match,
        match.role is not None and "injected" in match.role,
        selector(match.not_, limit, traits) if match.not_ else None,
        tuple(selector(m, limit, traits) for m in match.any_ or ()),
        tuple(selector(m, limit, traits) for m in match.all_ or ()),
    )


def by_message_alone(match: Match) -> bool:
    """True when no key of the match asks for a place in the list."""
    here = (match.opening, match.turn_age, match.superseded, match.newest, match.oldest, match.all_but_newest)
    children = [m for m in (match.not_, *(match.any_ or ()), *(match.all_ or ())) if m is not None]
    return all(key is None for key in here) and all(map(by_message_alone, children))


def test(match: Match, limit: int) -> Test:
    """A match by message alone, as one predicate."""
    tests = [_own_test(match, limit)]
    if match.not_ is not None:
        inner = test(match.not_, limit)
        tests.append(lambda item: not inner(item))
    if match.all_ is not None:
        tests += [test(m, limit) for m in match.all_]
    if match.any_ is not None:
        choices = [test(m, limit) for m in match.any_]
        tests.append(lambda item: any(choice(item) for choice in choices))
    return conjunction(tests)


def _own_test(match: Match, limit: int) -> Test:
    """The keys of this mapping that look at the message alone, cheapest first."""
    tests: list[Test] = []
    if match.role is not None:
        roles = frozenset(match.role)
        tests.append(lambda item: item.role in roles)
    if match.has is not None:
        has = frozenset(match.has)
        tests.append(lambda item: not has.isdisjoint(item.message.has) or (item.ours == "summary" and "summary" in has))
    if match.tokens is not None:
        tokens = match.tokens.holds
        tests.append(lambda item: tokens(item.tokens))
    if match.share is not None:
        share = match.share.holds
        tests.append(lambda item: share(item.tokens / limit))
    if match.name is not None:
        names = frozenset(match.name)
        tests.append(lambda item: item.message.name in names)
    if match.tool is not None:
        tests.append(_tool_test(match.tool))
    for key, wanted in (match.field or {}).items():
        tests.append(_field_test(key, wanted))
    for key, wanted in (match.meta or {}).items():
        tests.append(_meta_test(key, wanted))
    if match.contains is not None:
        needles = match.contains
        tests.append(lambda item: any(needle in item.message.text for needle in needles))
    if match.regex is not None:
        tests.append(_regex_test(match.regex))
    return conjunction(tests)


def conjunction(tests: list[Test]) -> Test:
    """One test that holds where all do; none always holds."""
    if len(tests) == 1:
        return tests[0]
    if len(tests) == 2:
        first, second = tests
        return lambda item: first(item) and second(item)
    return lambda item: all(t(item) for t in tests)


def _tool_test(globs: tuple[str, ...]) -> Test:
    plain = frozenset(g for g in globs if not set(g) & set("*?["))
    wild = [g for g in globs if g not in plain]

    def named(item: Item) -> bool:
        return any(t in plain or any(fnmatch.fnmatchcase(t, g) for g in wild) for t in item.tools)

    return named


def _field_test(key: str, wanted: tuple[Any, ...]) -> Test:
    def holds(item: Item) -> bool:
        found = item.message.wire if key in item.message.wire else recorded(item)
        return key in found and _equals(found[key], wanted)

    return holds


def recorded(item: Item) -> Mapping[str, Any]:
    """The fields of the record in which a message stands in a session log; its reader passes them beside it."""
    fields = item.meta.get(RECORDED) if item.meta is not None else None
    return fields if isinstance(fields, Mapping) else {}


def _meta_test(key: str, wanted: tuple[Any, ...]) -> Test:
    return lambda item: item.meta is not None and key in item.meta and _equals(item.meta[key], wanted)


def _equals(value: Any, wanted: tuple[Any, ...]) -> bool:
    """Equality of scalars (true is not 1); a list matches if it holds the value."""
    if isinstance(value, list):
        return any(_equals(v, wanted) for v in value if not isinstance(v, list))
    return any(value == w and isinstance(value, bool) is isinstance(w, bool) for w in wanted)


def _regex_test(patterns: tuple[str, ...]) -> Test:
    searches = [compile_regex(p).search for p in patterns]

    def found(item: Item) -> bool:
        text = encodable(item.message.text)
        return any(search(text) is not None for search in searches)

    return found


def compile_regex(pattern: str) -> Any:
    """An RE2 pattern: searched in linear time, without its own messages on stderr. Raises re2.error."""
    options = re2.Options()
    options.log_errors = False
    return re2.compile(pattern, options)


def encodable(text: str) -> str:
    """The text as RE2 and UTF-8 can take it: lone surrogates become U+FFFD."""
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text
