"""Every code's reference: its bad policy has that finding, its good one has none, and the page says the same."""

from __future__ import annotations

import importlib
import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from ctxpolicy.cli import main
from ctxpolicy.policy import checks
from ctxpolicy.policy.codes import Entry, as_markdown, codes, entry, is_policy
from ctxpolicy.policy.load import load_file

PAGE = Path(__file__).resolve().parents[2] / "docs" / "codes.md"
NO_POLICY_SHOWS_IT = {"CP109", "CP209", "CP321"}
PAIRS = [(code, which) for code in codes() for which in ("bad", "good")]

HEAD = """\
# Codes

What `ctxpolicy check` finds, a section for each code. CP1 is YAML and files, CP2 the schema, CP3 what cannot be meant;
these are errors, and a policy with one never runs. CP4 are warnings: legal, but seldom meant. `allow: {CP402: why}`
silences a warning and says why. `ctxpolicy explain-code CODE` prints a section.

This page is written by `pytest tests/policy --regen` from the modules in `src/ctxpolicy/policy/checks`.
"""


def found(example: str, folder: Path) -> set[str]:
    """The codes found in an example; it may extend itself as `./policy.yaml`."""
    file = folder / "policy.yaml"
    file.write_text(example + "\n", encoding="utf-8")
    return {finding.code for finding in load_file(file).findings}


@pytest.mark.parametrize(("code", "which"), PAIRS)
def test_the_examples_are_what_they_say(code: str, which: str, tmp_path: Path) -> None:
    example = getattr(entry(code), which)
    if code in NO_POLICY_SHOWS_IT and which == "bad":
        assert not is_policy(example)
    else:
        assert found(example, tmp_path) == ({code} if which == "bad" else set())


@pytest.mark.parametrize("code", codes())
def test_every_section_says_something(code: str) -> None:
    said = entry(code)
    assert said.code == code
    assert len(said.title) < 70
    assert not said.title.endswith(".")
    assert min(len(said.what), len(said.why)) > 20


def test_there_are_many_codes_and_every_check_runs() -> None:
    assert len(codes()) >= 30
    modules = [importlib.import_module(f"ctxpolicy.policy.checks.{code.lower()}") for code in codes()]
    assert {module.check for module in modules if hasattr(module, "check")} == set(checks.CHECKS)


def test_the_page_is_made_of_the_sections(request: pytest.FixtureRequest) -> None:
    page = "\n".join([HEAD, *(as_markdown(entry(code)) + "\n" for code in codes())])
    if request.config.getoption("regen", False):
        PAGE.write_text(page, encoding="utf-8")
    assert page == PAGE.read_text(encoding="utf-8")


def test_explain_code_prints_a_section() -> None:
    done = CliRunner().invoke(main, ["explain-code", "cp303"])
    assert done.exit_code == 0
    assert done.stdout.startswith("CP303: Goal not below its trigger\n")
    assert "    rules:\n" in done.stdout
    data = json.loads(CliRunner().invoke(main, ["explain-code", "--format", "json", "CP303"]).stdout)
    assert Entry(**data) == entry("CP303")


def test_explain_code_knows_what_there_is_not() -> None:
    done = CliRunner().invoke(main, ["explain-code", "CP3O3"])
    assert done.exit_code == 2
    assert "did you mean `CP3" in done.stderr


def test_explain_code_knows_the_rules_of_providers() -> None:
    done = CliRunner().invoke(main, ["explain-code", "x-06"])
    assert done.exit_code == 0
    assert done.stdout.startswith("X-06: ")
    assert "\nWhat to do: " in done.stdout
    data = json.loads(CliRunner().invoke(main, ["explain-code", "-f", "json", "X-06"]).stdout)
    assert data["code"] == "X-06"
