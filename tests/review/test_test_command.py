"""`ctxpolicy test`: finding files, exit codes, coverage, JUnit and json; and the same files under pytest."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from click.testing import Result

Run = Callable[..., Result]
PASSES = """\
version: 1
cases:
  - name: quiet
    given: [{role: user, text: Port the parser.}]
    expect: {sent: {unchanged: true}}
"""
FAILS = PASSES.replace("unchanged: true", "unchanged: false")


def test_all_passed(run: Run, tmp_path: Path) -> None:
    (tmp_path / "p.test.yaml").write_text(PASSES)
    for path in ([], ["."], ["p.yaml"], ["p.test.yaml"], ["p.yaml", "p.test.yaml"]):
        done = run("test", *path)
        assert done.exit_code == 0, done.output
        assert "1 case: 1 passed, 0 failed" in done.stdout


def test_a_failed_case(run: Run, tmp_path: Path) -> None:
    (tmp_path / "p.test.yaml").write_text(FAILS)
    done = run("test")
    assert done.exit_code == 1
    assert done.stdout.startswith("FAIL p.test.yaml:3: quiet\n  p.test.yaml:5: the list is sent unchanged\n")


@pytest.mark.parametrize(
    ("paths", "says"),
    [
        ([], "no tests in this folder"),
        (["empty"], "no tests in empty"),
        (["p.yaml"], "p.yaml: has no tests; write them into p.test.yaml"),
        (["gone.test.yaml"], "gone.test.yaml: no such file or folder"),
    ],
)
def test_nothing_to_run(run: Run, tmp_path: Path, paths: list[str], says: str) -> None:
    (tmp_path / "empty").mkdir()
    done = run("test", *paths)
    assert done.exit_code == 2
    assert says in done.stderr


def test_hidden_folders_are_left_out(run: Run, tmp_path: Path) -> None:
    (tmp_path / ".venv").mkdir()
    (tmp_path / ".venv" / "p.test.yaml").write_text(FAILS)
    assert run("test").exit_code == 2


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "this test file is empty"),
        ("version: 1\ncases: []\n", "`cases` is an empty list"),
        ("version: 2\ncases: [{name: x}]\n", "`version` must be 1"),
        ("version: 1\n", "the test file needs `cases`"),
        ("version: 1\npolicy: q.yaml\ncases: [{name: x}]\n", "cannot read q.yaml"),
        ("version: 1\npolicy: builtin:defalt\ncases: [{name: x}]\n", "builtin:default"),
        ("version: 1\ncases: [{name: x, given: [{role: usr}]}]\n", "did you mean `user`?"),
        ("version: 1\nwindow: 1\ncases: [{name: x}]\n", "this case has no assertion"),
        ("version: 1\ncases: [{name: x\n", "p.test.yaml:2:9"),
    ],
)
def test_a_file_that_is_not_sound_fails(run: Run, tmp_path: Path, text: str, says: str) -> None:
    (tmp_path / "p.test.yaml").write_text(text)
    done = run("test")
    assert done.exit_code == 1
    assert says in done.stdout


def test_binary_files_and_folders_named_so(run: Run, tmp_path: Path) -> None:
    (tmp_path / "p.test.yaml").write_bytes(b"\x00\x01")
    done = run("test")
    assert done.exit_code == 2
    assert "binary data" in done.stderr


COVERING = """\
version: 1
cases:
  - name: acts
    given:
      - {role: user, text: Port it.}
      - {tool: bash, tokens: 300}
      - {tool: bash, tokens: 90, repeat: 9}
      - {role: assistant, text: Yes.}
    expect: {events: [{rule: cap, fired: true}, {rule: drop, fired: true}]}
  - name: refuses
    given: [{role: user, tokens: 1000}]
    expect: {refused: {by: too-big}}
"""


def test_coverage_says_why_something_is_not_exercised(run: Run, tmp_path: Path) -> None:
    (tmp_path / "p.test.yaml").write_text(COVERING)
    done = run("test", "--coverage-min", "90")
    assert done.exit_code == 1
    assert "p.yaml: 4 of 6 pins and rules exercised (67 %)" in done.stdout
    assert "p.yaml:6: pin marked: never matched: no case has a message that it matches" in done.stdout
    assert "p.yaml:10: rule shrink: changed nothing: declined: no summariser is set" in done.stdout
    assert "p.yaml: coverage 67 % is under --coverage-min 90" in done.stderr
    assert run("test", "--coverage-min", "60").exit_code == 0


def coverage(run: Run, tmp_path: Path, policy: str, cases: str) -> dict[str, tuple[str, str]]:
    (tmp_path / "p.yaml").write_text(policy)
    (tmp_path / "p.test.yaml").write_text(f"version: 1\ncases:\n{cases}")
    done = run("test", "--format", "json")
    (found,) = json.loads(done.stdout)["coverage"]
    return {entry["id"]: (entry["status"], entry["why"]) for entry in found["entries"]}


BASE = "version: 1\nbudget: {window: 1000, counter: chars}\n"
DROP = "  - {id: drop, at: send, when: {pressure: {gt: 0.5}}, evict: {until: all}}\n"
CASE = """\
  - name: x
    given: [{role: user, text: Port it.}, {tool: bash, tokens: 90, repeat: 8}, {role: assistant, text: Yes.}]
    expect: {usage: {fits: true}}
