"""The managed window: whose messages they are, async summarisers, refusals, calibration, a failing archive."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

import ctxpolicy
from ctxpolicy import CtxPolicyError, ManagedWindow, MessageTooLarge, TranscriptInvalid
from ctxpolicy.archive import MemoryArchive
from ctxpolicy.tokens import chars
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
    reasons,
    result,
    said,
    steps,
    summaries,
    system,
    tool_faults,
    user,
)


def opened(messages: Sequence[Message] = (), **given: Any) -> ManagedWindow:
    """A window under the standard policy that holds these messages."""
    return policy(**given.pop("changes", {})).window(messages=messages, **given)


# ---- whose messages they are --------------------------------------------------------------------


def test_append_keeps_a_deep_copy_and_leaves_the_callers_as_it_is() -> None:
    window = opened(opening())
    asked, answer = calls("c1"), {"role": "tool", "tool_call_id": "c1", "content": [{"type": "text", "text": "ok"}]}
    before = frozen([asked, answer])
    meta = {"pin": True}
    window.append(asked, meta=meta)
    window.append(answer)
    assert [asked, answer] == before
    asked["tool_calls"][0]["function"]["arguments"] = "changed"
    answer["content"][0]["text"] = "changed"
    meta.clear()
    assert window.prepare() == [*opening(), *before]
    assert window.dump()["state"]["meta"] == {"2": {"pin": True}}


def test_messages_given_at_construction_are_copied_too() -> None:
    given = opening()
    window = opened(given)
    given[0]["content"] = "changed"
    given.append(user("more"))
    assert window.messages == opening()


def test_prepare_returns_new_dicts_each_time() -> None:
    window = opened([*opening(), *steps(3)])
    first, second = window.prepare(), window.prepare()
    assert first == second
    assert not {id(m) for m in first} & {id(m) for m in second}


@pytest.mark.parametrize("what", ["prepare", "messages", "result"])
def test_what_a_window_hands_out_can_be_edited(what: str) -> None:
    window = opened([*opening(), *steps(30)], summarize=Notes())
    before = frozen(window.prepare())
    assert window.result is not None
    out = {"prepare": window.prepare, "messages": lambda: window.messages, "result": lambda: window.result.messages}[
        what
    ]()
    for message in out:
        message["content"] = "overwritten"
    del out[1:]
    assert window.messages == before
    assert window.prepare() == before


def test_appending_after_a_prepare_goes_behind_what_it_returned() -> None:
    window = opened([*opening(), *steps(30)], summarize=Notes())
    out = window.prepare()
    window.append(said("done"))
    assert window.messages == [*out, said("done")]


def test_what_is_no_message_is_told_and_changes_nothing() -> None:
    window = opened(opening())
    for odd in ("text", None, {"content": "x"}, {"role": "robot", "content": "x"}):
        with pytest.raises(TranscriptInvalid) as caught:
            window.append(odd)
        assert caught.value.index == 2
    assert window.messages == opening()


# ---- async --------------------------------------------------------------------------------------


def finish(coroutine: Any) -> Any:
    """Run to the end; what would wait for ever fails instead."""
    return asyncio.run(asyncio.wait_for(coroutine, 20))


class Slow:
    """An async summariser that waits until it is let go."""

    def __init__(self, reply: str = "Three tests fail.") -> None:
        self.reply = reply
        self.asked, self.go = asyncio.Event(), asyncio.Event()
        self.requests: list[Any] = []

    async def __call__(self, request: Any) -> str:
        self.requests.append(request)
        self.asked.set()
        await self.go.wait()
        return self.reply


def test_messages_appended_during_the_call_are_kept() -> None:
    async def main() -> None:
        slow = Slow()
        window = opened([*opening(), *steps(30)], summarize=slow)
        running = asyncio.create_task(window.aprepare())
        await slow.asked.wait()
        meanwhile = [user("Stop. Use staging. " + filler(60)), calls("late"), result("late", filler(900))]
        for message in meanwhile:
            window.append(message)
        slow.go.set()
        out = await running
        assert summaries(out)
        assert out[-3:-1] == meanwhile[:2]
        assert out == window.messages
        assert chars(out[-1]["content"]) <= 200  # cut on arrival
        assert not any("Stop. Use staging" in request.span for request in slow.requests)
        assert window.result is not None
        assert len(window.result.messages) == len(out) - 3  # the result is about the list that was prepared
        assert len(window.result.decisions) == 62
        assert window.pressure() == opened(out).pressure()
        again = await window.aprepare()
        assert again[: len(out) - 1] == out[:-1]
        assert acted(window.result.events, "cap")  # the cut is told by the run that archives it

    finish(main())


def test_what_comes_during_the_call_is_handed_out_by_a_repairing_window_too() -> None:
    async def main() -> None:
        slow = Slow()
        window = opened(
            [*opening(), *steps(30), {"role": "assistant", "content": "Done."}], summarize=slow, repair="strict"
        )
        running = asyncio.create_task(window.aprepare())
        await slow.asked.wait()
        window.append(user("Stop. Use staging."))
        slow.go.set()
        assert (await running)[-1] == user("Stop. Use staging.")  # and not the words that a repair puts behind "Done."

    finish(main())


def test_an_overflow_told_while_a_run_waits_still_counts_for_the_next() -> None:
    async def main() -> None:
        slow = Slow("")  # no note: that run leaves the list as it is
        window = opened([*opening(), *steps(30)], summarize=slow)
        running = asyncio.create_task(window.aprepare())
        await slow.asked.wait()
        window.observe_overflow()
        slow.go.set()
        before = list(await running)
        after = await window.aprepare()
        assert len(str(list(after))) < len(str(before))

    finish(main())


def test_a_second_aprepare_waits_for_the_first() -> None:
    async def main() -> None:
        slow = Slow()
        window = opened([*opening(), *steps(30)], summarize=slow)
        first = asyncio.create_task(window.aprepare())
        await slow.asked.wait()
        second = asyncio.create_task(window.aprepare())
        await asyncio.sleep(0)
        assert len(slow.requests) == 1
        slow.go.set()
        assert await first == await second
        assert len(slow.requests) == 1  # the second found nothing left to do

    finish(main())


@pytest.mark.parametrize("append", [False, True], ids=["alone", "with messages appended meanwhile"])
def test_a_cancelled_aprepare_leaves_the_window_as_it_was(append: bool) -> None:
    async def main() -> None:
        slow = Slow()
        archive = MemoryArchive()
        window = opened([*opening(), *steps(30)], summarize=slow, archive=archive)
        before = window.messages
        running = asyncio.create_task(window.aprepare())
        await slow.asked.wait()
        if append:
            window.append(user("Go on."))
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
        assert window.messages == [*before, *([user("Go on.")] if append else [])]
        assert archive.records == []
        slow.go.set()
        out = await window.aprepare()
        assert summaries(out)
        assert ctxpolicy.restore(out, archive) == [*opening(), *steps(30), *([user("Go on.")] if append else [])]

    finish(main())


@pytest.mark.parametrize("use", ["prepare", "dump"])
def test_nothing_else_runs_while_an_aprepare_waits_for_its_summary(use: str) -> None:
    async def main() -> None:
        slow = Slow()
        window = opened([*opening(), *steps(30)], summarize=slow)
        running = asyncio.create_task(window.aprepare())
        await slow.asked.wait()
        window.append(user("Go on."))
        with pytest.raises(CtxPolicyError, match="aprepare"):
            getattr(window, use)()
        slow.go.set()
        out = await running
        assert out[-1] == user("Go on.")
        assert getattr(window, use)()

    finish(main())


def test_a_sync_summariser_works_in_aprepare_and_gives_the_same() -> None:
    messages = [*opening(), *steps(30)]
    assert asyncio.run(opened(messages, summarize=Notes()).aprepare()) == opened(messages, summarize=Notes()).prepare()


def test_an_async_summariser_in_prepare_is_a_failure_that_says_so() -> None:
    async def summarize(request: Any) -> str:
        return "note"

    window = opened([*opening(), *steps(40)], summarize=summarize)
    out = window.prepare()
    assert "await window.aprepare()" in reasons(window.events, "compact")
    assert len(out) < 60  # evicted


def test_an_async_summariser_that_fails_falls_through() -> None:
    async def summarize(request: Any) -> str:
        raise TimeoutError("60 s")

    window = opened([*opening(), *steps(40)], summarize=summarize)
    out = asyncio.run(window.aprepare())
    assert "TimeoutError: 60 s" in reasons(window.events, "compact")
    assert acted(window.events, "evict")
    assert tool_faults(out) == []


def test_one_window_can_live_in_several_event_loops() -> None:
    async def summarize(request: Any) -> str:
        await asyncio.sleep(0)
        return "note"

    window = opened([*opening(), *steps(30)], summarize=summarize)

    async def twice() -> list[Any]:
        return (await asyncio.gather(window.aprepare(), window.aprepare()))[1]

    first = asyncio.run(twice())
    for message in steps(30, start=30):
        window.append(message)
    second = asyncio.run(twice())
    assert len(summaries(second)) > len(summaries(first)) > 0


# ---- refusals -----------------------------------------------------------------------------------


def test_a_refused_message_leaves_no_trace() -> None:
    window = opened([*opening(), *steps(3)])
    before = (window.messages, window.pressure(), frozen(window.dump()))
    with pytest.raises(MessageTooLarge):
        window.append(user(filler(4000)))
    assert (window.messages, window.pressure(), window.dump()) == before
    window.append(said("short"))
    assert window.prepare() == [*opening(), *steps(3), said("short")]


def test_a_message_that_is_two_to_the_rules_is_refused_whole() -> None:
    asked = {"role": "assistant", "content": [{"type": "tool_use", "id": "t1", "name": "bash", "input": {}}]}
    answer = {"type": "tool_result", "tool_use_id": "t1", "content": "ok"}
    window = opened([user("go"), asked], format="anthropic")
    before = (window.messages, window.pressure())
    with pytest.raises(MessageTooLarge) as caught:
        window.append({"role": "user", "content": [answer, {"type": "text", "text": filler(4000)}]})
    assert caught.value.index == 2
    assert (window.messages, window.pressure()) == before
    window.append({"role": "user", "content": [answer]})
    assert window.prepare() == [user("go"), asked, {"role": "user", "content": [answer]}]


def test_the_results_of_a_refused_assistant_message_are_refused_too() -> None:
    window = opened(opening())
    with pytest.raises(MessageTooLarge) as first:
        window.append(calls("c1", "c2", arguments=filler(2500)))
    for call_id in ("c1", "c2"):
        with pytest.raises(MessageTooLarge, match=r"cannot be sent.*rule refuse") as caught:
            window.append(result(call_id, "ok"))
        assert caught.value.rule == "refuse"
        assert caught.value.limit == 4000
        assert caught.value.replacement is None
    assert window.messages == opening()
    assert first.value.index == 2
    window.append(calls("c1"))  # a shorter one with the same id
    window.append(result("c1", "ok"))
    assert window.prepare() == [*opening(), calls("c1"), result("c1", "ok")]


def test_the_replacement_of_a_refused_result_can_be_sent() -> None:
    window = opened([*opening(), calls("c1", "c2")], changes={"rules": {"cap": None}})
    with pytest.raises(MessageTooLarge, match="the result of bash") as caught:
        window.append(result("c1", filler(5000)))
    replacement = caught.value.replacement
    assert replacement is not None
    assert (replacement["role"], replacement["tool_call_id"]) == ("tool", "c1")
    assert "5,004 tokens" in replacement["content"]
    window.append(replacement)
    window.append(result("c2", "ok"))
    assert tool_faults(window.prepare()) == []


def test_the_policys_own_words_stand_in_a_refusal() -> None:
    window = opened(opening(), changes={"rules": {"refuse": {"refuse": {"message": "Use the file store."}}}})
    with pytest.raises(MessageTooLarge, match=r"^Use the file store\. message 2 cannot be sent"):
        window.append(user(filler(4000)))


def test_messages_given_at_construction_are_cut_and_refused() -> None:
    window = opened([*opening(), calls("c1"), result("c1", filler(900))])
    assert chars(window.messages[-1]["content"]) <= 200
    with pytest.raises(MessageTooLarge) as caught:
        opened([*opening(), said(filler(4000))])
    assert caught.value.index == 2


# ---- figures ------------------------------------------------------------------------------------


def test_pressure_is_of_everything_sent() -> None:
    window = opened()
    assert window.pressure() == 3 / 4000  # the call's own overhead
    window.append(user("x" * 400))
    assert window.pressure() == (3 + 104) / 4000
    schema = [{"type": "function", "function": {"name": "f"}}]
    with_tools = opened(tools=schema)
    assert with_tools.pressure() == (3 + chars('[{"function":{"name":"f"},"type":"function"}]')) / 4000
    assert policy().window(window=8000).pressure() == 3 / 8000


def test_pressure_is_that_of_the_result_after_a_prepare() -> None:
    window = opened([*opening(), *steps(30)], summarize=Notes())
    window.prepare()
    assert window.result is not None
    assert window.pressure() == window.result.usage.pressure < 0.5


def test_observed_usage_calibrates_pressure_but_no_cap() -> None:
    window = opened([*opening(), *steps(10)])
    window.prepare()
    assert window.result is not None
    plain = window.pressure()
    counted = window.result.usage.after["total"]
    window.observe({"prompt_tokens": counted * 3 // 2, "completion_tokens": 900})
    assert window.pressure() == pytest.approx(plain * 1.5, rel=0.01)
    window.append(calls("c1"))
    window.append(result("c1", filler(196)))  # 200 tokens by the plain counter
    assert window.messages[-1] == result("c1", filler(196))


@pytest.mark.parametrize(
    "usage",
    [
        {"prompt_tokens": 1500},
        {"prompt_tokens": 1500, "prompt_tokens_details": {"cached_tokens": 1024}},
        {"input_tokens": 100, "cache_read_input_tokens": 1000, "cache_creation_input_tokens": 400},
        {"input_tokens": 1500, "cache_read_input_tokens": None, "output_tokens": 7},
        {"promptTokenCount": 1500, "cachedContentTokenCount": 1024},
    ],
    ids=["openai", "openai cached", "anthropic", "anthropic without cache", "gemini"],
)
def test_usage_is_read_in_the_providers_words(usage: dict[str, Any]) -> None:
    window = opened([*opening(), *steps(10)])
    window.prepare()
    window.observe(usage)
    assert window.pressure() == pytest.approx(1500 / 4000)


@pytest.mark.parametrize("summarize", [Notes(), None], ids=["compaction", "eviction"])
@pytest.mark.parametrize("size", [8, 16, 22])
def test_after_an_overflow_the_next_prepare_acts(size: int, summarize: Any) -> None:
    window = opened([*opening(), *steps(size)], summarize=summarize)
    last = window.prepare()
    assert last == [*opening(), *steps(size)]
    for _ in range(3):
        window.observe_overflow()
        shorter = window.prepare()
        assert tool_faults(shorter) == []
        if shorter == last:
            assert "held by" in reasons(window.result.events)  # type: ignore[union-attr]
            break
        last = shorter
    assert len(last) < 2 + size


# ---- events and the log -------------------------------------------------------------------------


def test_events_are_the_last_thousand_with_counters_for_all() -> None:
    window = opened(opening(), changes={"budget": {"window": 300}, "pins": {"recent": {"newest": 2}}})
    for n in range(700):
        window.append(said(f"{n} " + filler(20)))
        window.prepare()
    assert len(window.events) == 1000
    assert window.events.counts["evict", "evict"] > 100
    assert window.events.counts["compact", "compact"] == 0
    assert window.result is not None
    assert list(window.events)[-len(window.result.events) :] == list(window.result.events)


def test_every_prepare_logs_one_line(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, logger="ctxpolicy")
    window = opened([*opening(), *steps(30)], summarize=Notes())
    window.prepare()
    window.prepare()
    first, second = [record.getMessage() for record in caplog.records]
    assert first.startswith("pressure 0.4")
    assert "compact compacted" in first
    assert "of 4,000 tokens" in first
    assert second.endswith("nothing to do")
    assert all("\n" not in line for line in (first, second))


def test_nothing_is_logged_above_info(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.WARNING, logger="ctxpolicy")
    opened([*opening(), *steps(60)]).prepare()
    assert caplog.records == []


# ---- the archive --------------------------------------------------------------------------------


class Broken(MemoryArchive):
    """An archive that cannot write while `broken` is set."""

    broken = True

    def put(self, records: Sequence[dict[str, Any]]) -> None:
        if self.broken:
            raise OSError(28, "No space left on device", "/archive")
        super().put(records)


def test_with_a_failing_archive_nothing_is_removed_and_one_event_says_why() -> None:
    archive = Broken()
    given = [*opening(), *steps(30), calls("c1"), result("c1", filler(900))]
    window = opened(given, summarize=Notes(), archive=archive)
    assert window.prepare() == given  # the long result too: its cut is not archived
    assert window.result is not None
    assert acted(window.result.events) == []
    assert window.result.removed == ()
    (told,) = [event for event in window.result.events if event.action == "archive"]
    assert "No space left on device" in told.reason
    assert "/archive" in told.reason
    assert told.failed
    assert {decision.fate for decision in window.result.decisions} <= {"kept", "pinned", "live"}


def test_when_the_archive_recovers_cuts_are_made_after_all() -> None:
    archive = Broken()
    given = [*opening(), *steps(30), calls("c1"), result("c1", filler(900)), said("ok")]
    window = opened(given, summarize=Notes(), archive=archive)
    window.prepare()
    archive.broken = False
    out = window.prepare()
    assert summaries(out)
    assert chars(out[-2]["content"]) <= 200
    assert ctxpolicy.restore(out, archive) == given
    assert window.result is not None
    assert acted(window.result.events, "cap")


def test_a_failing_archive_counts_for_the_breaker() -> None:
    archive = Broken()
    notes = Notes()
    window = opened([*opening(), *steps(40)], summarize=notes, archive=archive, changes={"rules": {"evict": None}})
    for _ in range(8):
        window.prepare()
    asked = len(notes.requests)
    window.prepare()
    assert len(notes.requests) == asked
    assert "rests after" in reasons(window.result.events, "compact")  # type: ignore[union-attr]


def test_on_error_drop_goes_on_without_the_archive() -> None:
    window = opened(
        [*opening(), *steps(30)], summarize=Notes(), archive=Broken(), changes={"archive": {"on_error": "drop"}}
    )
    assert summaries(window.prepare())
    assert "the originals are lost" in reasons(window.events)


def test_a_window_writes_its_policys_archive(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    given = [*opening(), *steps(30)]
    window = opened(given, summarize=Notes(), changes={"archive": {"path": "kept"}})
    out = window.prepare()
    assert ctxpolicy.restore(out, tmp_path / "kept") == given
    silent = opened(given, summarize=Notes(), archive=False, changes={"archive": {"path": "none"}})
    assert silent.prepare() == out
    assert not (tmp_path / "none").exists()


def test_append_writes_nothing_and_dump_writes_what_was_cut() -> None:
    archive = MemoryArchive()
    given = [*opening(), calls("c1"), result("c1", filler(900))]
    window = opened(given, archive=archive)
    assert archive.records == []
    dump = window.dump()
    assert ctxpolicy.restore(dump["messages"], archive) == given
    assert chars(dump["messages"][-1]["content"]) <= 200


def test_a_dump_that_cannot_be_archived_holds_the_whole_results() -> None:
    archive = Broken()
    given = [*opening(), calls("c1"), result("c1", filler(900))]
    window = opened(given, archive=archive)
    dump = window.dump()
    assert dump["messages"] == given
    archive.broken = False
    resumed = policy().resume(dump, archive=archive)
    assert ctxpolicy.restore(resumed.prepare(), archive) == given


# ---- odd input ----------------------------------------------------------------------------------


def test_a_late_second_result_is_named_and_nothing_breaks() -> None:
    window = opened([*opening(), *steps(40)], summarize=Notes())
    assert "c0" not in str(window.prepare())
    window.append(said("hm"))
    window.append(result("c0", "a late second answer"))
    out = window.prepare()
    assert out[-1] == result("c0", "a late second answer")
    assert "tool results without an earlier call: message 83 (c0)" in reasons(window.events)


def test_a_pending_call_waits_for_its_result_however_late() -> None:
    window = opened(opening(), summarize=Notes())
    window.append(calls("slow"), meta={"pending": True})
    for message in [said("It runs; I go on."), *steps(60)]:
        if message["role"] == "assistant":
            window.prepare()
        window.append(message)
    assert calls("slow") in window.prepare()
    window.append(result("slow", "at last"))
    out = window.prepare()
    assert calls("slow") in out
    assert out[-1] == result("slow", "at last")


def test_markers_in_a_resumed_session_are_known_again() -> None:
    first = opened([*opening(), *steps(30)], summarize=Notes()).prepare()
    notes = Notes()
    window = opened(first, summarize=notes)
    assert window.prepare() == first
    assert notes.requests == []
    assert window.messages.count(marks(first)[0]) == 1
    assert is_mark(first[2])


def test_system_messages_alone_are_a_list() -> None:
    assert opened([system()]).prepare() == [system()]
    assert opened().prepare() == []
