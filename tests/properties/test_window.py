"""A window under a live loop's conditions: whatever comes in whatever order, each prepared list is sound."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule
from properties.proof import acted
from properties.reference import Reference
from properties.strategies import Scenario, Scripted, Wire, scenarios
from properties.test_invariants import oddities

from ctxpolicy import MessageTooLarge, restore
from ctxpolicy.archive import MemoryArchive

ACTED = {"runs": 0, "acted": 0}


class Flaky(MemoryArchive):
    """An archive whose disk may be full."""

    full = False

    def put(self, records: Any) -> None:
        if self.full:
            raise OSError(28, "No space left on device")
        super().put(records)


class Model(Scripted):
    """A scripted summariser that may be out of reach."""

    away = False

    def __call__(self, request: Any) -> Any:
        if self.away:
            raise ConnectionError("unreachable")
        return super().__call__(request)


class Loop(RuleBasedStateMachine):
    @initialize(scenario=scenarios(most=30))
    def begin(self, scenario: Scenario) -> None:
        self.scenario = scenario
        self.coming = list(enumerate(scenario.messages))
        self.archive, self.model = Flaky(), Model(scenario.script)
        self.appended: list[Wire] = []
        self.window = scenario.policy.window(summarize=self.model, archive=self.archive)

    @precondition(lambda self: self.coming)
    @rule(count=st.integers(1, 8))
    def append(self, count: int) -> None:
        for i, message in self.coming[:count]:
            before = self.window.messages
            try:
                self.window.append(message, self.scenario.meta.get(i))
                self.appended.append(message)
            except MessageTooLarge:
                assert self.window.messages == before
        del self.coming[:count]

    @rule()
    def summariser_comes_and_goes(self) -> None:
        self.model.away = not self.model.away

    @rule()
    def disk_fills_and_empties(self) -> None:
        self.archive.full = not self.archive.full

    @precondition(lambda self: self.window.result)
    @rule(factor=st.sampled_from((0.3, 0.8, 1.2, 5)))
    def observe(self, factor: float) -> None:
        self.window.observe({"prompt_tokens": int(self.window.result.usage.after["total"] * factor)})

    @precondition(lambda self: self.appended)
    @rule()
    def overflow(self) -> None:
        self.window.observe_overflow()
        assert self.window.pressure() > 1 or self.window.pressure() * 2 > 0

    @rule()
    def dump_and_resume(self) -> None:
        dump = json.loads(json.dumps(self.window.dump()))
        before = self.window.messages
        self.window = self.scenario.policy.resume(dump, summarize=self.model, archive=self.archive)
        if not self.archive.full:  # else what was cut on arrival is dumped whole
            assert self.window.messages == before

    @precondition(lambda self: self.appended)
    @rule()
    def prepare(self) -> None:
        given = restore(self.window.messages, self.archive)
        prepared = self.window.prepare()
        result = self.window.result
        ACTED["runs"] += 1
        ACTED["acted"] += acted(result)
        assert restore(prepared, self.archive) == self.appended
        assert len(given) == len(self.appended)
        self.check_list(prepared)
        self.check_figures(result)
        before = self.window.messages
        for message in prepared:
            message.clear()
        assert self.window.messages == before

    def check_list(self, prepared: list[Wire]) -> None:
        assert not oddities(prepared) - oddities(self.appended)
        last = self.appended[-1]
        assert prepared[-1]["role"] == last["role"]
        assert prepared[-1].get("tool_call_id") == last.get("tool_call_id")
        if any(m["role"] == "user" for m in self.appended):
            assert any(m["role"] == "user" for m in prepared)

    def check_figures(self, result: Any) -> None:
        used = result.usage.before["total"]
        for event in result.events:
            assert event.before == used
            used = event.after
            assert "the step failed" not in event.reason
        reference = Reference(self.scenario.policy.spec)
        counted = reference.fixed + sum(m.cost for m in reference.read(result.messages, {}))
        assert used == counted == result.usage.after["total"]
        assert result.usage.after["total"] <= result.usage.before["total"]


class TestLoop(Loop.TestCase):
    def test_really_acts(self) -> None:
        """Runs after the machine (its name sorts behind `runTest`)."""
        assert ACTED["runs"] == 0 or ACTED["acted"] >= 0.3 * ACTED["runs"], ACTED
