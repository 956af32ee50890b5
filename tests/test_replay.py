"""`policy.replay`: a result for each recorded model call, as a live loop would have had it."""

from __future__ import annotations

from typing import Any

import pytest

import ctxpolicy
from ctxpolicy.calls import RecordedCall, recorded_calls

POLICY = """\
version: 1
name: small
budget: {window: 1000, counter: chars}
pins:
  - {id: recent, match: {newest: 1}}
  - {id: marked, match: {meta: {keep: true}}}
rules:
  - {id: cap, at: append, match: {role: tool, tokens: {gt: 100}}, truncate: {max_tokens: 60}}
  - {id: too-big, at: append, match: {share: {gte: 0.8}}, refuse: {}}
  - {id: drop, at: send, when: {pressure: {gt: 0.50}}, evict: {until: {pressure: {lt: 0.25}}}}
"""


@pytest.fixture
def policy() -> ctxpolicy.Policy:
    return ctxpolicy.loads(POLICY)


def said(role: str, size: int = 40, **more: Any) -> dict[str, Any]:
    """A message of size / 4 + 4 tokens."""
    return {"role": role, "content": role[0] * size, **more}


def session(turns: int) -> list[Any]:
    """Questions that are read up with a tool and answered: two calls a turn."""
    messages: list[Any] = [said("system")]
    for turn in range(turns):
        call = {"id": f"c{turn}", "type": "function", "function": {"name": "read", "arguments": "{}"}}
        messages += [
            said("user", 200),
            said("assistant", 0, tool_calls=[call]),
            said("tool", 1000 if turn % 2 else 80, tool_call_id=f"c{turn}"),
            said("assistant"),
        ]
    return messages


class TestCalls:
    def test_one_for_each_reply(self, policy: ctxpolicy.Policy) -> None:
        assert len(list(policy.replay(session(3)))) == 6
        assert [len(result.messages) for result in policy.replay(session(1))] == [2, 4]

    def test_what_waits_at_the_end_is_no_recorded_call(self, policy: ctxpolicy.Policy) -> None:
        assert len(list(policy.replay([said("user"), said("assistant"), said("user")]))) == 1
        assert not list(policy.replay([said("user")]))

    def test_a_greeting_is_no_reply(self, policy: ctxpolicy.Policy) -> None:
        assert len(list(policy.replay([said("assistant"), said("user"), said("assistant")]))) == 1

    def test_chat_messages_one_after_the_other_are_calls_of_their_own(self, policy: ctxpolicy.Policy) -> None:
        assert len(list(policy.replay([said("user"), said("assistant"), said("assistant")]))) == 2

    def test_items_that_go_on_with_a_turn_are_one_call(self, policy: ctxpolicy.Policy) -> None:
        items: list[Any] = [
            {"type": "message", "role": "user", "content": "go"},
            {"type": "reasoning", "summary": []},
            {"type": "function_call", "call_id": "c", "name": "ls", "arguments": "{}"},
            {"type": "function_call_output", "call_id": "c", "output": "a.py"},
            {"type": "message", "role": "assistant", "content": "done"},
        ]
        assert [len(r.messages) for r in policy.replay(items, format="openai-responses")] == [1, 4]
        halves = [said("user"), said("assistant"), said("assistant"), said("user"), said("assistant")]
        assert [len(r.messages) for r in policy.replay(halves, format="anthropic")] == [1, 4]


