"""A list that grows and is handed to the policy again and again, in each way that a caller may do it."""

from __future__ import annotations

import copy
from collections.abc import Iterator

from hypothesis import strategies as st

from ctxpolicy import Result, restore
from ctxpolicy.archive import MemoryArchive
from properties.proof import acted, all_acted, applied, proves
from properties.strategies import Scenario, Wire, scenarios

WAYS = ("originals", "returned", "returned without state")


@proves(scenario=scenarios(tight=True), way=st.sampled_from(WAYS), cuts=st.sets(st.integers(1, 40), max_size=3))
def test_everything_is_restored_after_many_rounds(scenario: Scenario, way: str, cuts: set[int]) -> bool:
    applied(scenario)  # not one that a refuse rule turns away
    archive = MemoryArchive()
    results = []
    for given, result in rounds(scenario, way, sorted(cuts), archive):
        assert restore(result.messages, archive) == given
        results.append(result)
    return all_acted(results)


def rounds(
    scenario: Scenario, way: str, cuts: list[int], archive: MemoryArchive
) -> Iterator[tuple[list[Wire], Result]]:
    """The caller's list so far and the result, for each round."""
    summarize = scenario.summarizer()
    shown: list[Wire] = []
    result: Result | None = None
    start = 0
    for stop in [*(c for c in cuts if c < len(scenario.messages)), len(scenario.messages)]:
        new = scenario.messages[start:stop]
        shown = scenario.messages[:stop] if way == "originals" else [*shown, *new]
        state = result.state if result and way != "returned without state" else None
        meta = {i: m for i, m in scenario.meta.items() if i < stop} if way == "originals" else {}
        result = scenario.apply(shown, state=state, archive=archive, summarize=summarize, meta=meta)
        yield scenario.messages[:stop], result
        shown, start = result.messages, stop


@proves(scenario=scenarios(tight=True))
def test_originals_with_the_state_give_the_same_bytes_and_ask_nothing_twice(scenario: Scenario) -> bool:
    first = applied(scenario)
    summarize = scenario.summarizer()
    second = scenario.apply(copy.deepcopy(scenario.messages), state=first.state, summarize=summarize)
    sends = {rule.id for rule in scenario.policy.spec.rules if rule.at == "send"}
    if not any(event.acted and event.rule in sends for event in second.events):
        assert second.messages == first.messages
    gone = [m for m, d in zip(scenario.messages, first.decisions, strict=True) if d.fate == "compacted"]
    for request in summarize.requests:
        rendered = [m for m in request.messages if m in gone]
        assert all(scenario.messages.count(m) > 1 for m in rendered), "a span was summarised twice"
    return acted(first)


@proves(scenario=scenarios(tight=True), keep=st.integers(0, 40))
def test_a_changed_history_never_breaks_a_list(scenario: Scenario, keep: int) -> bool:
    """State of another history: edits that do not fit are dropped with an event, and nothing is lost or raised."""
    first = applied(scenario)
    changed = copy.deepcopy(scenario.messages)
    del changed[keep % len(changed) + 1 :]
    if keep % 2:
        changed[0] = {"role": "system", "content": "You are another agent."}
    archive = MemoryArchive()
    second = scenario.apply(changed, state=first.state, archive=archive, meta={})
    assert second.decisions[-1].fate not in ("compacted", "evicted")
    known = MemoryArchive([r.record() for r in (*first.removed, *second.removed)])
    assert restore(second.messages, known) == changed
    return acted(first)


@proves(scenario=scenarios(tight=True))
def test_a_window_decides_as_apply_does(scenario: Scenario) -> bool:
    result = applied(scenario)
    window = scenario.policy.window(summarize=scenario.summarizer(), archive=MemoryArchive())
    for i, message in enumerate(scenario.messages):
        before = copy.deepcopy(message)
        window.append(message, scenario.meta.get(i))
        assert message == before
    prepared = window.prepare()
    assert prepared == result.messages
    assert window.result is not None
    assert window.result.decisions == result.decisions
    assert [(e.rule, e.acted, e.before, e.after, e.reason) for e in window.result.events] == [
        (e.rule, e.acted, e.before, e.after, e.reason) for e in result.events
    ]
    assert (window.result.usage, window.result.removed) == (result.usage, result.removed)
    assert not {id(m) for m in prepared} & {id(m) for m in scenario.messages}
    return acted(result)
