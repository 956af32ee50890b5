"""A little of the long fuzz: it finds nothing, checks what it says, and would notice."""

from __future__ import annotations

from typing import Any

import pytest

from ctxpolicy import Result
from fuzz.pairs import Pair, draw, snippet
from fuzz.shrink import shrunk
from fuzz.tally import Tally
from fuzz.verdict import judge
from properties.proof import LEAST
from properties.scenarios import Scenario

SEED, PAIRS = 2, 200


@pytest.fixture(scope="module")
def tally() -> Tally:
    total = Tally()
    for start in range(0, PAIRS, 50):
        part = Tally()
        for number in range(start, start + 50):
            part.add(number, judge(draw(SEED, number)))
        total.merge(part)
    return total


def test_every_check_holds(tally: Tally) -> None:
    assert (tally.pairs, dict(tally.failed)) == (PAIRS, {})


def test_every_check_is_made_and_rules_act_in_it(tally: Tally) -> None:
    assert min(tally.made.values()) >= PAIRS / 4
    assert all(tally.counted[name] >= LEAST * times for name, times in tally.made.items())
    assert {"truncate", "mask", "compact", "evict"} <= set(tally.acted)
    assert tally.refused > 0


def test_a_pair_is_drawn_the_same_again_and_its_snippet_runs() -> None:
    pair = draw(SEED, 7)
    assert draw(SEED, 7) == pair != draw(SEED + 1, 7)
    run: dict[str, Any] = {}
    exec(snippet(pair), run)
    assert run["scenario"] == pair.scenario
    assert run["result"].messages == pair.scenario.apply().messages


def test_a_fault_is_noticed_and_named(monkeypatch: pytest.MonkeyPatch) -> None:
    sound = Scenario.apply

    def unsound(self: Scenario, *args: Any, **options: Any) -> Result:
        result = sound(self, *args, **options)
        result.messages.reverse()
        return result

    monkeypatch.setattr(Scenario, "apply", unsound)
    verdict = judge(draw(SEED, 7))
    assert "order is kept something stays and the last message stays last" in {f.check for f in verdict.failures}
    tally = Tally()
    tally.add(7, verdict)
    assert "  keeping.py: assert places == sorted(places)" in list(tally.lines())


def test_a_failing_pair_is_made_small() -> None:
    def fails(pair: Pair) -> bool:
        return any(message["role"] == "assistant" for message in pair.scenario.messages)

    small = shrunk(draw(SEED, 7), fails)
    assert [message["role"] for message in small.scenario.messages] == ["assistant"]
    assert (small.scenario.doc["pins"], small.scenario.meta, small.stops) == ([], {}, [])