class TestResults:
    def test_they_are_what_a_live_loop_sends(self, policy: ctxpolicy.Policy) -> None:
        messages = session(8)
        window = policy.window(archive=False)
        sent = []
        for message in messages:
            if message["role"] == "assistant":
                sent.append(list(window.prepare()))
            window.append(message)
        results = list(policy.replay(messages))
        assert [result.messages for result in results] == sent
        assert {e.rule for r in results for e in r.events if e.acted} == {"cap", "drop"}

    def test_they_stay_as_they_were(self, policy: ctxpolicy.Policy) -> None:
        at_once = [(list(r.messages), r.decisions, r.state) for r in policy.replay(session(8))]
        later = [(list(r.messages), r.decisions, r.state) for r in list(policy.replay(session(8)))]
        assert at_once == later

    def test_the_list_given_is_not_changed(self, policy: ctxpolicy.Policy) -> None:
        messages = session(8)
        for result in policy.replay(messages):
            result.messages[-1]["content"] = "edited"
        assert messages == session(8)

    def test_metadata(self, policy: ctxpolicy.Policy) -> None:
        messages = session(8)
        *_, last = policy.replay(messages, meta={1: {"keep": True}})
        assert messages[1] in last.messages
        *_, last = policy.replay(messages)
        assert last.messages[0] != messages[1]

    def test_tools_and_system_are_counted(self, policy: ctxpolicy.Policy) -> None:
        messages = [said("user"), {"role": "assistant", "content": "a"}]
        (plain,) = policy.replay(messages, format="anthropic")
        (more,) = policy.replay(messages, format="anthropic", tools=[{"name": "ls"}], system="x" * 400)
        assert more.usage.after["total"] == plain.usage.after["total"] + 100 + more.usage.tools

    def test_a_refused_result_is_replaced(self, policy: ctxpolicy.Policy) -> None:
        messages = session(1)
        messages[3]["content"] = "x" * 4000
        text = POLICY.replace("{role: tool, tokens: {gt: 100}}", "{role: tool, tokens: {gt: 2000}}")
        *_, last = ctxpolicy.loads(text).replay(messages)
        assert last.messages[-1]["tool_call_id"] == "c0"
        assert len(last.messages[-1]["content"]) < 400

    def test_another_refused_message_is_an_error(self, policy: ctxpolicy.Policy) -> None:
        replayed = policy.replay([said("user"), said("assistant"), said("user", 4000), said("assistant")])
        assert len(next(replayed).messages) == 1
        with pytest.raises(ctxpolicy.MessageTooLarge, match="message 2 cannot be sent"):
            next(replayed)

    def test_what_is_no_message_is_told_at_once(self, policy: ctxpolicy.Policy) -> None:
        with pytest.raises(ctxpolicy.TranscriptInvalid, match="message 1"):
            policy.replay([said("user"), 7])


class TestUsage:
    MESSAGES = (said("user"), said("assistant"), said("user"), said("assistant"), said("user"), said("assistant"))

    def test_recorded_stands_beside_counted(self, policy: ctxpolicy.Policy) -> None:
        found = recorded_calls(policy.pipeline(), self.MESSAGES, usage={1: 34, 5: 73})
        assert found == [RecordedCall(1, 17, 34), RecordedCall(3, 45), RecordedCall(5, 73, 73)]
        assert [call.factor for call in found] == [2.0, None, 1.0]

    def test_usage_told_behind_a_reply_is_that_reply_s(self, policy: ctxpolicy.Policy) -> None:
        found = recorded_calls(policy.pipeline(), self.MESSAGES, usage={0: 9, 2: 20, 3: 0})
        assert [call.recorded for call in found] == [20, None, None]

    def test_it_calibrates_from_the_next_call_on(self, policy: ctxpolicy.Policy) -> None:
        plain = [result.usage.pressure for result in policy.replay(self.MESSAGES)]
        observed = [result.usage.pressure for result in policy.replay(self.MESSAGES, usage={1: 34, 3: 9})]
        assert plain == [0.017, 0.045, 0.073]
        assert observed == pytest.approx([0.017, 0.09, 0.0365])  # twice as much, then half: the bounds

    def test_the_factor_is_that_of_the_recorded_list(self, policy: ctxpolicy.Policy) -> None:
        """What was taken out of the replayed list is not in the factor."""
        messages = session(12)
        calls = recorded_calls(policy.pipeline(), messages)
        usage = {call.index: round(call.counted * 1.5) for call in calls}
        *_, last = policy.replay(messages, usage=usage)
        assert last.usage.after["total"] < calls[-1].counted / 2
        assert last.usage.pressure == pytest.approx(1.5 * last.usage.after["total"] / 1000, rel=0.01)
