"""The engine and a plain second reading of the design agree on the list, the decisions and the events."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hypothesis import strategies as st

from ctxpolicy import Result
from properties.proof import acted, applied, proves
from properties.reference import Reference
from properties.strategies import REPLIES, Scenario, Wire, scenarios


@proves(scenario=scenarios(most=12))
def test_the_engine_agrees_with_the_reference(scenario: Scenario) -> bool:
    result = applied(scenario)
    assert_agreed(scenario, scenario.messages, result, scenario.meta)
    return acted(result)


@proves(scenario=scenarios(most=16), cut=st.integers(0, 30))
def test_they_agree_on_a_list_with_the_marks_of_an_earlier_run(scenario: Scenario, cut: int) -> bool:
    cut %= len(scenario.messages)
    applied(scenario)
    first = scenario.apply(scenario.messages[: cut + 1], meta={})
    grown = [*first.messages, *scenario.messages[cut + 1 :]]
    result = scenario.apply(grown, meta={})
    assert_agreed(scenario, grown, result, {})
    return acted(result)


def assert_agreed(scenario: Scenario, messages: list[Wire], result: Result, meta: Any) -> None:
    expected = Reference(scenario.policy.spec).run(messages, meta, replies(scenario.script))
    assert result.messages == expected.messages
    assert [(d.fate, d.by) for d in result.decisions] == expected.decisions
    assert [(e.rule, e.acted) for e in result.events if e.rule] == expected.events


def replies(script: tuple[str, ...]) -> Callable[[], Any]:
    """The scripted summariser, as the reference calls it."""
    calls = iter(range(1_000_000))

    def reply() -> Any:
        word = script[next(calls) % len(script)]
        if word == "raise":
            raise TimeoutError("no answer in time")
        return REPLIES[word]

    return reply
