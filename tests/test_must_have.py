"""The eight tests that software of this kind must have, each at a size where the rule really acts."""

from __future__ import annotations

from typing import Any

import pytest

from ctxpolicy import ManagedWindow, MessageTooLarge
from ctxpolicy.tokens import chars
from support import (
    Message,
    Notes,
    acted,
    calls,
    filler,
    is_mark,
    marks,
    opening,
    policy,
    reasons,
    result,
    said,
    steps,
    summaries,
    system,
    tool_faults,
    user,
)

TASK = "The task: port the parser to the new grammar, and touch nothing else."


def loop(window: ManagedWindow, turns: int) -> list[list[Message]]:
    """A live loop: every turn asks for a tool twice and then answers; the list sent at each model call."""
    sent = []
    for n in range(turns):
        for message in [*steps(2, start=2 * n), said(f"Turn {n} is done."), user(f"Go on with {n}. " + filler(50))]:
            if message["role"] == "assistant":
                sent.append(window.prepare())
            window.append(message)
    return sent


@pytest.mark.parametrize("summarize", [Notes(), None], ids=["compaction", "eviction"])
def test_the_task_survives_eighty_turns_under_heavy_pressure(summarize: Any) -> None:
    window = policy().window(summarize=summarize)
    for message in opening(TASK):
        window.append(message)
    sent = loop(window, 80)
    assert window.events.counts["compact" if summarize else "evict", "compact" if summarize else "evict"] >= 5
    assert all(messages[:2] == opening(TASK) for messages in sent)


def test_pressure_falls_after_a_compaction_and_an_event_says_so() -> None:
    notes = Notes()
    outcome = policy().apply([*opening(), *steps(30)], summarize=notes)
    first = acted(outcome.events, "compact")[0]
    assert first.before > 0.7 * 4000
    assert first.after <= first.before - 0.05 * 4000
    assert first.after == first.before - (outcome.usage.before["total"] - outcome.usage.after["total"])
    assert outcome.usage.pressure == outcome.usage.after["total"] / 4000 < 0.5
    assert first.reason.startswith(f"compacted {first.messages} messages into a summary")
    assert len(outcome.messages) == 62 - first.messages + 1


@pytest.mark.parametrize("reply", ["Three tests fail.", "NOTHING", None], ids=["compaction", "NOTHING", "eviction"])
def test_a_visible_marker_is_left(reply: str | None) -> None:
    outcome = policy().apply([*opening(), *steps(40)], summarize=Notes(reply) if reply else None)
    left = sum(decision.fate in ("compacted", "evicted") for decision in outcome.decisions)
    assert left > 10
    assert marks(outcome.messages)
    assert sum(int(m["content"][1:].split()[0]) for m in marks(outcome.messages)) == left
    assert is_mark(outcome.messages[2])  # where the first of them stood


def test_tool_results_are_cut_on_arrival() -> None:
    window = policy().window()
    text = filler(3000)
    for message in [*opening(), calls("c1"), result("c1", text)]:
        window.append(message)
    (cut,) = window.messages[3:]  # before any prepare
    assert chars(cut["content"]) + 4 <= 204
    assert cut["content"].startswith(text[:400])
    assert cut["content"].endswith(text[-200:])
    assert "chars dropped" in cut["content"]
    assert window.pressure() < 0.1


def test_calls_and_results_are_never_orphaned() -> None:
    for recent in range(1, 12):
        made = policy(pins={"recent": {"newest": recent}})
        batches: list[Message] = []
        for n in range(28):
            ids = [f"c{n}-{k}" for k in range(n % 4 + 1)]
            batches += [calls(*ids), *(result(i, filler(70)) for i in ids)]
        for summarize in (Notes(), Notes("NOTHING"), Notes(TimeoutError()), None):
            outcome = made.apply([*opening(), *batches], summarize=summarize)
            assert len(outcome.messages) < len(batches)
            assert tool_faults(outcome.messages) == []


def test_a_nothing_reply_removes_the_span_and_inserts_no_summary() -> None:
    notes = Notes("NOTHING")
    outcome = policy().apply([*opening(), *steps(30)], summarize=notes)
    assert len(notes.requests) == 1
    assert summaries(outcome.messages) == []
    assert len(marks(outcome.messages)) == 1
    assert len(outcome.messages) < 40
    assert "nothing worth keeping" in reasons(outcome, "compact")
    assert outcome.usage.pressure < 0.5


@pytest.mark.parametrize(
    "message", [user(filler(4000)), said(filler(4000)), system(filler(4000))], ids=["user", "assistant", "system"]
)
def test_an_oversized_message_is_refused_not_cut(message: Message) -> None:
    window = policy().window(messages=opening())
    with pytest.raises(MessageTooLarge, match="cannot be sent") as caught:
        window.append(message)
    assert (caught.value.size, caught.value.limit) == (4004, 4000)
    assert (caught.value.rule, caught.value.index) == ("refuse", 2)
    assert caught.value.replacement is None
    assert window.prepare() == opening()
    with pytest.raises(MessageTooLarge, match="cannot be sent"):
        policy().apply([*opening(), message])


def test_all_pinned_stops_cleanly() -> None:
    notes = Notes()
    outcome = policy(pins={"all": {"any": [{"role": "tool"}, {"role": "assistant"}]}}).apply(
        [*opening(), *steps(60)], summarize=notes
    )
    assert outcome.messages == [*opening(), *steps(60)]
    assert notes.requests == []
    assert not outcome.usage.fits
    assert outcome.usage.pressure > 1
    assert acted(outcome.events) == []
    for rule in ("compact", "evict"):
        assert "held by pin opening" in reasons(outcome, rule)
        assert "pin all" in reasons(outcome, rule)
