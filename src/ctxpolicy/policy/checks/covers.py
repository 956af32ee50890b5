"""Whether one match holds wherever another does."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from ctxpolicy.policy.checks.walk import RANKS, nested
from ctxpolicy.policy.model import Compare, Match, Scalar

_LISTS = ("role", "name", "tool", "contains", "regex", "has")
_BOUNDS = ("tokens", "share", "turn_age")
_EQUAL = ("field", "meta")
_FLAGS = ("opening", "superseded")


def covers(wide: Match, narrow: Match) -> bool:
    """True only if `wide` surely matches every message that `narrow` matches. Where in doubt, False."""
    if wide.everything or (wide == narrow and repr(wide) == repr(narrow)):  # 1 equals True, and does not match it
        return True
    if narrow.any_ and all(covers(wide, one) for one in narrow.any_):
        return True
    if any(covers(wide, one) for one in narrow.all_ or ()):
        return True
    return not ranked(wide) and _own(wide, narrow) and _inner(wide, narrow)


def ranked(match: Match) -> bool:
    """True when a match, or one inside it, has a rank: then what it matches depends on what else it matches."""
    return any(getattr(inner, rank) is not None for _, inner, _ in nested((), match) for rank in RANKS)


def _own(wide: Match, narrow: Match) -> bool:
    return (
        all(_subset(getattr(narrow, key), getattr(wide, key)) for key in _LISTS)
        and all(_within(getattr(narrow, key), getattr(wide, key)) for key in _BOUNDS)
        and all(_equal(getattr(narrow, key), getattr(wide, key)) for key in _EQUAL)
        and all(getattr(wide, key) in (None, getattr(narrow, key)) for key in _FLAGS)
    )


def _inner(wide: Match, narrow: Match) -> bool:
    if wide.not_ is not None and not (narrow.not_ and not ranked(narrow.not_) and covers(narrow.not_, wide.not_)):
        return False
    if wide.any_ is not None and not any(covers(one, narrow) for one in wide.any_):
        return False
    return all(covers(one, narrow) for one in wide.all_ or ())


def _subset(narrow: Collection[str] | None, wide: Collection[str] | None) -> bool:
    return wide is None or (narrow is not None and set(narrow) <= set(wide))


def _within(narrow: Compare | None, wide: Compare | None) -> bool:
    """Every number inside `narrow` is inside `wide`."""
    if wide is None:
        return True
    narrow = narrow or Compare()
    low, high = _low(narrow), _high(narrow)
    return low >= _low(wide) and high <= _high(wide)


def _low(bounds: Compare) -> tuple[float, bool]:
    """The lower bound, and whether it is itself outside; ordered by how much it leaves out."""
    given = [(value, strict) for value, strict in ((bounds.gt, True), (bounds.gte, False)) if value is not None]
    return max(given, default=(float("-inf"), False))


def _high(bounds: Compare) -> tuple[float, bool]:
    """The upper bound, and whether it is itself inside; ordered by how much it lets in."""
    given = [(value, loose) for value, loose in ((bounds.lt, False), (bounds.lte, True)) if value is not None]
    return min(given, default=(float("inf"), True))


def _equal(narrow: Mapping[str, tuple[Scalar, ...]] | None, wide: Mapping[str, tuple[Scalar, ...]] | None) -> bool:
    # The type belongs to the value: 1 is not true.
    typed = {key: {(type(v), v) for v in values} for key, values in (narrow or {}).items()}
    return all(key in typed and typed[key] <= {(type(v), v) for v in values} for key, values in (wide or {}).items())
