"""From text to policy: what is built, what is not run, and what hostile input does."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ctxpolicy.data import builtin_policies
from ctxpolicy.errors import PolicyInvalid
from ctxpolicy.policy.load import load_checked, load_file, load_named, load_spec, loads_checked
from ctxpolicy.policy.model import Amount, Compact, Compare, Match, Rank, Summarizer, When
from ctxpolicy.policy.report import report
from ctxpolicy.policy.source import PolicyUnreadable

HEAD = "version: 1\nbudget: {window: 100000}\n"


def codes(text: str) -> list[str]:
    return [finding.code for finding in load_spec(text).findings]


def test_the_default_policy_is_clean_and_says_what_the_design_says() -> None:
    loaded = load_named("builtin:default")
    assert loaded.findings == ()
    spec = loaded.spec
    assert spec is not None
    assert (spec.budget.limit, spec.budget.counter) == (85_600, "estimate")
    assert [pin.id for pin in spec.pins] == ["opening", "task", "request", "plan", "user-words", "explicit", "recent"]
    assert [rule.id for rule in spec.rules] == [
        "cap-tool-results",
        "refuse-oversized",
        "compact-oldest",
        "evict-oldest",
    ]
    assert len(spec.read_as) == 9
    assert spec.summarizer == ()


@pytest.mark.parametrize("name", builtin_policies())
def test_builtin_policies_begin_with_the_modeline(name: str) -> None:
    first = builtin_policies()[name].read_text(encoding="utf-8").splitlines()[0]
    assert first == "# yaml-language-server: $schema=../schema/policy-v1.schema.json"


def test_every_key_reaches_the_model() -> None:
    spec = loads_checked(
        HEAD
        + """
summarizer: [{use: 'command:./sum', timeout: 5, max_tokens: 300}, extract]
pins: [{id: p, match: {any: [{tool: ['a*', b]}, {has: image}], field: {x: [1, null]}, newest: {tokens: 9}}}]
rules:
  - id: r
    when: {all: [{pressure: {gt: 0.7}}, {not: {turns: {lt: 2}}}]}
    compact:
      until: {headroom: {gt: 50000}}
      keep: {newest: 3}
      span: {min: 3, max: 9}
      min_gain: {tokens: 70}
      word_limit: 90
      nothing: NONE
      prompt: 'note {{ span }}'
      input: {max_tokens: 800}
      max_passes: 2
      max_summaries: 4
      breaker: 5
      label: "[{{ count }} turns in short, ref {{ ref }}]\\nWhat happened:"
      marker: '[{{ count }} turns elsewhere, ref {{ ref }}]'
      summarizer: none
