"""`ctxpolicy diff`: what changes between two policies, over messages, rules and files."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result
from hypothesis import given, settings
from hypothesis import strategies as st

from ctxpolicy import MessageTooLarge, Policy
from ctxpolicy.review.compare import Comparison, Tallies, compare, rule_changes, total
from support import Notes, opening, policy, steps, user

from .helpers import POLICY

LONG = [*opening(), *steps(40)]
TIGHT = policy(rules={"cap": {"match": {"role": "tool", "tokens": {"gt": 50}}, "truncate": {"max_tokens": 50}}})
LOOSE = policy(rules={"evict": None, "compact": None})


def went(made: Policy, messages: list[Any]) -> Any:
    try:
        return made.apply(messages, summarize=Notes())
    except MessageTooLarge as error:
        return error


def compared(old: Policy, new: Policy, messages: list[Any]) -> Comparison:
    return compare("s.jsonl:1", len(messages), went(old, messages), went(new, messages))


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 60))
def test_a_policy_against_itself_changes_nothing(count: int) -> None:
    found = compared(policy(), policy(), [*opening(), *steps(count)])
    assert found.same
    assert (found.changed, found.sent, found.changes) == (0, 0, ())


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 60))
def test_changes_are_exactly_the_messages_with_another_fate(count: int) -> None:
    messages = [*opening(), *steps(count)]
    found = compared(policy(), LOOSE, messages)
    old, new = went(policy(), messages).decisions, went(LOOSE, messages).decisions
    changed = {a.index for a, b in zip(old, new, strict=True) if (a.fate, a.left) != (b.fate, b.left)}
    assert {i for c in found.changes for i in range(c.first, c.last + 1)} == changed
    assert found.changed == len(changed) == sum(c.count for c in found.changes)
    assert found.same is (not changed)


def test_another_protection_alone_is_told_but_sends_the_same() -> None:
    messages = [*opening(), *steps(4)]
    found = compared(policy(), policy(pins={"recent": None}), messages)
    assert found.changed > 0
    assert found.sent == 0
    assert found.old.after == found.new.after


def test_figures_of_both_sides() -> None:
    found = compared(policy(), TIGHT, LONG)
    assert found.old.before == found.new.before
    assert found.new.after == went(TIGHT, LONG).usage.after["total"]
    assert found.new.pressure == went(TIGHT, LONG).usage.pressure


def test_a_refusal_on_one_side() -> None:
    found = compared(policy(), policy(rules={"refuse": None}), [*opening(), user("x" * 20_000)])
    assert found.old.refused == "message 2 refused by refuse"
    assert found.new.refused is None
    assert not found.same
    assert total([found, found]).old.refused == "2 refused"


def test_rules_new_gone_quieter_busier_and_the_same() -> None:
    old, new = policy(), policy(rules={"evict": None, "cap": TIGHT_CAP, "mask": MASK})
    tallies = [Tallies(old.spec), Tallies(new.spec)]
    for made, tally in zip((old, new), tallies, strict=True):
        tally.add(went(made, LONG))
    kinds = {rule.id: rule.kind for rule in rule_changes(*tallies)}
    assert kinds == {"cap": "busier", "refuse": "same", "compact": "quieter", "mask": "new", "evict": "gone"}


TIGHT_CAP = {"match": {"role": "tool", "tokens": {"gt": 80}}, "truncate": {"max_tokens": 80}}
MASK = {"at": "send", "match": {"role": "tool", "all_but_newest": 3}, "mask": {"batch": 5}}


def test_totals_add_up() -> None:
    found = [compared(policy(), TIGHT, [*opening(), *steps(n)]) for n in (3, 30, 50)]
    whole = total(found)
    assert whole.messages == sum(c.messages for c in found)
    assert whole.changed == sum(c.changed for c in found)
    assert whole.new.after == sum(c.new.after for c in found)
    assert whole.new.pressure == max(c.new.pressure for c in found)


# ---- the command ------------------------------------------------------------------------------------------------

Run = Callable[..., Result]


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    (tmp_path / "q.yaml").write_text(POLICY.replace("0.90", "0.80").replace("id: cap,", "id: cut,"))
    names = []
    for n in (2, 9):
        path = tmp_path / f"s{n}.jsonl"
        path.write_text("".join(json.dumps(m) + "\n" for m in [user("Port the parser."), *steps(n, 80)]))
        names.append(path.name)
    return names


def test_the_command_shows_changes_rules_and_totals(run: Run, files: list[str]) -> None:
    done = run("diff", "p.yaml", "q.yaml", "--summarizer", "none", *files)
    assert done.exit_code == 0, done.output
    assert "s9.jsonl:1: " in done.stdout
    assert "1 conversation the same under both" in done.stdout
    assert "cut" in done.stdout
    assert "new" in done.stdout
    assert "gone" in done.stdout
    assert done.stdout.splitlines()[-1].startswith("2 conversations: ")
    assert all(len(line) <= 100 for line in done.stdout.splitlines()[1:8])


def test_exit_codes(run: Run, files: list[str]) -> None:
    assert run("diff", "--exit-code", "p.yaml", "p.yaml", *files).exit_code == 0
    assert run("diff", "--exit-code", "--summarizer", "none", "p.yaml", "q.yaml", *files).exit_code == 1
    assert run("diff", "p.yaml", "gone.yaml", *files).exit_code == 2
    assert run("diff", "p.yaml", "p.yaml", "gone.jsonl").exit_code == 2
    assert run("diff", "p.yaml", "p.yaml", files[0], "gone.jsonl").exit_code == 1
    assert run("diff", "p.yaml", "p.yaml").exit_code == 2


def test_json_has_everything(run: Run, files: list[str]) -> None:
    done = run("diff", "p.yaml", "q.yaml", "--summarizer", "none", "--format", "json", *files)
    told = json.loads(done.stdout)
    assert told["same"] is False
    assert [c["same"] for c in told["conversations"]] == [True, False]
    assert {rule["id"]: rule["kind"] for rule in told["rules"]}["cut"] == "new"
    assert told["total"]["messages"] == sum(c["messages"] for c in told["conversations"])


def test_nothing_is_written(run: Run, files: list[str], tmp_path: Path) -> None:
    before = sorted(p.name for p in tmp_path.iterdir())
    run("diff", "p.yaml", "q.yaml", *files)
    assert sorted(p.name for p in tmp_path.iterdir()) == before
