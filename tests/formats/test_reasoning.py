"""Signed reasoning when history before it is rewritten: kept, stripped or the reason to rewrite nothing."""

from __future__ import annotations

from typing import Any

import pytest

from ctxpolicy.archive.restoring import restore
from ctxpolicy.lint import lint

from .policies import tiny


def looked(n: int, *, thinking: bool = True, size: int = 60) -> list[Any]:
    """A step of a tool loop with a signed thinking block."""
    thought = [{"type": "thinking", "thinking": f"weigh {n}", "signature": f"sig-{n}"}] if thinking else []
    call = {"type": "tool_use", "id": f"t{n}", "name": "look", "input": {"n": n}}
    result = {"type": "tool_result", "tool_use_id": f"t{n}", "content": f"hall {n} " + "steady " * size}
    return [{"role": "assistant", "content": [*thought, call]}, {"role": "user", "content": [result]}]


HISTORY = [{"role": "user", "content": "Look at all halls."}, *(m for n in range(6) for m in looked(n))]


def signatures(messages: list[Any]) -> list[str]:
    return [
        b["signature"] for m in messages if isinstance(m["content"], list) for b in m["content"] if "signature" in b
    ]


def policy(reasoning: str) -> Any:
    return tiny(500, 1000, ("results",), reasoning=reasoning)


def said(result: Any, word: str) -> list[str]:
    return [event.reason for event in result.events if word in event.reason]


def test_keep_leaves_the_blocks_and_says_so() -> None:
    result = policy("keep").apply(HISTORY, format="anthropic")
    assert 0 < len(signatures(result.messages)) < 6
    assert set(signatures(result.messages)) <= set(signatures(HISTORY))
    assert said(result, "strip_after_edit")


def test_strip_takes_out_those_behind_the_edit_and_no_other() -> None:
    result = policy("strip_after_edit").apply(HISTORY, format="anthropic")
    assert signatures(result.messages) == []
    assert [e.action for e in result.events if e.acted and e.rule is None] == ["reasoning"]
    assert "repaired" in {d.fate for d in result.decisions}
    assert {fault.code for fault in lint(result.messages, "anthropic")} <= {"ANT-20"}
    assert restore(result.messages, result.removed) == HISTORY


def test_stripped_once_new_reasoning_stays() -> None:
    strip = policy("strip_after_edit")
    first = strip.apply(HISTORY, format="anthropic")
    more = [*HISTORY, *looked(6, size=5)]
    second = strip.apply(more, format="anthropic", state=first.state)
    assert second.messages[: len(first.messages)] == first.messages
    assert signatures(second.messages) == ["sig-6"]


def test_the_same_originals_give_the_same_bytes() -> None:
    strip = policy("strip_after_edit")
    first = strip.apply(HISTORY, format="anthropic")
    assert strip.apply(HISTORY, format="anthropic", state=first.state).messages == first.messages


def test_refuse_edits_nothing_before_signed_reasoning() -> None:
    result = policy("refuse_edit").apply(HISTORY, format="anthropic")
    assert result.messages == HISTORY
    assert said(result, "reasoning: refuse_edit")


def test_refuse_edits_what_stands_behind_it() -> None:
    before, later = looked(9, thinking=False), [m for n in range(1, 6) for m in looked(n, thinking=False)]
    result = policy("refuse_edit").apply([HISTORY[0], *before, *looked(0), *later], format="anthropic")
    assert result.messages[:3] == [HISTORY[0], *before]
    assert len(result.messages) < len(later)


@pytest.mark.parametrize("reasoning", ["keep", "strip_after_edit", "refuse_edit"])
def test_unsigned_reasoning_binds_nothing(reasoning: str) -> None:
    call = {"id": "a", "type": "function", "function": {"name": "look", "arguments": "{}"}}
    step = [
        {"role": "assistant", "content": None, "reasoning_content": "weigh it", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "a", "content": "steady " * 60},
    ]
    messages = [{"role": "user", "content": "Look."}, *step * 4]
    kept = policy("keep").apply(messages)
    assert policy(reasoning).apply(messages).messages == kept.messages
    assert not said(kept, "reasoning")


def test_signed_reasoning_of_a_gateway_is_bound_too() -> None:
    call = {"id": "a", "type": "function", "function": {"name": "look", "arguments": "{}"}}
    blocks = [{"type": "thinking", "thinking": "weigh it", "signature": "sig"}]
    step = [
        {"role": "assistant", "content": "", "thinking_blocks": blocks, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "a", "content": "steady " * 60},
    ]
    messages = [{"role": "user", "content": "Look."}, *step * 5]
    result = policy("strip_after_edit").apply(messages)
    assert not any("thinking_blocks" in message for message in result.messages)
    assert restore(result.messages, result.removed) == messages
