"""The match language, compiled: what depends on a message alone becomes one test. `select` has what needs the list."""

from __future__ import annotations

import fnmatch
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import re2

from ctxpolicy.items import RECORDED, Item
from ctxpolicy.policy.model import Compare, Match

Test = Callable[[Item], bool]


def always(_: Item) -> bool:
    return True


class Traits:
    """Tests on single messages, numbered. Their answers are kept on the item as bits and found out once.

    Most tests ask for a role first, so they are sorted by role: an item meets only those that its role leaves open.
    """

    def __init__(self) -> None:
        self._tests: list[tuple[Sequence[str] | None, Test]] = []
        self._by_role: dict[str, tuple[int, list[tuple[int, Test]]]] = {}

    def add(self, roles: Sequence[str] | None, test: Test) -> int:
        """The bit mask of a test on messages of these roles (None: of any)."""
        self._tests.append((roles, test))
        self._by_role.clear()
        return 1 << (len(self._tests) - 1)

    def of(self, item: Item) -> int:
        """All answers for an item, as bits."""
        bits = item.traits
        if bits < 0:
            bits, tests = self._by_role.get(item.role) or self._open_to(item.role)
            for bit, test in tests:
                if test(item):
                    bits |= bit
            item.traits = bits
        return bits

    def _open_to(self, role: str) -> tuple[int, list[tuple[int, Test]]]:
        """The bits that the role alone decides, and the tests it leaves open."""
        asked = [(1 << i, test) for i, (roles, test) in enumerate(self._tests) if roles is None or role in roles]
        settled = sum(bit for bit, test in asked if test is always)
        self._by_role[role] = settled, [(bit, test) for bit, test in asked if test is not always]
        return self._by_role[role]


def by_message_alone(match: Match) -> bool:
    """True when no key of the match asks for a place in the list."""
    here = (match.opening, match.turn_age, match.superseded, match.newest, match.oldest, match.all_but_newest)
    children = [m for m in (match.not_, *(match.any_ or ()), *(match.all_ or ())) if m is not None]
    return all(key is None for key in here) and all(map(by_message_alone, children))


def test(match: Match, limit: int) -> Test:
    """A match by message alone, as one predicate."""
    roles = frozenset(match.role or ())
    of_role = [lambda item: item.role in roles] if roles else []
    return conjunction([*of_role, test_of_role(match, limit)])


def test_of_role(match: Match, limit: int) -> Test:
    """The same for messages that are known to have the right role."""
    tests = [own_test(match, limit)]
    if match.not_ is not None:
        inner = test(match.not_, limit)
        tests.append(lambda item: not inner(item))
    if match.all_ is not None:
        tests += [test(m, limit) for m in match.all_]
    if match.any_ is not None:
        choices = [test(m, limit) for m in match.any_]
        tests.append(lambda item: any(choice(item) for choice in choices))
    return conjunction(tests)


def own_test(match: Match, limit: int) -> Test:
    """The keys of this mapping, `role` apart, that look at the message alone, cheapest first."""
    tests: list[Test] = []
    if match.has is not None:
        has = frozenset(match.has)
        tests.append(lambda item: not has.isdisjoint(item.message.has) or (item.ours == "summary" and "summary" in has))
    if match.tokens is not None:
        tokens = bounds(match.tokens)
        tests.append(lambda item: tokens(item.tokens))
    if match.share is not None:
        share = bounds(match.share)
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


def bounds(compare: Compare) -> Callable[[float], bool]:
    """The bounds as a test; with a single one, as most have, the bare comparison."""
    given = [(name, bound) for name in _COMPARED if (bound := getattr(compare, name)) is not None]
    return _COMPARED[given[0][0]](given[0][1]) if len(given) == 1 else compare.holds


_COMPARED: dict[str, Callable[[float], Callable[[float], bool]]] = {
    "gt": lambda bound: lambda value: value > bound,
    "gte": lambda bound: lambda value: value >= bound,
    "lt": lambda bound: lambda value: value < bound,
    "lte": lambda bound: lambda value: value <= bound,
}


def conjunction(tests: list[Test]) -> Test:
    """One test that holds where all do; none always holds."""
    tests = [test for test in tests if test is not always]
    if len(tests) < 2:
        return tests[0] if tests else always
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
        found = item.message.wire
        if key not in found:
            if item.meta is None:
                return False
            found = recorded(item)
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
