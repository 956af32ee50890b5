"""Every rule finds what it is for, at its place, and says what the provider would and what to do."""

from __future__ import annotations

import pytest

from ctxpolicy.formats import FORMATS
from ctxpolicy.lint import level_of, lint, rules

from .golden import GOLDEN


@pytest.mark.parametrize("code", GOLDEN)
def test_found_at_its_place(code: str) -> None:
    name, messages, place, request = GOLDEN[code]
    found = lint(messages, name, tools=request.get("tools"), request=request)
    assert place in [(fault.index, fault.path) for fault in found if fault.code == code], found


def test_every_rule_has_its_case() -> None:
    assert set(GOLDEN) == {code for name in FORMATS for code in rules(name)}


@pytest.mark.parametrize("name", FORMATS)
def test_rules_say_what_a_person_needs(name: str) -> None:
    for rule in rules(name).values():
        assert rule.level in ("error", "warning", "route")
        assert rule.title
        assert rule.error
        assert rule.do
        assert not rule.do.endswith(".")


def test_less_strict_where_the_provider_is() -> None:
    """Arguments that are no JSON are a fault of the model, which OpenAI passes on and Anthropic cannot hold."""
    bad = {"id": "a", "type": "function", "function": {"name": "f", "arguments": "{"}}
    (fault,) = [
        f
        for f in lint([{"role": "user", "content": "x"}, {"role": "assistant", "tool_calls": [bad]}])
        if f.code == "X-09"
    ]
    assert level_of(fault, "openai-chat") == "route"
    name, messages, _, _ = GOLDEN["X-09"]
    (fault,) = lint(messages, name)[:1]
    assert level_of(fault, name) == "error"


def test_what_is_still_in_flight_is_no_fault() -> None:
    for name, messages in (
        ("anthropic", GOLDEN["ANT-01"][1][:-1]),
        ("openai-chat", GOLDEN["OAC-01"][1][:-1]),
        ("openai-responses", GOLDEN["OAR-01"][1][:-1]),
        ("gemini", GOLDEN["GEM-03"][1][:-1]),
    ):
        assert not [fault for fault in lint(messages, name) if level_of(fault, name) == "error"]
