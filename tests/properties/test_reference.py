"""The engine and a plain second reading of the design agree on the list, the decisions and the events."""

from __future__ import annotations

from hypothesis import strategies as st
from properties.proof import acted, applied, proves
from properties.reference import Reference
from properties.strategies import REPLIES, Scenario, scenarios


@proves(scenario=scenarios(most=12))
def test_the_engine_agrees_with_the_reference(scenario: Scenario) -> bool:
    result = applied(scenario)
    expected = Reference(scenario.policy.spec).run(scenario.messages, scenario.meta, replies(scenario.script))
    assert result.messages == expected.messages
    assert [(d.fate, d.by) for d in result.decisions] == expected.decisions
    assert [(e.rule, e.acted) for e in result.events if e.rule] == expected.events
    return acted(result)


def replies(script: tuple[str, ...]):
    """The scripted summariser, as the reference calls it."""
    calls = iter(range(1_000_000))

    def reply():
        word = script[next(calls) % len(script)]
        if word == "raise":
            raise TimeoutError("no answer in time")
        return REPLIES[word]

    return reply


_ = st
