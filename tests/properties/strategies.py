"""Random runs as a strategy of hypothesis, which shrinks what fails."""

from __future__ import annotations

from hypothesis import assume
from hypothesis import strategies as st

from properties.chance import Chance
from properties.scenarios import Scenario, scenario


@st.composite
def scenarios(draw: st.DrawFn, most: int = 18, tight: bool = False) -> Scenario:
    """Runs of up to `most` moves. `tight`: for what only shows where messages leave."""
    made = scenario(Chance(lambda least, most: draw(st.integers(least, most))), most, tight)
    assume(made is not None)
    assert made is not None
    return made
