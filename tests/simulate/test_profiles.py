"""Made-up sessions: valid, the same for the same seed, and of the sizes of real ones."""

from __future__ import annotations

import hashlib
import json
from typing import Any

import pytest

from ctxpolicy.simulate.profiles import PROFILES, session, tools


def _size(message: dict[str, Any]) -> int:
    calls = message.get("tool_calls", ())
    return len(message["content"] or "") + sum(len(call["function"]["arguments"]) for call in calls)


@pytest.mark.parametrize("name", PROFILES)
def test_every_call_has_its_result_and_every_turn_an_answer(name: str) -> None:
    waiting: list[str] = []
    turns = 0
    messages = list(session(name, 40, 3))
    for message in messages:
        if message["role"] == "tool":
            assert message["tool_call_id"] == waiting.pop(0)
            continue
        assert not waiting
        waiting = [call["id"] for call in message.get("tool_calls", ())]
        turns += message["role"] == "user"
        for call in message.get("tool_calls", ()):
            assert call["function"]["name"] in PROFILES[name].tools
            json.loads(call["function"]["arguments"])
    assert turns == 40
    assert messages[0]["role"] == "system"
    assert messages[-1]["role"] == "assistant"
    assert messages[-1].get("tool_calls") is None


def test_the_same_seed_gives_the_same_session() -> None:
    one, same, other = (json.dumps(list(session("coding", 20, seed))) for seed in (5, 5, 6))
    assert one == same != other
    # the sequence of Random.random is the same in every version of Python, so is the session
    assert hashlib.sha256(one.encode()).hexdigest()[:12] == "684988a923fa"


def test_a_longer_session_begins_as_a_shorter_one() -> None:
    short, longer = list(session("service", 5, 0)), list(session("service", 9, 0))
    assert longer[: len(short)] == short


def test_a_few_results_hold_most_of_the_text_of_a_coding_session() -> None:
    """Measured on recorded coding sessions: 2.8 % of the results are over 20,000 characters, with 40 % of the text."""
    messages = list(session("coding", 400, 0))
    results = [_size(message) for message in messages if message["role"] == "tool"]
    large = [size for size in results if size > 20_000]
    assert len(large) / len(results) == pytest.approx(0.028, abs=0.01)
    assert sum(large) / sum(results) == pytest.approx(0.40, abs=0.1)
    assert sum(results) / sum(map(_size, messages)) == pytest.approx(0.75, abs=0.1)


def test_a_screen_comes_with_each_result_of_a_computer() -> None:
    results = [message["content"] for message in session("computer", 10, 0) if message["role"] == "tool"]
    pictures = [content[1]["image_url"]["url"] for content in results]
    assert len(set(pictures)) == len(results) > 20


def test_results_of_services_are_json() -> None:
    results = [message["content"] for message in session("service", 60, 0) if message["role"] == "tool"]
    assert len(results) > 40
    assert all(json.loads(result)["records"] for result in results)


@pytest.mark.parametrize("name", PROFILES)
def test_tools_are_schemas(name: str) -> None:
    assert [tool["function"]["name"] for tool in tools(name)] == list(PROFILES[name].tools)
