"""Units: calls and results stay together, in both directions."""

from __future__ import annotations

import pytest

from support import Notes, calls, filler, opening, result, said, steps, system, tool_faults, user

from .both import Make, both, fill, play


@both()
@pytest.mark.parametrize("parallel", [1, 3], ids=["one call", "parallel calls"])
def test_01_eviction_takes_a_call_with_all_its_results(make: Make, parallel: int) -> None:
    turns = []
    for n in range(20):
        ids = [f"c{n}-{k}" for k in range(parallel)]
        turns += [calls(*ids, arguments=filler(400 // parallel)), *(result(i, filler(20)) for i in ids)]
    window = make()  # no summariser: only eviction acts
    fill(window, [*opening(), *turns, said("done"), user("and now?")])
    out = window.prepare()
    assert len(out) < len(turns)
    assert tool_faults(out) == []


@both()
def test_02_the_kept_tail_may_not_begin_at_a_result(make: Make) -> None:
    ids = [f"p{n}" for n in range(6)]
    notes = Notes()
    window = make(summarize=notes)
    fill(window, [*opening(), *steps(28), calls(*ids), *(result(i, "ok") for i in ids), said("all six are fine")])
    out = window.prepare()
    assert notes.requests
    assert tool_faults(out) == []
    assert out[-8:-1] == [calls(*ids), *(result(i, "ok") for i in ids)]  # the last 4 messages, with their unit


@both()
def test_03_a_pin_on_a_call_holds_its_results(make: Make) -> None:
    notes = Notes()
    window = make(summarize=notes)
    fill(window, opening())
    window.append(calls("pinned"), meta={"pin": True})
    fill(window, [result("pinned", "the schema"), *steps(30)])
    out = window.prepare()
    assert notes.requests
    assert tool_faults(out) == []
    assert out[2:4] == [calls("pinned"), result("pinned", "the schema")]


@both()
def test_04_many_results_of_one_message_do_not_stop_compaction(make: Make) -> None:
    ids = [f"p{n}" for n in range(30)]
    notes = Notes()
    window = make(summarize=notes, evicts=False, step_back=True)
    out = play(window, [*opening(), calls(*ids), *(result(i, filler(60)) for i in ids), *steps(20)])
    assert notes.requests
    assert tool_faults(out) == []
    assert window.pressure() < 0.7


# Not for the naive list: this is about the oracle of these tests.
def test_05_the_oracle_looks_in_both_directions() -> None:
    assert tool_faults([user("go"), calls("a", "b"), result("a"), result("b"), said("done")]) == []
    assert tool_faults([user("go"), calls("a", "b"), result("a"), said("done")]) == ["call b without its result"]
    assert tool_faults([user("go"), result("a"), said("done")]) == ["result a without its call"]
    assert tool_faults([user("go"), calls("a"), result("a"), result("a")]) == ["result a without its call"]
    assert tool_faults([system(), calls("a")]) == ["call a without its result"]


@both()
def test_06_the_results_of_a_refused_message_are_refused_too(make: Make) -> None:
    window = make()
    fill(window, opening())
    too_large = calls("c1", "c2", arguments=filler(5000))
    for message in (too_large, result("c1"), result("c2")):
        try:
            window.append(message)
        except ValueError as error:
            assert "cannot be sent" in str(error)  # noqa: PT017 - the naive list accepts some of them
    assert window.prepare() == opening()
