"""Whatever stands in a list: a clear error that names the message, or facts; never anything else."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ctxpolicy import formats
from ctxpolicy.archive.restoring import restore
from ctxpolicy.archive.standing import standing
from ctxpolicy.errors import TranscriptInvalid
from ctxpolicy.formats.detect import detect, format_of
from ctxpolicy.lint import lint
from ctxpolicy.lint.fix import fix

from .histories import FORMATS
from .policies import tiny

_KEY_NAMES = (
    "role content parts type text tool_calls function_call function name arguments id call_id tool_use_id input output "
    "thinking signature summary source data functionCall functionResponse response args inlineData thought image_url "
    "cache_control is_error action custom reasoning_content"
)
_NAMES = (
    "user assistant model tool function system text tool_use tool_result thinking message server_tool_use image "
    "web_search_tool_result document input_text output_text reasoning function_call function_call_output x {} base64 "
    "custom_tool_call shell_call_output compaction redacted_thinking mcp_approval_response \ud800 "
    "data:image/png;base64,??"
)
_KEYS = st.sampled_from(_KEY_NAMES.split())
_TEXTS = st.sampled_from([*_NAMES.split(), "", "f", "f", "a3f9a12c0d4e1b"])
_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | _TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_KEYS, inner, max_size=5),
    max_leaves=12,
)
_BLOCKS = st.builds(lambda kind, more: {**more, "type": kind}, _TEXTS, st.dictionaries(_KEYS, _VALUES, max_size=4))
_PARTS = st.dictionaries(_KEYS, _VALUES | st.fixed_dictionaries({"name": _TEXTS, "response": _VALUES}), max_size=3)
_MESSAGES = st.builds(
    lambda more, shape: {**more, **shape},
    st.dictionaries(_KEYS, _VALUES, max_size=3),
    st.one_of(
        st.fixed_dictionaries({"role": _TEXTS}),
        st.fixed_dictionaries(
            {"role": st.sampled_from(["user", "assistant"]), "content": st.lists(_BLOCKS, max_size=4)}
        ),
        st.fixed_dictionaries({"role": st.sampled_from(["user", "model"]), "parts": st.lists(_PARTS, max_size=4)}),
        st.fixed_dictionaries({"type": _TEXTS, "call_id": st.sampled_from(["f", "g"])}),
        st.fixed_dictionaries({"role": st.just("assistant"), "tool_calls": st.lists(_BLOCKS | _VALUES, max_size=3)}),
        st.fixed_dictionaries({"role": st.just("tool"), "tool_call_id": st.sampled_from(["f", "g"])}),
    ),
)
many = settings(max_examples=150, deadline=None)


@pytest.mark.parametrize("name", FORMATS)
class TestAnything:
    @many
    @given(_VALUES | _MESSAGES)
    def test_reading(self, name: str, wire: Any) -> None:
        messages: tuple[Any, ...] = ()
        refusal = None
        try:
            messages = formats.get(name).read(wire, 7)
        except TranscriptInvalid as error:
            refusal = error
        if refusal is not None:
            assert refusal.index == 7
            assert "message 7" in str(refusal)
        else:
            assert formats.get(name).join(messages) == [wire]
            assert {message.index for message in messages} == {7}

    @many
    @given(st.lists(_MESSAGES, max_size=5))
    def test_judging_and_repairing(self, name: str, messages: list[Any]) -> None:
        if any(fault.code == "X-00" for fault in lint(messages, name)):
            return
        fixed = fix(messages, name)
        lint(fixed.messages, name)
        assert fix(fixed.messages, name).repairs == []

    @many
    @given(st.lists(_MESSAGES, min_size=1, max_size=6))
    def test_a_run(self, name: str, messages: list[Any]) -> None:
        try:
            result = tiny(30, 61).apply(messages, format=name, summarize=lambda _: "A note.")
        except TranscriptInvalid:
            return
        assert not [event for event in result.events if "the step failed" in event.reason]
        assert restore(result.messages, result.removed) == messages


@many
@given(_VALUES | _MESSAGES)
def test_telling_the_format(wire: Any) -> None:
    assert format_of(wire) in (None, *FORMATS)
    assert detect([wire]) in FORMATS
    assert isinstance(standing(wire), str)
