"""Repairs: a broken list comes out as one that the provider takes, a sound list as the same objects."""

from __future__ import annotations

import random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ctxpolicy.lint import level_of, lint
from ctxpolicy.lint.fix import fix
from formats.histories import FORMATS, Turn, histories, write

from .golden import GOLDEN, HI, answer, call, result, said, text, use

# What a repair cannot mend: it would have to invent ids, signatures, thinking or media.
BEYOND = {
    "X-00", "X-09", "X-10", "X-12", "X-01", "ANT-05", "ANT-06", "ANT-07", "ANT-08", "ANT-10", "ANT-12", "ANT-13",
    "ANT-14", "ANT-18", "ANT-24", "ANT-22", "ANT-23", "ANT-27", "ANT-31", "OAC-03", "OAC-04", "OAC-06", "OAC-07",
    "OAR-04", "OAR-07", "OAR-09", "OAR-10", "OAR-11", "OAR-16", "GEM-05", "GEM-07", "GEM-09", "GEM-11", "GEM-13",
}  # fmt: skip


SHORT = [Turn("Hello", picture=False, steps=(), answer="Hello")]


def errors(messages: list[Any], name: str) -> set[str]:
    return {fault.code for fault in lint(messages, name) if level_of(fault, name) == "error"}


@pytest.mark.parametrize("name", FORMATS)
@settings(max_examples=40, deadline=None)
@given(histories(), st.randoms(use_true_random=False))
def test_broken_histories_are_mended(name: str, turns: list[Any], chance: random.Random) -> None:
    messages = write(turns, name)
    broken = [message for message in messages if chance.random() > 0.3]
    if len(broken) > 3 and chance.random() < 0.5:
        at = chance.randrange(len(broken) - 1)
        broken[at], broken[at + 1] = broken[at + 1], broken[at]
    fixed = fix(broken, name)
    assert (fixed.messages == broken) is not bool(fixed.repairs)
    if fixed.repairs:  # orphans alone stay: without them there would be no list
        assert errors(fixed.messages, name) <= {"OAR-04"}
        assert not fix(fixed.messages, name).repairs


@pytest.mark.parametrize("name", FORMATS)
@settings(max_examples=40, deadline=None)
@given(histories())
def test_sound_lists_keep_their_objects(name: str, turns: list[Any]) -> None:
    messages = write(turns, name)
    fixed = fix(messages, name)
    assert not fixed.repairs
    assert not list(fixed.removed())
    assert all(a is b for a, b in zip(fixed.messages, messages, strict=True))


@pytest.mark.parametrize("code", [code for code in GOLDEN if code not in BEYOND])
def test_each_fault_that_can_be_mended(code: str) -> None:
    name, messages, _, request = GOLDEN[code]
    messages = [*messages, *([write(SHORT, name)[0]] if len(messages) == 1 else [])]  # something must be left
    rest = lint(fix(messages, name, strict=True).messages, name, tools=request.get("tools"), request=request)
    assert not [f for f in rest if f.code == code and level_of(f, name) == "error"]


def test_an_interrupted_call_gets_a_result_that_says_so() -> None:
    fixed = fix([HI, call("a", "b"), answer("b"), HI])
    assert fixed.messages == [HI, call("a", "b"), answer("b"), answer("a", "No result: the call was interrupted."), HI]
    assert [str(repair) for repair in fixed.repairs] == ["message 1: OAC-01: answered the call of look"]


def test_results_of_one_turn_come_together_in_one_message() -> None:
    parted = [said("assistant", [use("a"), use("b")]), said("user", [result("a")]), said("user", [text("and?")])]
    fixed = fix([HI, *parted], "anthropic")
    (last,) = fixed.messages[2:-1]
    assert [block["tool_use_id"] for block in last["content"]] == ["a", "b"]
    assert fixed.messages[-1] is parted[-1]


def test_what_left_or_changed_is_told() -> None:
    orphan, blank = answer("zz"), said("user", "  ")
    fixed = fix([HI, orphan, blank])
    assert fixed.messages == [HI]
    assert [removed.removed for removed in fixed.removed()] == [(orphan,), (blank,)]
    assert [(r.code, r.index) for r in fixed.repairs] == [("OAC-02", 1), ("OAC-05", 2)]


def test_strict_merges_and_leads() -> None:
    fixed = fix([said("assistant", "Hello"), HI, said("user", [text("there")])], "anthropic", strict=True)
    assert [message["role"] for message in fixed.messages] == ["user", "assistant", "user"]
    assert fixed.messages[-1]["content"] == [text("Hi"), text("there")]
