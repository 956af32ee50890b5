"""check, show and schema, as a user runs them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from ctxpolicy.cli import main


def run(*args: str | Path) -> Result:
    return CliRunner().invoke(main, [str(arg) for arg in args])


@pytest.fixture
def good(tmp_path: Path) -> Path:
    file = tmp_path / "good.yaml"
    file.write_text("version: 1\nextends: [builtin:default]\nbudget: {window: 64000}\n", encoding="utf-8")
    return file


@pytest.fixture
def bad(tmp_path: Path) -> Path:
    file = tmp_path / "bad.yaml"
    file.write_text("version: 1\nbudget: {window: 64000}\nrulez: []\n", encoding="utf-8")
    return file


def test_check_prints_thresholds_in_tokens(good: Path) -> None:
    done = run("check", good)
    assert done.exit_code == 0
    lines = [" ".join(line.split()) for line in done.stdout.splitlines()]
    assert "limit 64,000 x 0.7 - 4,000 40,800 tokens 64 % of the window" in lines
    assert "compact-oldest pressure > 0.70 28,560 tokens 45 % of the window" in lines
    assert "evict-oldest until pressure < 0.70 28,560 tokens 45 % of the window" in lines


def test_check_reports_errors_and_exits_1(good: Path, bad: Path) -> None:
    done = run("check", good, bad)
    assert done.exit_code == 1
    assert "bad.yaml:3:1: error CP201: unknown key `rulez`" in done.stdout
    assert "did you mean `rules`?" in done.stdout
    assert "good.yaml: valid" in done.stdout


def test_check_goes_on_after_a_file_it_cannot_read_and_exits_2(good: Path, tmp_path: Path) -> None:
    done = run("check", tmp_path / "gone.yaml", tmp_path, good)
    assert done.exit_code == 2
    assert done.stderr.count("cannot read") == 2
    assert "good.yaml: valid" in done.stdout


def test_check_knows_a_base() -> None:
    done = run("check", "builtin:harness", "builtin:default")
    assert done.exit_code == 0
    assert "builtin:harness: a base to extend" in done.stdout


def test_check_json(good: Path, bad: Path) -> None:
    data = json.loads(run("check", "--format", "json", good, bad).stdout)
    first, second = data["files"]
    assert first["valid"] is True
    assert first["limit"] == 40_800
    assert {"owner": "compact-oldest", "threshold": "pressure > 0.70", "tokens": 28_560} in first["thresholds"]
    finding = second["findings"][0]
    assert (finding["severity"], finding["code"], finding["line"], finding["column"]) == ("error", "CP201", 3, 1)


def test_show(good: Path, bad: Path) -> None:
    done = run("show", good)
    assert done.exit_code == 0
    assert "limit 40,800 tokens" in done.stdout
    assert f"window: 64000                                  # {good}:3" in done.stdout
    failed = run("show", bad)
    assert failed.exit_code == 1
    assert failed.stdout == ""
    assert "CP201" in failed.stderr


def test_show_json(good: Path) -> None:
    data = json.loads(run("show", "--format", "json", good).stdout)
    assert data["policy"]["rules"][2]["compact"]["breaker"] == 3
    assert data["origins"]["rules[2].compact.breaker"] == "default"
    assert data["origins"]["budget.window"] == f"{good}:3"
    assert data["limit"] == 40_800


def test_show_names_the_extended_file_of_each_value(tmp_path: Path) -> None:
    base, own = tmp_path / "team.yaml", tmp_path / "own.yaml"
    base.write_text(
        "version: 1\nbudget:\n  window: 9000\n  ratio: 0.5\nrules:\n  - {id: r, match: all, refuse: {}}\n", "utf-8"
    )
    own.write_text("version: 1\nextends: ./team.yaml\nbudget: {ratio: 0.6}\n", "utf-8")
    origins = json.loads(run("show", "--format", "json", own).stdout)["origins"]
    assert {key: origins[key] for key in ("budget.window", "budget.ratio", "rules[0].id", "rules[0].refuse")} == {
        "budget.window": f"{base}:3",
        "budget.ratio": f"{own}:3",
        "rules[0].id": f"{base}:6",
        "rules[0].refuse": f"{base}:6",
    }
    assert origins["budget.reserve"] == "default"
    lines = [" ".join(line.split()) for line in run("show", own).stdout.splitlines()]
    assert f"window: 9000 # {base}:3" in lines
    assert f"ratio: 0.6 # {own}:3" in lines


def test_schema_prints_the_file() -> None:
    done = run("schema")
    assert done.exit_code == 0
    assert json.loads(done.stdout)["title"] == "ctxpolicy policy, version 1"


@pytest.mark.parametrize("command", ["check", "show", "schema", "explain-code"])
def test_help(command: str) -> None:
    done = run(command, "--help")
    assert done.exit_code == 0
    assert "Usage" in done.stdout