"""
    )
    assert spec.summarizer == (Summarizer("command:./sum", 5.0, 300), Summarizer("extract"))
    assert spec.pins[0].match == Match(
        any_=(Match(tool=("a*", "b")), Match(has=("image",))),
        field={"x": (1, None)},
        newest=Rank(amount=Amount(tokens=9)),
    )
    rule = spec.rules[0]
    assert rule.when == When(
        all_=(When((("pressure", Compare(gt=0.7)),)), When(not_=When((("turns", Compare(lt=2)),))))
    )
    assert rule.action == Compact(
        prompt="note {{ span }}", until=When((("headroom", Compare(gt=50_000)),)), keep=Match(newest=Rank(count=3)),
        span_min=3, span_max=9, min_gain=Amount(tokens=70), word_limit=90, nothing="NONE", input_tokens=800,
        max_passes=2, max_summaries=4, breaker=5,
        label="[{{ count }} turns in short, ref {{ ref }}]\nWhat happened:",
        marker="[{{ count }} turns elsewhere, ref {{ ref }}]", summarizer=(Summarizer("none"),),
    )  # fmt: skip


def test_the_point_of_a_rule_follows_from_its_action() -> None:
    spec = loads_checked(
        HEAD
        + "rules:\n  - {id: a, match: {role: tool}, mask: {batch: 2}}\n  - {id: b, match: {role: tool}, refuse: {}}\n"
    )
    assert [rule.at for rule in spec.rules] == ["send", "append"]


def test_the_hash_is_of_what_is_said_and_not_of_how() -> None:
    first = loads_checked("version: 1\nbudget: {window: 100000, ratio: 0.5}\n")
    again = loads_checked("# hello\nbudget:\n  ratio: 0.5\n  window: 100000\nversion: 1\n")
    other = loads_checked("version: 1\nbudget: {window: 100000, ratio: 0.6}\n")
    assert first.hash == again.hash != other.hash
    assert len(first.hash) == 64


def test_an_invalid_policy_never_runs_and_says_everything() -> None:
    with pytest.raises(PolicyInvalid) as caught:
        loads_checked("version: 1\nbudget: {window: 10, reserve: 20, rato: 1}\npins: [{id: a, match: {}}]\n")
    assert [finding.code for finding in caught.value.findings] == ["CP201", "CP208"]
    assert "<policy>:2:35: error CP201" in str(caught.value)
    assert "did you mean `ratio`?" in str(caught.value)


def test_meaning_is_judged_for_what_the_schema_let_pass() -> None:
    text = HEAD + "colour: red\npins: [{id: a, match: {regex: '('}}, {id: b, match: {rol: user}}]\n"
    assert codes(text) == ["CP201", "CP310", "CP201"]


def test_warnings_do_not_stop_a_policy() -> None:
    loaded = load_spec(HEAD + "archive: false\n")
    assert [finding.severity for finding in loaded.findings] == ["warning"]
    assert loaded.spec is not None


def test_only_so_many_faults_are_listed() -> None:
    findings = load_spec(HEAD + "".join(f"unknown{n}: 1\n" for n in range(300))).findings
    assert len(findings) == 101
    assert "CP209" in {finding.code for finding in findings}


def test_a_base_needs_no_window_but_cannot_run() -> None:
    loaded = load_named("builtin:harness")
    assert loaded.is_base
    assert not loaded.stopped
    assert [finding.code for finding in loaded.errors] == ["CP301"]
    assert loaded.spec is None
    half = load_spec("version: 1\npins: [{id: a, match: {newest: 1}}]\n")
    assert half.stopped


def test_a_name_that_is_no_builtin_policy() -> None:
    with pytest.raises(PolicyUnreadable, match="builtin:default"):
        load_checked("builtin:nothing")


def test_a_file_gives_its_folder_and_a_builtin_none(tmp_path: Path) -> None:
    file = tmp_path / "p.yaml"
    file.write_text(HEAD, encoding="utf-8")
    assert load_checked(file)[1] == tmp_path
    assert load_checked("builtin:default")[1] is None
    assert load_file(file).name == str(file)


@given(st.text(alphabet=st.characters(), max_size=200))
@settings(max_examples=200, deadline=None)
def test_no_text_makes_it_fall_over(text: str) -> None:
    loaded = load_spec(text)
    assert loaded.spec is None or not loaded.errors
    report(loaded.findings).encode("utf-8")


KEYS = """
version name extends disable read_as budget pins rules summarizer archive allow window ratio reserve counter id at match
when truncate mask compact evict refuse before role tool regex tokens share newest not any all until keep span min_gain
prompt marker label max_tokens head tail lt gt pressure used headroom as field meta CP404 path
"""
WORDS = st.sampled_from(KEYS.split())
VALUES = st.recursive(
    st.one_of(
        st.none(), st.booleans(), st.integers(-2, 200_000), st.floats(0, 2), WORDS,
        st.sampled_from(["all", "user", "append", "send", "(", "{{ span }}", "{% for", "[{{ ref }}]"]),
        st.just("builtin:harness"),
    ),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(WORDS, inner, max_size=6),
    max_leaves=25,
)  # fmt: skip


@given(st.dictionaries(WORDS, VALUES, max_size=6))
@settings(max_examples=120, deadline=None)
def test_no_document_makes_it_fall_over(document: dict[str, object]) -> None:
    import yaml

    text = yaml.safe_dump({"version": 1, "budget": {"window": 1000}, **document}, sort_keys=False)
    loaded = load_spec(text)
    assert (loaded.spec is None) == bool(loaded.errors)
    for finding in loaded.findings:
        assert finding.line >= 1
        assert finding.column >= 1
        assert finding.end_column > finding.column
    report(loaded.findings)
