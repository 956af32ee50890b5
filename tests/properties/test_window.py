"""A window under a live loop's conditions: whatever comes in whatever order, each prepared list is sound."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule, run_state_machine_as_test

from ctxpolicy import MessageTooLarge, restore
from ctxpolicy.archive import MemoryArchive
from properties.oddities import oddities
from properties.proof import LEAST
from properties.reference import Reference
from properties.rounds import allowed
from properties.runs import acted
from properties.scenarios import Scenario, Scripted
from properties.strategies import scenarios
from properties.transcripts import Wire

ACTED: Counter[bool] = Counter()  # machines in which a rule did or did not act


class Flaky(MemoryArchive):
    """An archive whose disk may be full."""

    full = was_full = False

    def put(self, records: Any) -> None:
        if self.full:
            self.was_full = True
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
    @initialize(scenario=scenarios(most=30, tight=True))
    def begin(self, scenario: Scenario) -> None:
        self.scenario = scenario
        self.coming = list(enumerate(scenario.messages))
        self.archive, self.model = Flaky(), Model(scenario.script)
        self.appended: list[Wire] = []
        self.acted = False
        self.window = scenario.policy.window(summarize=self.model, archive=self.archive)

    @precondition(lambda self: self.coming)
    @rule(count=st.integers(3, 12))
    def append(self, count: int) -> None:
        for i, message in self.coming[:count]:
            before = self.window.messages
            try:
                self.window.append(message, self.scenario.meta.get(i))
                self.appended.append(message)
            except MessageTooLarge:
                assert self.window.messages == before
        del self.coming[:count]

    @rule(what=st.sampled_from(("summariser", "disk")))
    def trouble_comes_and_goes(self, what: str) -> None:
        if what == "disk":
            self.archive.full = not self.archive.full
        else:
            self.model.away = not self.model.away

    @precondition(lambda self: self.window.result)
    @rule(factor=st.sampled_from((0.3, 0.8, 1.2, 5, None)))
    def observe(self, factor: float | None) -> None:
        """The provider tells what the last list cost, or that it was too long (None)."""
        before = self.window.pressure()
        if factor is None:
            self.window.observe_overflow()
            assert self.window.pressure() >= before
        else:
            self.window.observe({"prompt_tokens": int(self.window.result.usage.after["total"] * factor)})

    @rule()
    def dump_and_resume(self) -> None:
        dump = json.loads(json.dumps(self.window.dump()))
        before = self.window.messages
        self.window = self.scenario.policy.resume(dump, summarize=self.model, archive=self.archive)
        had = oddities(self.appended)
        # Results whose call may have left, and what an archive turned away, are looked at by the append rules anew.
        if not (self.archive.was_full or had["late"] or had["double"] or had["orphan"]):
            assert self.window.messages == before

    @rule(count=st.integers(3, 12))
    def turn(self, count: int) -> None:
        self.append(count)
        if self.appended:
            self.prepare()

    @precondition(lambda self: self.appended)
    @rule()
    def prepare(self) -> None:
        given = restore(self.window.messages, self.archive)
        prepared = self.window.prepare()
        result = self.window.result
        self.acted = self.acted or acted(result)
        assert restore(prepared, self.archive) == self.appended
        assert len(given) == len(self.appended)
        self.check_list(prepared)
        self.check_figures(result)
        before = self.window.messages
        for message in prepared:
            message.clear()
        assert self.window.messages == before

    def teardown(self) -> None:
        if getattr(self, "appended", None):
            ACTED[self.acted] += 1

    def check_list(self, prepared: list[Wire]) -> None:
        assert not oddities(prepared) - allowed(self.appended)
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


def test_a_window_stays_sound() -> None:
    ACTED.clear()
    run_state_machine_as_test(Loop, settings=settings(stateful_step_count=30))
    assert ACTED[True] >= LEAST * ACTED.total(), f"{ACTED}: the machine proves nothing"
