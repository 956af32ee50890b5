"""What a result tells: figures, events and decisions, as assertions on a run."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

from ctxpolicy import Result
from properties.reference import M, Reference
from properties.runs import STAYS
from properties.scenarios import Scenario


def usage_agrees_with_a_count_of_the_lists(scenario: Scenario, result: Result) -> None:
    reference = Reference(scenario.policy.spec)
    usage = result.usage
    _assert_counted(usage.before, reference.read(scenario.messages, scenario.meta), reference.fixed)
    total = reference.fixed + sum(m.cost for m in reference.read(result.messages, {}))
    assert usage.after["total"] == total == reference.fixed + sum(v for k, v in usage.after.items() if k != "total")
    assert (usage.limit, usage.pressure) == (reference.limit, total / reference.limit)
    assert usage.fits is (total <= reference.limit)


def _assert_counted(usage: Any, items: list[M], fixed: int) -> None:
    assert usage["total"] == fixed + sum(m.cost for m in items)
    for role in {m.role for m in items}:
        assert usage.get(role, 0) == sum(m.cost for m in items if m.role == role)


def each_event_begins_where_the_one_before_ended(scenario: Scenario, result: Result) -> None:
    used = result.usage.before["total"]
    for event in result.events:
        assert event.before == used
        assert event.acted or event.after == event.before
        used = event.after
    assert used == result.usage.after["total"]
    ids = [r.id for r in scenario.policy.spec.rules if r.at == "send"]
    assert set(ids) <= {event.rule for event in result.events}, "a send rule said nothing"


def decisions_agree_with_the_output(scenario: Scenario, result: Result) -> None:
    there = Counter(map(id, result.messages))
    texts = json.dumps(result.messages)
    acting = {event.rule or event.action for event in result.events if event.acted}
    assert [d.index for d in result.decisions] == list(range(len(scenario.messages)))
    for message, decision in zip(scenario.messages, result.decisions, strict=True):
        assert (decision.fate in STAYS) is (there[id(message)] == 1)
        if decision.fate in STAYS:
            assert decision.left == decision.tokens
            assert decision.ref is None
        else:
            assert decision.by in acting
            assert decision.fate == "repaired" or decision.ref in texts
