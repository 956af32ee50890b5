"""The match language, compiled: what depends on a message alone becomes one test. `select` has what needs the list."""

from __future__ import annotations

import fnmatch
from collections.abc import Callable, Mapping
from typing import Any

import re2

from ctxpolicy.items import RECORDED, Item
from ctxpolicy.policy.model import Match

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


def by_message_alone(match: Match) -> bool:
    """True when no key of the match asks for a place in the list."""
    here = (match.opening, match.turn_age, match.superseded, match.newest, match.oldest, match.all_but_newest)
    children = [m for m in (match.not_, *(match.any_ or ()), *(match.all_ or ())) if m is not None]
    return all(key is None for key in here) and all(map(by_message_alone, children))


def test(match: Match, limit: int) -> Test:
    """A match by message alone, as one predicate."""
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
