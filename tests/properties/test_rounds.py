"""A list that grows and is handed to the policy again and again, in each way that a caller may do it."""

from __future__ import annotations

from hypothesis import strategies as st

from properties import rounds
from properties.proof import all_acted, applied, proves
from properties.rounds import WAYS
from properties.runs import acted
from properties.scenarios import Scenario
from properties.strategies import scenarios

TIGHT = scenarios(tight=True)
STOPS = st.sets(st.integers(1, 40), max_size=3)


@proves(scenario=TIGHT, way=st.sampled_from(WAYS), stops=STOPS)
def test_everything_is_restored_after_many_rounds(scenario: Scenario, way: str, stops: set[int]) -> bool:
    applied(scenario)  # not one that a refuse rule turns away
    return all_acted(rounds.everything_is_restored_after_many_rounds(scenario, way, sorted(stops)))


@proves(scenario=TIGHT)
def test_originals_with_the_state_give_the_same_bytes_and_ask_nothing_twice(scenario: Scenario) -> bool:
    first = applied(scenario)
    rounds.originals_with_the_state_give_the_same_bytes_and_ask_nothing_twice(scenario, first)
    return acted(first)


@proves(scenario=TIGHT, keep=st.integers(0, 40))
def test_a_changed_history_never_breaks_a_list(scenario: Scenario, keep: int) -> bool:
    first = applied(scenario)
    rounds.a_changed_history_never_breaks_a_list(scenario, first, keep)
    return acted(first)


@proves(scenario=TIGHT)
def test_a_window_decides_as_apply_does(scenario: Scenario) -> bool:
    result = applied(scenario)
    rounds.a_window_decides_as_apply_does(scenario, result)
    return acted(result)
