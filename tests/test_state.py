"""State between runs: the caller's originals or the returned list, forks, other policies, dumps."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import pytest

import ctxpolicy
from ctxpolicy import CtxPolicyError, ManagedWindow, Policy, Result
from ctxpolicy.archive import MemoryArchive
from support import (
    Message,
    Notes,
    acted,
    calls,
    filler,
    frozen,
    is_mark,
    marks,
    opening,
    policy,
    policy_text,
    reasons,
    result,
    said,
    steps,
    summaries,
    through_json,
    tool_faults,
    user,
)

SESSION: list[Message] = [
    *opening("The task: port the parser, then the lexer. " + filler(60)),
    *steps(20),
    said("The parser is ported."),
    user("Good. Use staging for the lexer."),
    *steps(30, start=20),
    said("The lexer is ported too. " + filler(120)),
    user("Now the printer. " + filler(50)),
    *steps(30, start=50),
]
MODEL_CALLS = [n for n, message in enumerate(SESSION) if message["role"] == "assistant"]  # lists sent: SESSION[:n]


def session(made: Policy, notes: Any, carry: Callable[[Any], Any] = lambda value: value) -> list[Result]:
    """`apply` before every model call, with the originals so far and the last state."""
    results: list[Result] = []
    for n in MODEL_CALLS:
        state = results[-1].state if results else None
        results.append(made.apply(carry(SESSION[:n]), summarize=notes, state=carry(state)))
    return results


# ---- the originals, every time ------------------------------------------------------------------


def test_originals_give_the_same_bytes_and_each_span_is_summarised_once() -> None:
    notes = Notes()
    results = session(policy(), notes)
    assert len(notes.requests) >= 4
    for before, after, size, longer in zip(results, results[1:], MODEL_CALLS, MODEL_CALLS[1:], strict=False):
        if not acted(after.events):
            assert after.messages == [*before.messages, *SESSION[size:longer]]
    for n in range(80):
        assert sum(f"output {n} " in request.span for request in notes.requests) <= 1
    assert sum(len(acted(r.events, "compact")) for r in results) == len(notes.requests)


def test_a_compaction_leaves_the_list_before_its_span_as_it_was() -> None:
    results = session(policy(), Notes())
    for before, after in pairwise(results):
        for event in acted(after.events):
            place = next(i for i, m in enumerate(after.messages) if event.ref and event.ref in str(m["content"]))
            assert after.messages[:place] == before.messages[:place]


def test_the_same_list_and_state_again_change_nothing() -> None:
    notes = Notes()
    for outcome in session(policy(), notes)[::7]:
        size = outcome.decisions[-1].index + 1
        asked = len(notes.requests)
        again = policy().apply(SESSION[:size], summarize=notes, state=outcome.state)
        assert again.messages == outcome.messages
        assert acted(again.events) == []
        assert len(notes.requests) == asked
        assert again.state == outcome.state


def test_untouched_messages_come_back_as_the_same_objects() -> None:
    last = session(policy(), Notes())[-1]
    ids = {id(message) for message in SESSION}
    assert all(id(m) in ids for m in last.messages if not is_mark(m))


def test_decisions_are_about_the_originals() -> None:
    results = session(policy(), Notes())
    last = results[-1]
    assert [d.index for d in last.decisions] == list(range(MODEL_CALLS[-1]))
    gone = [d for d in last.decisions if d.fate == "compacted"]
    assert len(gone) > 60
    assert {d.ref for d in gone} == {r for m in marks(last.messages) for r in [m["content"].split("ref ")[1][:12]]}
    assert last.decisions[1].fate == "pinned"


@pytest.mark.parametrize("summarize", [Notes(), Notes("NOTHING"), None], ids=["summary", "NOTHING", "eviction"])
def test_json_on_the_way_changes_nothing(summarize: Any) -> None:
    plain = session(policy(), Notes(*summarize.replies) if summarize else None)
    carried = session(policy(), Notes(*summarize.replies) if summarize else None, through_json)
    assert [r.messages for r in carried] == [r.messages for r in plain]
    assert [r.state for r in carried] == [r.state for r in plain]
    assert len(acted([e for r in plain for e in r.events])) >= 3


def test_masked_messages_are_carried_too() -> None:
    rule = {
        "at": "send",
        "when": {"pressure": {"gt": 0.6}},
        "match": {"role": "tool", "all_but_newest": 6},
        "mask": {"batch": 5},
    }
    made = policy(rules={"compact": None, "evict": None, "mask-old": rule})
    results = session(made, None)
    masks = [event for r in results for event in acted(r.events, "mask-old")]
    assert len(masks) > 3
    masked = [m for m in results[-1].messages if "tokens of bash left out, ref" in str(m["content"])]
    assert len(masked) == sum(event.messages for event in masks) >= 20
    again = made.apply(SESSION[: MODEL_CALLS[-1]], state=results[-1].state)
    assert again.messages == results[-1].messages


def test_everything_comes_back_from_the_archive() -> None:
    archive = MemoryArchive()
    state = None
    for n in MODEL_CALLS[::4]:
        outcome = policy().apply(SESSION[:n], summarize=Notes(), state=state, archive=archive)
        state = outcome.state
        assert ctxpolicy.restore(outcome.messages, archive) == SESSION[:n]


def test_editing_the_returned_list_does_not_reach_the_state() -> None:
    first = policy().apply(SESSION[:84], summarize=Notes())
    text = next(m for m in first.messages if is_mark(m))["content"]
    next(m for m in first.messages if is_mark(m))["content"] = "overwritten"
    second = policy().apply(SESSION[:84], state=first.state)
    assert marks(second.messages)[0]["content"] == text


# ---- the returned list, passed on ---------------------------------------------------------------


def passed_on(made: Policy, notes: Any, *, with_state: bool) -> list[Result]:
    """`apply` before every model call, with the list that came back and what is new behind it."""
    results: list[Result] = []
    messages: list[Message] = []
    size = 0
    for n in MODEL_CALLS:
        messages = [*messages, *SESSION[size:n]]
        state = results[-1].state if results and with_state else None
        results.append(made.apply(through_json(messages), summarize=notes, state=through_json(state)))
        messages, size = results[-1].messages, n
    return results


@pytest.mark.parametrize("with_state", [True, False], ids=["with state", "without"])
def test_the_returned_list_can_be_passed_on(with_state: bool) -> None:
    notes, same = Notes(), Notes()
    results = passed_on(policy(), notes, with_state=with_state)
    assert [r.messages for r in results] == [r.messages for r in session(policy(), same)]
    assert [r.prompt for r in notes.requests] == [r.prompt for r in same.requests]


@pytest.mark.parametrize("with_state", [True, False], ids=["with state", "without"])
def test_a_second_run_over_the_returned_list_is_quiet(with_state: bool) -> None:
    for outcome in session(policy(), Notes())[::5]:
        notes = Notes()
        state = outcome.state if with_state else None
        again = policy().apply(outcome.messages, summarize=notes, state=state)
        assert notes.requests == []
        assert acted(again.events) == []
        assert list(map(id, again.messages)) == list(map(id, outcome.messages))


def test_the_breaker_goes_on_with_the_state() -> None:
    made = policy(rules={"evict": None})
    failing = Notes(TimeoutError("60 s"))
    messages, state = SESSION[:84], None
    for _ in range(5):
        outcome = made.apply(messages, summarize=failing, state=through_json(state))
        messages, state = outcome.messages, outcome.state
    assert len({request.span for request in failing.requests}) == len(failing.requests) == 3
    assert "rests after 3 failures in a row" in reasons(outcome, "compact")
    made.apply(messages, summarize=failing)
    assert len(failing.requests) == 4  # without state nothing is known of the failures


def test_three_failures_in_a_row_rest_the_rule_until_the_list_has_grown() -> None:
    made = policy(rules={"evict": None, "compact": {"compact": {"span": {"max": 4}, "min_gain": 0.05}}})
    failing = Notes(TimeoutError("60 s"))
    state: Any = None
    for _ in range(6):
        outcome = made.apply(SESSION[:84], summarize=failing, state=through_json(state))
        state = outcome.state
    assert len(failing.requests) == 3
    assert "rests after 3 failures" in reasons(outcome, "compact")
    outcome = made.apply(SESSION[:90], summarize=failing, state=state)  # 200 tokens more
    assert len(failing.requests) == 4
    made.apply(SESSION[:90], summarize=failing, state=outcome.state)
    assert len(failing.requests) == 4


def test_a_success_forgets_the_failures() -> None:
    made = policy(budget={"window": 16_000}, rules={"evict": None, "compact": {"compact": {
        "until": {"pressure": {"lt": 0.3}}, "span": {"max": 20}, "min_gain": {"tokens": 200}}}})  # fmt: skip
    error = TimeoutError("60 s")
    notes = Notes(error, error, "Fine.", error, error, "Fine.")
    state: Any = None
    for asked in (1, 2, 4, 5, 6):  # the third call is answered, and a fourth follows in the same run
        outcome = made.apply([*opening(), *steps(260)], summarize=notes, state=through_json(state))
        state = outcome.state
        assert len(notes.requests) >= asked
    assert len(summaries(outcome.messages)) >= 2
    assert "rests" not in reasons(outcome)


# ---- the list has changed -----------------------------------------------------------------------


def test_a_fork_before_the_end_of_an_edit_drops_it() -> None:
    notes = Notes()
    first = policy().apply(SESSION[:84], summarize=notes)
    forked = frozen(SESSION[:84])
    forked[5]["content"] = "another output"
    second = policy().apply(forked, summarize=notes, state=first.state)
    assert "was dropped: the list before its end has changed" in reasons(second)
    assert len(notes.requests) > len(acted(first.events, "compact"))
    assert any("another output" in request.span for request in notes.requests)
    fresh = policy().apply(forked, summarize=Notes())
    assert second.messages == fresh.messages


def test_a_fork_behind_an_edit_leaves_it() -> None:
    first = policy().apply(SESSION[:84], summarize=Notes())
    place = next(i for i, m in enumerate(first.messages) if is_mark(m))
    forked = [*frozen(SESSION[:80]), said("I take another way."), user("Fine."), said("Done.")]
    second = policy().apply(forked, summarize=Notes(), state=first.state)
    assert "dropped" not in reasons(second)
    assert second.messages[: place + 1] == first.messages[: place + 1]


def test_a_fork_between_two_edits_drops_the_later_one() -> None:
    results = session(policy(), Notes())
    last = results[-1]
    spans = sorted({(e["start"], e["end"], e["edit"]["until"]) for e in last.state["edits"]})
    assert len(spans) > 2
    forked = frozen(SESSION[: MODEL_CALLS[-1]])
    forked[spans[1][0]]["content"] = "changed"
    second = policy().apply(forked, summarize=Notes(), state=last.state)
    assert reasons(second).count("was dropped") == len(spans) - 1
    assert marks(second.messages)[0] == marks(last.messages)[0]
    assert tool_faults(second.messages) == []


@pytest.mark.parametrize("size", range(3, 84, 3))
def test_a_shortened_history_is_still_valid(size: int) -> None:
    first = policy().apply(SESSION[:84], summarize=Notes())
    second = policy().apply(SESSION[:size], state=first.state)
    expected = policy().apply(SESSION[:size])  # what it would be without
    ends = [e["edit"]["until"] for e in first.state["edits"]]
    if size < min(ends):
        assert second.messages == expected.messages
        assert reasons(second).count("was dropped") == len(ends)
    assert second.messages[-1] == SESSION[size - 1]
    open_call = SESSION[size - 1]["role"] == "assistant" and SESSION[size - 1].get("tool_calls")
    assert len(tool_faults(second.messages)) == (1 if open_call else 0)


def test_an_edit_that_reaches_the_end_of_a_shortened_history_is_dropped() -> None:
    first = policy().apply(SESSION[:84], summarize=Notes())
    end = min(e["end"] for e in first.state["edits"])
    for size in (end, end + 1):
        second = policy().apply(SESSION[:size], state=first.state)
        assert second.messages[-1] == SESSION[size - 1]
    at_end = policy().apply(SESSION[:end], state=first.state)
    assert at_end.messages == SESSION[:end]
    assert "was dropped: it would reach into the live tail" in reasons(at_end)


def test_an_edit_never_takes_the_last_message() -> None:
    history = [*opening(), *[said(filler(60, f"thought {n}")) for n in range(60)], user("and now?")]
    first = policy().apply(history, summarize=Notes())
    end = min(e["end"] for e in first.state["edits"])
    second = policy().apply(history[:end], state=first.state)
    assert second.messages == history[:end]
    third = policy().apply(history[: end + 1], state=first.state)
    assert third.messages[2:] == [marks(first.messages)[0], history[end]]


def test_the_edits_of_one_compaction_stand_or_fall_together() -> None:
    history = [*opening(), *steps(5), user("Use staging."), *steps(30, start=5)]
    made = policy(rules={"compact": {"compact": {"until": {"pressure": {"lt": 0.5}}, "word_limit": 60}}})
    first = made.apply(history, summarize=Notes())
    one, two = first.state["edits"]
    assert len(marks(first.messages)) == 2
    assert one["edit"]["until"] == two["edit"]["until"] == two["end"]
    shorter = history[: two["end"]]  # the second place would take the last message
    second = made.apply(shorter, state=first.state)
    assert second.messages == shorter
    assert reasons(second).count("was dropped") == 2
    forked = frozen(history)
    forked[two["end"] - 1]["content"] = "another output"
    assert reasons(made.apply(forked, state=first.state)).count("was dropped") == 2


def test_cuts_made_on_arrival_stay_when_the_history_is_shortened() -> None:
    long = [*opening(), *steps(3, tokens=900), said("done"), user("and now?")]
    first = policy().apply(long)
    assert [d.fate for d in first.decisions].count("truncated") == 3
    for size in (4, 6, 8):  # each ends with a cut result
        second = policy().apply(long[:size], state=first.state)
        assert second.messages == first.messages[:size]
        assert second.removed == ()  # nothing is cut again
        edits = [e for e in first.state["edits"] if e["end"] <= size]
        assert second.state["edits"] == edits


def test_equal_messages_are_told_apart_by_their_place() -> None:
    same = [calls("c1"), result("c1", filler(100))]
    history = [*opening(), *same * 30, said("ok"), *[user("go on"), said("ok")] * 10]
    archive = MemoryArchive()
    state = None
    previous: list[Message] = []
    for n in range(22, len(history) + 1, 2):
        outcome = policy().apply(history[:n], summarize=Notes(), state=state, archive=archive)
        assert ctxpolicy.restore(outcome.messages, archive) == history[:n]
        if previous and not acted(outcome.events):
            assert outcome.messages == [*previous, *history[n - 2 : n]]
        state, previous = through_json(outcome.state), outcome.messages
    assert summaries(previous)


def test_one_of_ten_equal_messages_taken_out_is_the_last_of_them() -> None:
    ten = [m for _ in range(10) for m in (user("again, please, and then once more " * 8), said("yes " * 60))]
    made = policy(budget={"window": 1200}, pins={"user-words": None})
    archive = MemoryArchive()
    first = made.apply([*opening(), *ten, *steps(2)], summarize=Notes(), archive=archive)
    (edit,) = first.state["edits"]
    shorter = [*opening(), *ten[2:], *steps(2)]
    assert edit["end"] <= 20  # so up to there the lists are equal
    second = made.apply(shorter, summarize=Notes(), state=first.state, archive=archive)
    assert acted(second.events) == []
    assert ctxpolicy.restore(second.messages, archive) == shorter


def test_a_late_second_result_of_a_compacted_call_drops_the_edit() -> None:
    notes = Notes()
    first = policy().apply(SESSION[:84], summarize=notes)
    late = [*SESSION[:84], said("hm"), result("c2", "a late second answer")]
    second = policy().apply(late, summarize=None, state=first.state)
    assert "was dropped: it would part a tool call from its result" in reasons(second)
    assert calls("c2", arguments='{"n": 2}') in second.messages


# ---- another policy -----------------------------------------------------------------------------


def test_under_another_policy_edits_stay_and_memories_start_anew() -> None:
    first_policy = policy(rules={"evict": None, "compact": {"compact": {"span": {"max": 4}, "min_gain": 0.05}}})
    notes = Notes("Fine.", TimeoutError())
    first = first_policy.apply(SESSION[:84], summarize=notes)
    assert summaries(first.messages)
    assert first.state["rules"]["compact"]["failures"] == 1
    other = policy(name="other", rules={"evict": None})
    second = other.apply(SESSION[:84], state=first.state)
    assert second.messages == first.messages
    assert "the policy has changed: breakers and failed spans start anew, edits stay" in reasons(second)
    assert second.state["rules"] == {}
    third = other.apply(SESSION[:84], state=second.state)
    assert "the policy has changed" not in reasons(third)


def test_the_same_policy_loaded_twice_is_the_same() -> None:
    notes = Notes(TimeoutError())
    one, two = (ctxpolicy.loads(policy_text()) for _ in range(2))
    first = one.apply(SESSION[:84], summarize=notes)
    second = two.apply(SESSION[:84], summarize=notes, state=first.state)
    assert first.state["rules"]
    assert "the policy has changed" not in reasons(second)


@pytest.mark.parametrize(
    "state", [{}, {"version": 2}, {"version": 1}, [], "x", {"version": 1, "policy": "", "edits": [{}]}]
)
def test_what_is_no_state_is_told(state: Any) -> None:
    with pytest.raises(CtxPolicyError, match="state"):
        policy().apply(opening(), state=state)


# ---- dump and resume ----------------------------------------------------------------------------


def windows(made: Policy, first: Any, second: Any, metas: dict[int, Any] | None = None) -> tuple[Any, Any]:
    """A window that lives on, and one that is dumped, sent through JSON and resumed before every message."""
    steady, moved = made.window(summarize=first), made.window(summarize=second)
    for n, message in enumerate(SESSION):
        moved = made.resume(through_json(moved.dump()), summarize=second)
        if message["role"] == "assistant":
            assert moved.prepare() == steady.prepare(), n
            assert moved.pressure() == steady.pressure()
        for window in (steady, moved):
            window.append(message, meta=(metas or {}).get(n))
    return steady, moved


@pytest.mark.parametrize(
    "replies",
    [(), ("NOTHING",), (TimeoutError("60 s"),), ("Fine.", TimeoutError("60 s"), "", "Fine again.")],
    ids=["summaries", "NOTHING", "failures", "both"],
)
def test_a_resumed_window_goes_on_as_if_it_had_never_been_dumped(replies: Sequence[Any]) -> None:
    first, second = Notes(*replies), Notes(*replies)
    windows(policy(), first, second)
    assert len(first.requests) > 1
    assert [r.prompt for r in second.requests] == [r.prompt for r in first.requests]


def test_a_resumed_window_knows_cut_results_and_metadata() -> None:
    made = policy(rules={"cap": {"match": {"role": "tool", "tokens": {"gt": 60}}, "truncate": {"max_tokens": 60}}})
    _, moved = windows(made, Notes(), Notes(), metas={5: {"pin": True}})
    assert any("output 1 " in str(m["content"]) for m in moved.prepare())  # message 5, pinned by its metadata
    assert [d for d in moved.result.decisions if d.by == "explicit"]


def test_a_resumed_window_keeps_its_calibration() -> None:
    window = policy().window(messages=SESSION[:20])
    window.prepare()
    window.observe({"prompt_tokens": int(window.result.usage.after["total"] * 1.5)})
    resumed = policy().resume(through_json(window.dump()))
    assert resumed.pressure() == window.pressure() == pytest.approx(window.result.usage.pressure * 1.5, rel=0.01)
    window.observe_overflow()
    resumed = policy().resume(through_json(window.dump()))
    assert resumed.pressure() == window.pressure() > 1


def test_a_resumed_window_still_refuses_the_results_of_a_refused_message() -> None:
    window = policy().window(messages=opening())
    with pytest.raises(ctxpolicy.MessageTooLarge):
        window.append(calls("c1", arguments=filler(5000)))
    resumed = policy().resume(through_json(window.dump()))
    with pytest.raises(ctxpolicy.MessageTooLarge, match="refuse"):
        resumed.append(result("c1"))
    assert resumed.prepare() == opening()


def test_a_dump_is_the_callers_own() -> None:
    window = policy().window(messages=SESSION[:84], summarize=Notes())
    before = frozen(window.prepare())
    dump = window.dump()
    for value in (dump["messages"], dump["state"]["edits"], window.state["edits"]):
        for entry in value:
            (entry.get("stands") or entry)["content"] = "overwritten"
    assert window.messages == before


@pytest.mark.parametrize("dump", [{}, {"messages": []}, [], None, {"messages": [], "state": {"version": 7}}])
def test_what_is_no_dump_is_told(dump: Any) -> None:
    with pytest.raises(CtxPolicyError):
        policy().resume(dump)


def test_metadata_comes_back_with_the_returned_list() -> None:
    secret = user("The invoice number is 4711. " + filler(60))
    history = [*SESSION[:10], secret, *SESSION[10:84]]
    first = policy().apply(history, summarize=Notes(), meta={10: {"pin": True}})
    assert secret in first.messages
    longer = [*through_json(first.messages), *SESSION[84:]]
    second = policy().apply(longer, summarize=Notes(), state=through_json(first.state))
    assert acted(second.events)
    assert secret in second.messages


def test_metadata_of_new_messages_is_added_to_what_the_state_knows() -> None:
    old, new = user("The invoice is 4711. " + filler(60)), user("The order is 4712. " + filler(60))
    first = policy().apply([*SESSION[:10], old, *SESSION[10:84]], summarize=Notes(), meta={10: {"pin": True}})
    longer = [*first.messages, said("ok"), new, *SESSION[84:]]
    place = len(first.messages) + 1
    second = policy().apply(longer, summarize=Notes(), state=first.state, meta={place: {"pin": True}})
    assert acted(second.events)
    assert old in second.messages
    assert new in second.messages


def test_what_the_caller_says_goes_before_what_the_state_knows() -> None:
    history = [*SESSION[:10], user("The invoice is 4711. " + filler(60)), *SESSION[10:84]]
    first = policy().apply(history, summarize=Notes(), meta={10: {"pin": True}})
    place = first.messages.index(history[10])
    longer = [*first.messages, *SESSION[84:]]
    kept = policy().apply(longer, summarize=Notes(), state=first.state)
    freed = policy().apply(longer, summarize=Notes(), state=first.state, meta={place: {"pin": False}})
    assert (kept.decisions[place].by, freed.decisions[place].by) == ("explicit", None)


def test_a_windows_state_and_list_can_be_handed_to_apply() -> None:
    window: ManagedWindow = policy().window(messages=SESSION[:84], summarize=Notes())
    out = window.prepare()
    again = policy().apply(out, state=through_json(window.state), summarize=Notes())
    assert again.messages == out
    assert acted(again.events) == []
