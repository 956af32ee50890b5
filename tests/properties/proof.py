"""A property test that can only pass when the rules really did something."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any

from hypothesis import given, reject
from hypothesis import strategies as st

from ctxpolicy import MessageTooLarge, Result
from properties.strategies import Scenario

LEAST = 0.3  # of the runs must act


def proves(**drawn: st.SearchStrategy[Any]) -> Callable[[Callable[..., bool]], Callable[[], None]]:
    """Make a test of a body that asserts over drawn values and returns whether a rule acted in a way that matters."""

    def made(body: Callable[..., bool]) -> Callable[[], None]:
        def test() -> None:
            runs: Counter[bool] = Counter()
            given(**drawn)(lambda **values: runs.update([bool(body(**values))]))()
            share = runs[True] / max(1, runs.total())
            assert share >= LEAST, f"only {share:.0%} of {runs.total()} runs acted: the property proves nothing"

        test.__name__, test.__doc__ = body.__name__, body.__doc__
        return test

    return made


def applied(scenario: Scenario, *args: Any, **options: Any) -> Result:
    """The scenario's run; one that a refuse rule turns away is drawn anew."""
    try:
        return scenario.apply(*args, **options)
    except MessageTooLarge:
        reject()


def acted(result: Result, *actions: str) -> bool:
    """True where a rule (of these actions) acted."""
    return any(e.acted and (not actions or e.action in actions) for e in result.events)


def all_acted(results: Iterable[Result]) -> bool:
    return any(map(acted, results))
