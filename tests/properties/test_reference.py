"""The engine and a plain second reading of the design agree on the list, the decisions and the events."""

from __future__ import annotations

from hypothesis import strategies as st

from properties.agreement import is_known, the_reference_agrees, the_reference_agrees_on_the_marks_of_an_earlier_run
from properties.proof import applied, proves
from properties.runs import acted
from properties.scenarios import Scenario
from properties.strategies import scenarios

KNOWN = scenarios(most=12).filter(is_known)


@proves(scenario=KNOWN)
def test_the_engine_agrees_with_the_reference(scenario: Scenario) -> bool:
    result = applied(scenario)
    the_reference_agrees(scenario, result)
    return acted(result)


@proves(scenario=KNOWN, length=st.integers(0, 30))
def test_they_agree_on_a_list_with_the_marks_of_an_earlier_run(scenario: Scenario, length: int) -> bool:
    applied(scenario)
    length = 1 + length % len(scenario.messages)
    return acted(the_reference_agrees_on_the_marks_of_an_earlier_run(scenario, length))
