"""A wrong kind of argument says what it is and what is wanted, before anything is done."""

from __future__ import annotations

from typing import Any

import pytest

import ctxpolicy
from ctxpolicy import CtxPolicyError, TranscriptInvalid

POLICY = ctxpolicy.load("builtin:default")
MESSAGES = [{"role": "user", "content": "hi"}]


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"meta": 5}, "meta= is an int; give an entry for each message, or a mapping by index"),
        ({"meta": "x"}, "meta= is a str"),
        ({"meta": {0: 5}}, "the metadata of a message is an int; give a mapping"),
        ({"meta": {3: {}}}, "meta names message 3, but there are 1 messages"),
        ({"meta": []}, "meta has 0 entries for 1 messages"),
        ({"tools": 5}, "tools= is an int; give the list of schemas"),
        ({"tools": "search"}, "tools= is a str"),
        ({"summarize": 5}, "summarize= is 5; give a function"),
        ({"state": 5}, "this is not a state that ctxpolicy returned"),
        ({"format": 5}, "unknown format 5"),
        ({"repair": "x"}, "cannot be repaired for 'x'"),
    ],
)
def test_apply(given: dict[str, Any], told: str) -> None:
    with pytest.raises(CtxPolicyError) as raised:
        POLICY.apply(MESSAGES, **given)
    assert told in str(raised.value)


@pytest.mark.parametrize("messages", [5, "hi", {"role": "user"}, None])
def test_messages_that_are_no_list(messages: Any) -> None:
    with pytest.raises(TranscriptInvalid, match="give them in a list"):
        POLICY.apply(messages)
    with pytest.raises(TranscriptInvalid, match="give them in a list"):
        POLICY.window(messages=messages)


@pytest.mark.parametrize("window", ["128000", 1.5, True])
def test_a_window_that_is_no_number_of_tokens(window: Any) -> None:
    with pytest.raises(CtxPolicyError, match="give the model's window as a whole number of tokens"):
        POLICY.window(window=window)


@pytest.mark.parametrize("meta", [5, "pin"])
def test_appending_with_something_else_as_metadata(meta: Any) -> None:
    window = POLICY.window()
    with pytest.raises(CtxPolicyError, match="give a mapping"):
        window.append(MESSAGES[0], meta)
    assert window.messages == []


@pytest.mark.parametrize(
    ("message", "other"),
    [
        ({"role": "assistant", "content": [{"type": "tool_use", "id": "a", "name": "run", "input": {}}]}, "anthropic"),
        ({"role": "user", "content": [{"type": "tool_result", "tool_use_id": "a", "content": "x"}]}, "anthropic"),
        ({"role": "user", "parts": [{"text": "hi"}]}, "gemini"),
    ],
)
def test_messages_of_a_format_that_was_not_named(message: dict[str, Any], other: str) -> None:
    with pytest.raises(TranscriptInvalid, match=f"message 1 is of the format {other}, .*: pass format='{other}'"):
        POLICY.apply([*MESSAGES, message])


def test_a_dump_knows_its_format() -> None:
    window = POLICY.window(format="anthropic")
    window.append({"role": "user", "content": [{"type": "text", "text": "hi"}]})
    dump = window.dump()
    resumed = POLICY.resume(dump)
    resumed.append({"role": "assistant", "content": [{"type": "tool_use", "id": "a", "name": "run", "input": {}}]})
    with pytest.raises(CtxPolicyError, match="holds messages of the format anthropic, and format='gemini' was given"):
        POLICY.resume(dump, format="gemini")