"""


def test_a_pin_behind_others_is_shadowed(run: Run, tmp_path: Path) -> None:
    pins = "pins:\n  - {id: results, match: {role: tool}}\n  - {id: bash, match: {tool: bash}}\n"
    found = coverage(run, tmp_path, f"{BASE}{pins}rules:\n{DROP}", CASE)
    assert found["bash"] == ("shadowed", "results always came first")
    assert found["results"][0] == "changed nothing"  # without it the other protects the same
    assert found["drop"][0] == "shadowed"
    assert "pin `results`" in found["drop"][1]


def test_a_pin_without_which_all_would_stay_changes_nothing(run: Run, tmp_path: Path) -> None:
    pins = "pins:\n  - {id: results, match: {role: tool}}\n"
    found = coverage(run, tmp_path, f"{BASE}{pins}rules:\n{DROP.replace('0.5', '0.99')}", CASE)
    assert found["results"] == ("changed nothing", "every case sends the same list without it")
    assert found["drop"][0] == "never matched"
    assert "pressure > 0.99 was 0." in found["drop"][1]


def test_a_pin_on_the_newest_request_counts_while_a_rule_acts(run: Run, tmp_path: Path) -> None:
    pins = "pins:\n  - {id: request, match: {role: user, newest: 1}}\n"
    assert coverage(run, tmp_path, f"{BASE}{pins}rules:\n{DROP}", CASE)["request"] == ("exercised", "")


def test_inherited_entries_of_built_in_policies_do_not_count(run: Run, tmp_path: Path) -> None:
    policy = (
        "version: 1\nextends: [builtin:default]\nbudget: {window: 16000}\npins: [{id: mine, match: {role: user}}]\n"
    )
    assert set(coverage(run, tmp_path, policy, CASE)) == {"mine"}


def test_two_files_about_one_policy_count_together(run: Run, tmp_path: Path) -> None:
    acts, refuses = COVERING.split("  - name: refuses")
    (tmp_path / "p.test.yaml").write_text(acts)
    (tmp_path / "more.test.yaml").write_text(f"version: 1\npolicy: p.yaml\ncases:\n  - name: refuses{refuses}")
    done = run("test", "--coverage-min", "50")
    assert done.exit_code == 0, done.output
    assert done.stdout.count("pins and rules exercised") == 1


def test_junit(run: Run, tmp_path: Path) -> None:
    (tmp_path / "p.test.yaml").write_text(PASSES + FAILS.split("cases:\n")[1].replace("quiet", "loud"))
    assert run("test", "--junit", "report.xml").exit_code == 1
    (suite,) = ET.parse(tmp_path / "report.xml").getroot()
    assert (suite.get("tests"), suite.get("failures")) == ("2", "1")
    assert [case.get("name") for case in suite] == ["quiet", "loud"]
    assert [case.get("line") for case in suite] == ["3", "6"]
    assert suite[1][0].get("message") == "p.test.yaml:8: the list is sent unchanged"


def test_json(run: Run, tmp_path: Path) -> None:
    (tmp_path / "p.test.yaml").write_text(FAILS)
    told = json.loads(run("test", "--format", "json").stdout)
    assert told["passed"] is False
    assert told["cases"][0]["faults"] == ["p.test.yaml:5: the list is sent unchanged"]


def test_verbose_names_every_case(run: Run, tmp_path: Path) -> None:
    (tmp_path / "p.test.yaml").write_text(PASSES)
    assert "pass p.test.yaml:3: quiet" in run("test", "-v").stdout


def test_pytest_collects_the_same_files(run: Run, tmp_path: Path) -> None:
    (tmp_path / "p.test.yaml").write_text(PASSES + FAILS.split("cases:\n")[1].replace("quiet", "loud"))
    (tmp_path / "other.test.yaml").write_text("tests: [of another tool]\n")
    plugin = ["-p", "no:cacheprovider", "-p", "ctxpolicy.testing.pytest_plugin"]
    command = [sys.executable, "-m", "pytest", "-q", *plugin, str(tmp_path)]
    quick = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    done = subprocess.run(
        [*command, str(tmp_path)], cwd=tmp_path, env=quick, capture_output=True, text=True, check=False
    )
    assert "1 failed, 1 passed" in done.stdout, done.stdout + done.stderr
    assert "p.test.yaml:8: the list is sent unchanged" in done.stdout
    assert "Traceback" not in done.stdout
