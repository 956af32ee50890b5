"""What others run in their CI: the pre-commit hook and the examples of docs/ci.md."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
import yaml

from ctxpolicy.cli import COMMANDS

ROOT = Path(__file__).resolve().parents[2]
BLOCKS = re.findall(r"^```yaml\n(.*?)^```$", (ROOT / "docs" / "ci.md").read_text(encoding="utf-8"), re.M | re.S)


def test_the_hook_runs_check_on_policies_and_not_on_their_tests() -> None:
    (hook,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
    assert hook["id"] == "ctxpolicy-check"
    assert hook["entry"] == "ctxpolicy check"
    assert re.search(hook["files"], "policies/default.yaml")
    assert not re.search(hook["files"], "my_policies/default.yaml")
    assert re.search(hook["exclude"], "policies/default.test.yaml")
    assert "check" in COMMANDS


@pytest.mark.parametrize("block", BLOCKS)
def test_the_examples_are_yaml_and_name_commands_that_there_are(block: str) -> None:
    yaml.safe_load(block)
    called = [shlex.split(line)[1] for line in re.findall(r"run: (ctxpolicy .*)", block)]
    assert [name for name in called if name not in COMMANDS] == []


def test_the_example_names_the_hook() -> None:
    assert "- id: ctxpolicy-check" in BLOCKS[0]
