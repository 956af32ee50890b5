"""Every shipped policy is valid, has tests that pass, and no pin or rule that they leave out."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

import ctxpolicy
from ctxpolicy.data import builtin_policies
from ctxpolicy.policy.load import load_file
from ctxpolicy.testing.coverage import Coverage
from ctxpolicy.testing.outcome import run_suite
from ctxpolicy.testing.suite import load_suite

from .helpers import ROOT

POLICIES = ROOT / "policies"
TESTS = sorted(POLICIES.rglob("*.test.yaml"))
PUBLISHED = [file for file in sorted(POLICIES.glob("published/*.yaml")) if not file.name.endswith(".test.yaml")]


def ids(file: Path) -> str:
    return file.name.removesuffix(".yaml")


@pytest.mark.parametrize("file", TESTS, ids=ids)
def test_the_cases_pass_and_exercise_every_pin_and_rule(file: Path) -> None:
    suite = load_suite(file, file.name)
    coverage = Coverage(suite)
    faults = [f"{o.where}: {o.name}\n{fault}" for o in run_suite(suite, coverage) for fault in o.faults]
    assert not faults, "\n".join(faults)
    left_out = [f"{e.id}: {e.status}: {e.why}" for e in coverage.entries() if e.status != "exercised"]
    assert left_out == []


@pytest.mark.parametrize("file", PUBLISHED, ids=ids)
def test_no_finding_not_even_a_warning(file: Path) -> None:
    loaded = load_file(file)
    assert [str(finding) for finding in loaded.findings] == []
    assert loaded.spec is not None
    assert loaded.spec.description


@pytest.mark.parametrize("file", PUBLISHED, ids=ids)
def test_each_published_strategy_names_its_source(file: Path) -> None:
    assert re.search(r"^# Source: ", file.read_text(), re.MULTILINE)


def test_every_shipped_policy_with_a_rule_has_tests() -> None:
    shipped = [*builtin_policies().values(), *PUBLISHED]
    with_rules = [file for file in shipped if "\nrules:" in file.read_text()]
    assert len(with_rules) > 11
    assert [file.name for file in with_rules if file.with_name(f"{file.stem}.test.yaml") not in TESTS] == []


def test_test_files_are_no_built_in_policies() -> None:
    assert {"default", "harness"} <= set(builtin_policies())
    assert not any("test" in name for name in builtin_policies())


# ---- SWE-agent ---------------------------------------------------------------------------------------------------
# The history processor of the published strategy, as SWE-agent 1.0 describes it: of the observations (user messages
# that are no demonstration), the first, which is the task, and the newest n stay; `polling` lets the number that goes
# move on only every so many steps.


def elided(history: list[dict[str, Any]], n: int, polling: int = 1) -> set[int]:
    """The places that the processor elides."""
    observations = [i for i, m in enumerate(history) if m["role"] == "user" and not m.get("is_demo")]
    gone = max(0, len(observations) // polling * polling - n)
    return set(observations[1:gone])


def histories() -> Iterator[Any]:
    corpus = ROOT.parent / "shared" / "corpus" / "swe-agent"
    for file in sorted(corpus.glob("*.traj")):
        history = json.loads(file.read_text(encoding="utf-8")).get("history") or []
        if all(isinstance(m.get("content"), str) and m["role"] in ("system", "user", "assistant") for m in history):
            yield pytest.param(history, id=file.name[:40])


def lines_of(text: str) -> int:
    return text.count("\n") + 1


@pytest.mark.parametrize("history", list(histories()) or [pytest.param(None, marks=pytest.mark.skip("no corpus"))])
def test_the_lists_of_swe_agent_are_reproduced(history: list[dict[str, Any]]) -> None:
    """Before every call: the same observations elided, everything else the same object.

    Ours stay where the placeholder would be longer than the observation: that is the one difference.
    """
    policy = ctxpolicy.load(POLICIES / "published" / "last-5-observations.yaml")
    compared = 0
    for end in range(1, len(history) + 1):
        if history[end - 1]["role"] != "user":
            continue
        given = history[:end]
        sent = policy.apply(given).messages
        expected = elided(given, 5)
        assert len(sent) == len(given)
        for i, (old, new) in enumerate(zip(given, sent, strict=True)):
            text = f"Old environment output: ({lines_of(old['content'])} lines omitted"
            if i not in expected:
                assert new is old
            elif new is not old:
                assert new["content"].startswith(text)
                compared += 1
            else:
                assert len(old["content"]) < 120
    assert compared > 0 or len(history) < 16


def test_polling_is_batch() -> None:
    """With `batch: P` the number of observations that stay moves between n and n + P - 1, as with `polling: P`."""
    text = (POLICIES / "published" / "last-5-observations.yaml").read_text()
    policy = ctxpolicy.loads(text.replace("    mask:\n", "    mask:\n      batch: 5\n"))
    history: list[dict[str, Any]] = [{"role": "system", "content": "s"}, {"role": "user", "content": "task"}]
    kept = []
    for n in range(30):
        history += [{"role": "assistant", "content": "ls"}, {"role": "user", "content": f"{n} " * 200}]
        sent = policy.apply(history).messages
        kept.append(sum(m["role"] == "user" and "omitted" not in m["content"] for m in sent) - 1)
    assert max(kept) == 9
    assert min(kept[5:]) == 5
    assert sum(a > b for a, b in pairwise(kept)) == 5  # the list is rewritten every fifth step only


def test_steps_that_recorded_their_query_are_reproduced() -> None:
    """Trajectories whose steps carry a `query` hold what was really sent; there it must be what we send."""
    corpus = ROOT.parent / "shared" / "corpus"
    policy = ctxpolicy.load(POLICIES / "published" / "last-5-observations.yaml")
    compared = 0
    for file in sorted(corpus.glob("swe-agent/*.traj")):
        trajectory = json.loads(file.read_text(encoding="utf-8"))
        for step in trajectory.get("trajectory") or []:
            if isinstance(step.get("query"), list) and any("lines omitted" in str(m) for m in step["query"]):
                given = trajectory["history"][: len(step["query"])]
                sent = policy.apply(given).messages
                told = [re.sub(r", ref [0-9a-f]{12}", "", str(m["content"])) for m in sent]
                assert told == [str(m["content"]) for m in step["query"]]
                compared += 1
    if not compared:
        pytest.skip("no recorded step carries a query with an elided observation")
