"""The invariants of every run, over random policies and transcripts; each holds in runs of which a third really act."""

from __future__ import annotations

import pytest

from properties.invariants import INVARIANTS, Invariant
from properties.proof import applied, assert_proved
from properties.scenarios import Scenario
from properties.strategies import scenarios


@pytest.mark.parametrize("invariant", INVARIANTS, ids=lambda invariant: invariant.holds.__name__)
def test_it_holds_of_every_run_that(invariant: Invariant) -> None:
    def body(scenario: Scenario) -> bool:
        scenario = invariant.varied(scenario)
        result = applied(scenario)
        invariant.holds(scenario, result)
        return invariant.counts(scenario, result)

    assert_proved(body, scenario=scenarios(tight=invariant.tight))
