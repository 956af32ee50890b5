"""A list that grows and is handed to the policy again and again, in each way that a caller may do it; as assertions."""

from __future__ import annotations

import copy
import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from ctxpolicy import Result, restore
from ctxpolicy.archive import MemoryArchive
from ctxpolicy.window import ManagedWindow
from properties.oddities import oddities
from properties.runs import GONE
from properties.scenarios import Scenario, Scripted
from properties.soundness import has_twins
from properties.transcripts import Wire

WAYS = ("originals", "returned", "returned without state")


def everything_is_restored_after_many_rounds(scenario: Scenario, way: str, stops: Sequence[int]) -> list[Result]:
    """`stops` are the lengths of the caller's list at which the policy is applied; at its end it always is."""
    archive = MemoryArchive()
    results = []
    for given, result in _rounds(scenario, way, stops, archive):
        assert has_twins(scenario) or restore(result.messages, archive) == given
        results.append(result)
    return results


def _rounds(
    scenario: Scenario, way: str, stops: Sequence[int], archive: MemoryArchive
) -> Iterator[tuple[list[Wire], Result]]:
    """The caller's list so far and the result, for each round."""
    summarize = scenario.summarizer()
    shown: list[Wire] = []
    result: Result | None = None
    start = 0
    for stop in _within(stops, scenario):
        new = scenario.messages[start:stop]
        shown = scenario.messages[:stop] if way == "originals" else [*shown, *new]
        state = result.state if result and way != "returned without state" else None
        meta = {i: m for i, m in scenario.meta.items() if i < stop} if way == "originals" else {}
        result = scenario.apply(shown, state=state, archive=archive, summarize=summarize, meta=meta)
        yield scenario.messages[:stop], result
        shown, start = result.messages, stop


def _within(stops: Sequence[int], scenario: Scenario) -> list[int]:
    size = len(scenario.messages)
    return [*sorted(stop for stop in stops if 0 < stop < size), size]


def originals_with_the_state_give_the_same_bytes_and_ask_nothing_twice(scenario: Scenario, first: Result) -> None:
    summarize = scenario.summarizer()
    second = scenario.apply(copy.deepcopy(scenario.messages), state=first.state, summarize=summarize)
    sends = {rule.id for rule in scenario.policy.spec.rules if rule.at == "send"}
    if not any(event.acted and event.rule in sends for event in second.events):
        assert second.messages == first.messages
    gone = [m for m, d in zip(scenario.messages, first.decisions, strict=True) if d.fate == "compacted"]
    for request in summarize.requests:
        rendered = [m for m in request.messages if m in gone]
        assert all(scenario.messages.count(m) > 1 for m in rendered), "a span was summarised twice"


def a_changed_history_never_breaks_a_list(scenario: Scenario, first: Result, keep: int) -> None:
    """State of another history: edits that do not fit are dropped with an event, and nothing is lost or raised."""
    changed = copy.deepcopy(scenario.messages)
    del changed[keep % len(changed) + 1 :]
    if keep % 2:
        changed[0] = {"role": "system", "content": "You are another agent."}
    archive = MemoryArchive()
    second = scenario.apply(changed, state=first.state, archive=archive, meta={})
    assert second.decisions[-1].fate not in GONE
    known = MemoryArchive([r.record() for r in (*first.removed, *second.removed)])
    assert has_twins(scenario) or restore(second.messages, known) == changed


def a_window_decides_as_apply_does(scenario: Scenario, result: Result) -> None:
    window = _window(scenario, scenario.summarizer(), MemoryArchive())
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


class Prepared(NamedTuple):
    """What a window sent, and its tokens by role as read."""

    messages: list[Wire]
    tokens: Mapping[str, int]


def a_live_window_stays_sound(scenario: Scenario, stops: Sequence[int]) -> list[Prepared]:
    """Messages come in one by one, with a `prepare` at each stop; what came of these."""
    archive = MemoryArchive()
    window = _window(scenario, scenario.summarizer(), archive)
    found: list[Prepared] = []
    start = 0
    for stop in _within(stops, scenario):
        _append(window, scenario, start, stop)
        prepared = _prepared(window)
        assert has_twins(scenario) or restore(prepared.messages, archive) == scenario.messages[:stop]
        assert not oddities(prepared.messages) - allowed(scenario.messages[:stop])
        assert window.messages == prepared.messages
        found.append(prepared)
        start = stop
    return found


def _prepared(window: ManagedWindow) -> Prepared:
    messages = copy.deepcopy(list(window.prepare()))
    assert window.result is not None
    assert not any("the step failed" in event.reason for event in window.result.events)
    return Prepared(messages, window.result.usage.after)


def allowed(messages: Sequence[Wire]) -> Counter[str]:
    """What may be odd in a list: a late or second result may come when its call has left already."""
    had = oddities(messages)
    astray = had["late"] + had["double"]
    return had + Counter(orphan=astray, double=astray)


def a_window_goes_on_after_a_dump(
    scenario: Scenario, stops: Sequence[int], at: int, expected: Sequence[Prepared]
) -> None:
    """Dumped and taken up again when it holds `at` messages, a window gives the lists that it gives undisturbed.

    Two things are not in a dump: how many messages a rank of `read_as` has seen that are no longer in the list, and
    that a message was cut on arrival, when `strip_after_edit` looks at what has come since.
    """
    spec = scenario.policy.spec
    if spec.reasoning == "strip_after_edit" or any(entry.match.oldest is not None for entry in spec.read_as):
        return
    archive, summarize = MemoryArchive(), scenario.summarizer()
    window = _window(scenario, summarize, archive)
    start = 0
    for stop, wanted in zip(_within(stops, scenario), expected, strict=True):
        if start <= at < stop:
            _append(window, scenario, start, at)
            before = window.messages
            dump = json.loads(json.dumps(window.dump()))
            window = scenario.policy.resume(dump, summarize=summarize, archive=archive)
            assert window.messages == before
            start = at
        _append(window, scenario, start, stop)
        prepared = _prepared(window)
        assert prepared.messages == wanted.messages
        assert prepared.tokens == wanted.tokens
        start = stop


def originals_with_the_state_decide_as_a_window_does(
    scenario: Scenario, stops: Sequence[int], expected: Sequence[Prepared]
) -> None:
    """The caller's whole list with the last state, at each stop, gives the lists of a window.

    Up to where an edit is dropped, as for a result that comes when its call has left: the state gives the call back, a
    window cannot.
    """
    rounds = _rounds(scenario, "originals", stops, MemoryArchive())
    for (_, result), wanted in zip(rounds, expected, strict=True):
        if any(" was dropped: " in event.reason for event in result.events):
            return
        assert result.messages == wanted.messages


def _window(scenario: Scenario, summarize: Scripted, archive: MemoryArchive) -> ManagedWindow:
    return scenario.policy.window(summarize=summarize, archive=archive)


def _append(window: ManagedWindow, scenario: Scenario, start: int, stop: int) -> None:
    for i in range(start, stop):
        window.append(scenario.messages[i], scenario.meta.get(i))
