"""A property test that can only pass when the rules really did something."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any

from hypothesis import given, reject, settings
from hypothesis import strategies as st

from ctxpolicy import MessageTooLarge, Result
from properties.runs import acted
from properties.scenarios import Scenario

LEAST = 0.3  # of the runs must act
ENOUGH = 100  # of them, to judge that: which ones hypothesis draws depends on what has been imported


def assert_proved(body: Callable[..., bool], **drawn: st.SearchStrategy[Any]) -> None:
    """Run a body that asserts over drawn values and returns whether a rule acted in a way that matters."""
    runs: Counter[bool] = Counter()
    enough = settings(max_examples=max(ENOUGH, settings().max_examples))
    enough(given(**drawn)(lambda **values: runs.update([bool(body(**values))])))()
    share = runs[True] / max(1, runs.total())
    assert share >= LEAST, f"only {share:.0%} of {runs.total()} runs acted: the property proves nothing"


def proves(**drawn: st.SearchStrategy[Any]) -> Callable[[Callable[..., bool]], Callable[[], None]]:
    """Make a test of such a body."""

    def made(body: Callable[..., bool]) -> Callable[[], None]:
        def test() -> None:
            assert_proved(body, **drawn)

        test.__name__, test.__doc__ = body.__name__, body.__doc__
        return test

    return made


def applied(scenario: Scenario, *args: Any, **options: Any) -> Result:
    """The scenario's run; one that a refuse rule turns away is drawn anew."""
    try:
        return scenario.apply(*args, **options)
    except MessageTooLarge:
        reject()


def all_acted(results: Iterable[Result]) -> bool:
    return any(map(acted, results))
