"""A live loop under a policy whose summariser fails in every way: it goes on, its list is whole, its events say why."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

import ctxpolicy
from ctxpolicy import Event, ManagedWindow, SummaryReply, SummaryRequest
from ctxpolicy.archive import MemoryArchive
from ctxpolicy.result import Spent
from summaries import server as ways
from summaries.conftest import KEY
from summaries.server import NOTE, Server, fails, page, says
from support import COMPACT, filler, policy, policy_text, said, step, system, user

TASK = user("Move the importer to port 8443 and leave deploy.sh alone, whatever happens.")


def loop(
    steps: int = 30, *, evicts: bool = False, compact: dict[str, Any] | None = None, **given: Any
) -> ManagedWindow:
    """A window over its trigger. `given` is for the policy, `summarize` for the window."""
    summarize = given.pop("summarize", None)
    rules = {"compact": {"compact": {**COMPACT, "word_limit": 60, **(compact or {})}}}
    made = policy(rules=rules | ({} if evicts else {"evict": None}), **given)
    window = made.window(summarize=summarize, archive=MemoryArchive())
    for message in (system(), TASK, *(m for n in range(steps) for m in step(n))):
        window.append(message)
    return window


def compactions(window: ManagedWindow) -> list[Event]:
    return [event for event in window.events if event.action == "compact"]


FAULTS = {
    "400": (fails(400), "answered 400"),
    "401": (fails(401), "check the key in OPENAI_API_KEY"),
    "404": (fails(404), "check the model 'tiny'"),
    "429": (fails(429), "answered 429: no luck, 3 times"),
    "500": (fails(500), "answered 500: no luck, 3 times"),
    "a page": (page(), "an HTML page (Bad Gateway), not JSON"),
    "half a body": (ways.half, "broke off"),
    "a closed line": (ways.closes, "cannot reach"),
    "silence": (ways.hangs, "gave no reply within 0.2 seconds"),
    "a stream that stops": (ways.stops, "gave no reply within 0.2 seconds"),
    "a trickle": (ways.trickles, "gave no reply within 0.2 seconds"),
    "no choice": (ways.gives({"choices": []}), "has no reply in it"),
    "a call": (says(None, "tool_calls", tool_calls=[{"id": "1"}]), "the reply is a tool call"),
    "a call in words": (says('<tool_call>{"name": "bash"}'), "the markup of a tool call"),
    "cut off": (says("The user", "length"), "the reply was cut off (finish_reason length)"),
    "filtered": (says("", "content_filter"), "finish_reason content_filter"),
    "blank": (says(" \n"), "the reply is blank"),
    "a loop": (says("the importer is on port 8443 and " * 30), "the reply repeats itself"),
    "an echo": (says(f"[2] assistant:\n  {filler(40)}"), "the reply goes on with the transcript"),
    "an apology": (says("I'm sorry, but I can't help with that."), "the reply declines"),
}
MODEL = {"use": "openai:tiny", "timeout": 0.2}


@pytest.mark.parametrize("fault", FAULTS)
def test_the_next_summariser_takes_over(endpoint: Server, fault: str) -> None:
    way, why = FAULTS[fault]
    endpoint.ways = [way]
    window = loop(summarizer=[{**MODEL, "timeout": 0.2 if "0.2" in why else 5}, "extract"])
    before = window.messages
    after = window.prepare()
    (event, *_) = compactions(window)
    assert event.acted
    assert "by extract (" in event.reason
    assert why in event.reason
    assert after[:2] == before[:2]
    assert after[-4:] == before[-4:]
    assert ctxpolicy.restore(after, window.result.removed) == before  # type: ignore[union-attr]


@pytest.mark.parametrize("fault", FAULTS)
def test_alone_it_declines_and_the_next_rule_acts(endpoint: Server, fault: str) -> None:
    way, why = FAULTS[fault]
    endpoint.ways = [way]
    window = loop(33, summarizer={**MODEL, "timeout": 0.2 if "0.2" in why else 5}, evicts=True)
    window.prepare()
    (event,) = compactions(window)
    assert (event.acted, event.failed) == (False, True)
    assert why in event.reason
    assert [e.rule for e in window.events if e.acted] == ["evict"]
    assert window.result.usage.fits  # type: ignore[union-attr]
    assert TASK in window.messages


def test_the_list_is_as_it_was_and_nothing_is_asked_again_unchanged(endpoint: Server) -> None:
    endpoint.ways = [says("")]
    window = loop(summarizer="openai:tiny")
    before = window.messages
    for _ in range(3):
        assert window.prepare() == before
    assert len(set(endpoint.prompts)) == len(endpoint.prompts) == 2  # the list holds two spans
    assert "failed before and has not grown by min_gain" in compactions(window)[-1].reason


def test_the_breaker_opens_and_closes(endpoint: Server) -> None:
    endpoint.ways = [says("")]
    window = loop(summarizer="openai:tiny", compact={"span": {"min": 2, "max": 4}})
    asked = []
    for n in range(100, 112):
        window.prepare()
        asked.append(len(endpoint.asked))
        window.append(said(filler(30, f"thought {n}")))
    assert asked[:3] == [1, 2, 3]  # each time another span: a failed one is not asked again
    assert asked[3] == 3
    assert any("rests after 3 failures in a row" in e.reason for e in compactions(window))
    assert 3 < asked[-1] < 8  # one attempt for each growth by min_gain
    endpoint.ways = [says(NOTE)]
    for n in range(200, 206):
        for message in step(n, 190):
            window.append(message)
        window.prepare()
    assert any(event.acted for event in compactions(window))  # and none had before


def test_what_the_calls_took_is_told_apart_from_the_conversation(endpoint: Server) -> None:
    endpoint.ways = [says("", "stop"), says(NOTE)]
    window = loop(summarizer=["openai:one", "openai:two"])
    window.prepare()
    assert [body["model"] for body in endpoint.asked[:2]] == ["one", "two"]
    (event, *_) = compactions(window)
    assert event.reason.startswith("compacted ")
    assert event.reason.endswith(", by openai:two (openai:one: the reply is blank)")
    assert event.spent == Spent(requests=2, input=200, output=40)
    assert window.result is not None
    usage = window.result.usage
    assert usage.summaries.requests == len(endpoint.asked)
    assert sum(usage.after.values()) - usage.after["total"] <= usage.after["total"]


def test_failed_calls_are_counted_too(endpoint: Server) -> None:
    endpoint.ways = [says("Half a", "length")]
    window = loop(summarizer="openai:tiny")
    window.prepare()
    assert window.result is not None
    assert window.result.usage.summaries == Spent(1, 100, 20)


def test_the_key_is_nowhere(endpoint: Server, tmp_path: Path) -> None:
    endpoint.ways = [fails(401, {"error": {"message": f"unknown key {KEY}"}}), says(f"{NOTE} The key is {KEY}.")]
    made = policy(summarizer=["openai:one", "openai:two"], rules={"evict": None})
    window = made.window(archive=tmp_path)
    for message in (system(), TASK, *(m for n in range(30) for m in step(n))):
        window.append(message)
    window.prepare()
    assert any(event.acted for event in compactions(window))
    everything = json.dumps(window.dump()) + "".join(map(str, window.events)) + repr(window.result)
    everything += "".join(file.read_text() for file in tmp_path.iterdir())
    assert "unknown key [key]" in everything
    assert KEY not in everything


def test_a_rules_own_summarisers_come_before_the_policys() -> None:
    asked: list[str] = []

    def told(window: ManagedWindow) -> str:
        window.prepare()
        return compactions(window)[0].reason

    window = loop(summarizer="extract", compact={"summarizer": "command:no-such-program"})
    assert "by extract (the summariser failed: command:no-such-program cannot be run" in told(window)
    window = loop(summarizer="extract", compact={"summarizer": ["command:no-such-program", "none"]})
    assert told(window).startswith("declined: the summariser failed: command:no-such-program cannot be run")
    window = loop(summarizer="extract", compact={"summarizer": "none"})
    assert "no summariser is set" in told(window)
    assert asked == []


def test_a_caller_may_name_several() -> None:
    def mine(request: SummaryRequest) -> SummaryReply:
        return SummaryReply(None, "length")

    window = loop(summarize=[mine, "extract"])
    window.prepare()
    assert "by extract (mine: the reply was cut off" in compactions(window)[0].reason


@pytest.mark.parametrize(
    ("use", "why"),
    [
        ("openai:gpt", "openai:gpt needs a key: set the environment variable OPENAI_API_KEY"),
        ("anthropic:claude", "anthropic:claude needs a key: set the environment variable ANTHROPIC_API_KEY"),
        ("scripted:no-such-file", "no-such-file cannot be read"),
    ],
)
def test_a_checked_policy_never_raises_for_a_summariser_that_is_not_there(
    monkeypatch: pytest.MonkeyPatch, use: str, why: str
) -> None:
    monkeypatch.setattr("ctxpolicy.summarize.remote.find_spec", lambda name: True)
    for name in ("OPENAI", "ANTHROPIC"):
        monkeypatch.delenv(f"{name}_API_KEY", raising=False)
        monkeypatch.delenv(f"{name}_BASE_URL", raising=False)
    window = loop(33, summarizer=use, evicts=True)
    window.prepare()
    (event,) = compactions(window)
    assert why in event.reason
    assert event.failed
    assert [e.rule for e in window.events if e.acted] == ["evict"]


def test_in_an_async_loop_the_model_does_not_hold_up_the_others(endpoint: Server) -> None:
    endpoint.ways = [ways.hangs]
    window = loop(summarizer=[{**MODEL, "timeout": 0.3}, "extract"])

    async def both() -> list[str]:
        order: list[str] = []

        async def prepare() -> None:
            await window.aprepare()
            order.append("prepared")

        async def other() -> None:
            await asyncio.sleep(0.01)
            order.append("other")

        await asyncio.gather(prepare(), other())
        return order

    assert asyncio.run(both()) == ["other", "prepared"]
    assert "by extract (the summariser failed: openai:tiny: " in compactions(window)[0].reason


def test_async_summarisers_follow_each_other() -> None:
    async def late(request: SummaryRequest) -> str:
        return ""

    async def later(request: SummaryRequest) -> str:
        return NOTE

    window = loop(summarize=[late, later])
    asyncio.run(window.aprepare())
    assert compactions(window)[0].reason.endswith(", by later (late: the reply is blank)")


# ---- keep_facts -------------------------------------------------------------------------------


def facts_loop(note: str, keep: dict[str, Any] | None, links: Any = ()) -> ManagedWindow:
    """A window whose old results hold ten paths."""
    rules = {"evict": None, "compact": {"compact": {**COMPACT, "word_limit": 100, "keep_facts": keep}}}
    if keep is None:
        del rules["compact"]["compact"]["keep_facts"]  # type: ignore[index]
    window = policy(rules=rules).window(summarize=[lambda request: note, *links], archive=False)
    window.append(system())
    window.append(TASK)
    for n in range(40):
        call, result = step(n)
        result["content"] = f"src/module_{n % 10}.py changed. {result['content'][:330]}"
        window.append(call)
        window.append(result)
    return window


HALF = "Changed so far: " + ", ".join(f"src/module_{n}.py" for n in range(5)) + "."
FEW = "Changed so far: src/module_3.py and others."


def test_a_note_with_enough_facts_is_taken_and_the_share_told() -> None:
    window = facts_loop(HALF, {"share": 0.5})
    window.prepare()
    event = compactions(window)[0]
    assert event.acted
    assert event.facts == 0.5
    assert "50% of the facts kept" in event.reason


def test_a_note_with_too_few_is_refused() -> None:
    window = facts_loop(FEW, {"share": 0.5})
    before = window.messages
    assert window.prepare() == before
    event = compactions(window)[0]
    assert "the note has 1 of the span's 10 facts, under 50%; it lacks 'src/module_" in event.reason


def test_or_it_gets_what_it_lacks_and_the_share_is_that_of_the_reply() -> None:
    window = facts_loop(FEW, {"share": 0.5, "on_missing": "append"})
    summary = window.prepare()[2]["content"]
    assert f"{FEW}\nAlso in it, word for word: src/module_" in summary
    assert all(f"src/module_{n}.py" in summary for n in range(10))
    assert compactions(window)[0].facts == pytest.approx(0.1)


def test_too_few_facts_are_a_case_for_the_next_summariser() -> None:
    window = facts_loop(FEW, {"share": 0.5}, ["extract"])
    window.prepare()
    event = compactions(window)[0]
    assert event.acted
    assert event.facts is not None
    assert event.facts >= 0.5


def test_without_keep_facts_nothing_is_counted() -> None:
    window = facts_loop(FEW, None)
    window.prepare()
    assert compactions(window)[0].acted
    assert compactions(window)[0].facts is None


def test_the_policy_text_is_checked() -> None:
    text = policy_text(rules={"compact": {"compact": {**COMPACT, "keep_facts": {"share": 1.5}}}})
    with pytest.raises(ctxpolicy.PolicyInvalid, match="share"):
        ctxpolicy.loads(text)
    text = policy_text(summarizer={"use": "openai:x", "base_url": "http://me:secret@host/v1"})
    with pytest.raises(ctxpolicy.PolicyInvalid, match="base_url"):
        ctxpolicy.loads(text)
