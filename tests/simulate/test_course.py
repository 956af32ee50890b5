"""Sessions played through a live window: what is counted, what a prompt cache had, and the verdict."""

from __future__ import annotations

from typing import Any

import pytest

import ctxpolicy
from ctxpolicy import SummaryRequest
from ctxpolicy.simulate.course import Course, play
from ctxpolicy.simulate.judge import Pairs
from ctxpolicy.simulate.profiles import session
from ctxpolicy.simulate.reading import Seen
from ctxpolicy.simulate.summaries import FAULTS, note

from .policies import GOOD, NO_WAY_OUT, RESTLESS, TASK_GONE

ROOMY = "version: 1\nname: roomy\nbudget: {window: 1000000, counter: chars}\n"


def _play(policy: str, messages: Any = None, **kwargs: Any) -> Course:
    return play(ctxpolicy.loads(policy), messages or session("service", 40, 1), "made up", **kwargs)


def _user(text: str) -> dict[str, Any]:
    return {"role": "user", "content": text}


def _assistant(text: str) -> dict[str, Any]:
    return {"role": "assistant", "content": text}


class TestCounting:
    def test_a_call_is_made_before_each_reply(self) -> None:
        """By `chars` a message of 4 characters is 1 + 4 tokens, and a call has 3 more."""
        course = _play(ROOMY, [_user("aaaa"), _assistant("bbbb"), _user("cccc"), _assistant("dddd")])
        assert [(call.messages, call.whole, call.sent, call.cached) for call in course.calls] == [
            (1, 8, 8, 0),
            (3, 18, 18, 8),
        ]
        assert (course.sent, course.whole, course.peak, course.cached, course.whole_cached) == (26, 26, 18, 8, 8)
        assert course.price == course.whole_price == pytest.approx(26 - 0.9 * 8)

    def test_a_session_that_waits_for_a_reply_has_one_call_more(self) -> None:
        assert len(_play(ROOMY, [_user("a"), _assistant("b"), _user("c")]).calls) == 2
        assert len(_play(ROOMY, [_user("a")]).calls) == 1
        assert len(_play(ROOMY, [_assistant("a"), _user("c"), _assistant("d")]).calls) == 1
        assert len(_play(ROOMY, [_user("a"), _assistant("b"), _assistant("c")]).calls) == 2

    def test_keeping_everything_is_compared_with(self) -> None:
        kept, managed = _play(ROOMY), _play(GOOD)
        assert kept.sent == kept.whole == managed.whole
        assert kept.cached == kept.whole_cached == managed.whole_cached
        assert managed.peak < kept.peak == managed.whole_peak
        assert managed.sent < kept.sent

    def test_a_change_in_the_middle_costs_the_cache(self) -> None:
        course = _play(GOOD)
        broken = [call for call in course.calls[1:] if call.cached < 0.5 * call.sent]
        assert broken
        assert all(any(event.acted for event in call.events) for call in broken)
        quiet = [call for before, call in zip(course.calls, course.calls[1:], strict=False) if not call.events]
        assert quiet
        for call in quiet:
            assert call.cached == course.calls[call.number - 2].sent

    def test_summaries_are_counted_and_paid(self) -> None:
        prompts: list[SummaryRequest] = []
        course = _play(GOOD, summarize=lambda request: prompts.append(request) or note(request))
        assert course.asked == len(prompts) > 0
        assert course.asked_tokens == sum(-(-len(request.prompt) // 4) for request in prompts)
        assert course.price == pytest.approx(course.sent - 0.9 * course.cached + course.asked_tokens)
        assert sum(call.asked for call in course.calls) == course.asked

    def test_no_summariser_is_none_asked(self) -> None:
        course = _play(GOOD, summarize=False)
        assert course.asked == 0
        assert any(event.action == "evict" for call in course.calls for event in call.events)
        assert not course.findings

    def test_a_refused_message_is_left_out(self) -> None:
        course = _play(GOOD, [_user("a"), _assistant("b"), _user("x" * 50_000), _user("c")])
        assert course.refused == 1
        assert course.peak < 100

    def test_a_refused_result_gets_the_answer_that_the_error_offers(self) -> None:
        call = {"id": "a", "type": "function", "function": {"name": "ls", "arguments": "{}"}}
        policy = GOOD.replace("{id: cap,", "{id: cap-no-more,").replace("tokens: {gt: 800}", "contains: nowhere")
        result = {"role": "tool", "tool_call_id": "a", "content": "x" * 50_000}
        course = _play(policy, [_user("a"), {"role": "assistant", "content": None, "tool_calls": [call]}, result])
        assert (course.refused, len(course.calls)) == (1, 2)
        assert not course.findings

    def test_the_fate_of_each_message(self) -> None:
        messages = list(session("service", 40, 1))
        decisions = _play(GOOD, messages).decisions
        assert len(decisions) == len(messages)
        assert decisions[1].fate == "pinned"
        assert {decision.fate for decision in decisions} >= {"compacted", "kept", "pinned"}

    def test_the_same_again_is_the_same(self) -> None:
        assert _play(GOOD).calls == _play(GOOD).calls


class TestVerdict:
    def test_a_sound_policy_passes(self) -> None:
        course = _play(GOOD)
        assert course.asked > 2
        assert course.findings == ()

    @pytest.mark.parametrize("fault", FAULTS)
    def test_and_passes_when_the_summariser_fails(self, fault: str) -> None:
        course = _play(GOOD, summarize=FAULTS[fault])
        assert course.asked > 0
        assert course.findings == ()

    def test_over_the_line_while_something_could_leave(self) -> None:
        (finding,) = _play(NO_WAY_OUT, summarize=FAULTS["fail"]).findings
        assert finding.fault == "over the line"
        assert "of the limit while" in finding.text

    def test_not_over_the_line_when_nothing_can_leave(self) -> None:
        policy = NO_WAY_OUT.replace("{role: user, oldest: 1}", "all")
        assert _play(policy).peak > 12_000
        assert not _play(policy).findings

    def test_task_gone(self) -> None:
        (finding,) = _play(TASK_GONE).findings
        assert finding.fault == "task gone"
        assert finding.calls > 1
        assert f"(call {finding.call}, and at {finding.calls - 1} more)" in str(finding)

    def test_pair_split(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """No policy can split a pair, so the engine is broken here: every message counts as a unit of its own."""

        def apart(structure: Any, protected: Any) -> list[tuple[int, int]]:
            return [(i, i + 1) for i in range(len(protected)) if not protected[i]]

        monkeypatch.setattr("ctxpolicy.actions.evict.free_blocks", apart)
        messages = [m for m in session("service", 60, 1) if m["role"] != "user" or "task" in m["content"]]
        findings = _play(GOOD, messages, summarize=False).findings
        assert "pair split" in {finding.fault for finding in findings}

    def test_compacts_too_often(self) -> None:
        (finding,) = _play(RESTLESS).findings
        assert finding.fault == "compacts too often"

    def test_a_pair_that_came_in_split_is_no_fault_of_the_policy(self) -> None:
        stray = {"role": "tool", "tool_call_id": "gone", "content": "left over"}
        dead = {"id": "d", "type": "function", "function": {"name": "ls", "arguments": "{}"}}
        messages = [
            _user("a"), stray, {"role": "assistant", "content": "", "tool_calls": [dead]}, _user("b"), _assistant("c"),
        ]  # fmt: skip
        assert not _play(ROOMY, messages).findings

    def test_pairs_are_counted_by_id_and_place(self) -> None:
        def seen(calls: tuple[str, ...] = (), results: tuple[str, ...] = ()) -> Seen:
            return Seen({}, 1, "", "assistant", calls, results)

        pairs = Pairs()
        for one in (seen(("a", "b")), seen(results=("b",)), seen(("a",)), seen(results=("a", "x"))):
            pairs.add(one)
        assert (pairs.unanswered, pairs.orphans) == (1, 1)
