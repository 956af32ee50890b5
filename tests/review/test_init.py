"""`ctxpolicy init`: starters that are valid, also with everything commented in, and never write over a file."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

import ctxpolicy
from ctxpolicy.cli.init import starter
from ctxpolicy.data import builtin_policies
from ctxpolicy.policy.load import load_file

Run = Callable[..., Result]
KINDS = sorted(set(builtin_policies()) - {"harness"})


@pytest.mark.parametrize("kind", KINDS)
def test_every_starter_is_valid_and_the_same_as_what_it_extends(run: Run, kind: str) -> None:
    done = run("init", "--for", kind)
    assert done.exit_code == 0, done.output
    assert done.stderr == f"policy.yaml: a policy that extends builtin:{kind}; now run: ctxpolicy check policy.yaml\n"
    made, base = ctxpolicy.load("policy.yaml").spec, ctxpolicy.load(f"builtin:{kind}").spec
    assert (made.name, made.pins, made.rules, made.budget) == ("policy", base.pins, base.rules, base.budget)
    text = Path("policy.yaml").read_text()
    assert all(entry.id in text for entry in (*base.pins, *base.rules))
    assert max(map(len, text.splitlines())) <= 120


@pytest.mark.parametrize("kind", KINDS)
def test_every_suggestion_is_valid(tmp_path: Path, kind: str) -> None:
    head, _, suggestions = starter(kind, "p.yaml").partition("# pins:")
    text = head.replace("  # r", "  r") + re.sub(r"(?m)^# (?=\S*:|  )", "", f"# pins:{suggestions}")
    file = tmp_path / "p.yaml"
    file.write_text(text.replace("disable: [ID]", "disable: [explicit]").replace("openai:MODEL", "openai:gpt-x"))
    loaded = load_file(file)
    assert [str(finding) for finding in loaded.findings] == []
    assert loaded.spec is not None
    assert {"notes"} <= {pin.id for pin in loaded.spec.pins}
    assert loaded.spec.summarizer


def test_a_file_that_is_there_is_left_alone(run: Run, tmp_path: Path) -> None:
    (tmp_path / "mine.yaml").write_text("mine")
    done = run("init", "mine.yaml")
    assert done.exit_code == 2
    assert done.stderr == "error: mine.yaml is there already; give another name, or --force to write over it\n"
    assert (tmp_path / "mine.yaml").read_text() == "mine"
    assert run("init", "--force", "mine.yaml").exit_code == 0
    assert "name: mine\n" in (tmp_path / "mine.yaml").read_text()


def test_a_folder_is_made_and_a_dash_is_standard_output(run: Run, tmp_path: Path) -> None:
    assert run("init", "policies/agent.yaml").exit_code == 0
    assert (tmp_path / "policies" / "agent.yaml").exists()
    assert run("init", "-").stdout == starter("default", "policy.yaml")


def test_an_unknown_kind(run: Run) -> None:
    done = run("init", "--for", "chatt")
    assert done.exit_code == 2
    assert "chat" in done.stderr
