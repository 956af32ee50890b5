"""The findings in every output format, from the library and from the command."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from ctxpolicy.cli import main
from ctxpolicy.policy.findings import Finding, Place, severity_of
from ctxpolicy.policy.load import load_file
from ctxpolicy.policy.report import FORMATS, render

GOLDEN = Path(__file__).with_name("golden")
BASE = "version: 1\nbudget: {window: 64000}\nrules:\n  - {id: e, when: {pressure: {gt: 0.9}}, evict: {until: all}}\n"
OWN = "version: 1\nextends: [./base.yaml]\nrules:\n  - {id: c, when: {pressure: {gt: 0.95}}, compact: {until: all}}\n"


@pytest.fixture
def warned(tmp_path: Path) -> Path:
    file = tmp_path / "warned.yaml"
    file.write_text("version: 1\nbudget: {window: 64000}\narchive: false\n", encoding="utf-8")
    return file


@pytest.fixture
def extending(tmp_path: Path) -> Path:
    """A policy whose own rule clashes with one in the file that it extends."""
    (tmp_path / "base.yaml").write_text(BASE, encoding="utf-8")
    file = tmp_path / "own.yaml"
    file.write_text(OWN, encoding="utf-8")
    return file


def run(*args: str | Path) -> Result:
    return CliRunner().invoke(main, ["check", *map(str, args)])


def test_codes_from_400_on_are_warnings() -> None:
    assert [severity_of(code) for code in ("CP101", "CP399", "CP400", "LT412")] == [
        "error",
        "error",
        "warning",
        "warning",
    ]


def test_a_finding_in_an_extended_file_points_there_and_back(extending: Path) -> None:
    file = extending.with_name("base.yaml")
    first = load_file(extending).findings[0]
    assert (Path(first.file), first.line) == (file, 4)
    assert first.also is not None
    assert (Path(first.also.file), first.also.line, first.also.column) == (extending, 4, 13)


def test_a_second_place_in_another_file_is_named() -> None:
    also = Place("it is here", "base.yaml", 7, 3, 5, "  ab: 1")
    lines = render([Finding("CP304", "no", "own.yaml", 2, 1, 3, "xy: 2", None, also)], "text").splitlines()
    assert lines[1:6] == [
        "    2 | xy: 2",
        "      | ^^",
        "  base.yaml:7:3",
        "    7 |   ab: 1",
        "      |   -- it is here",
    ]


def test_concise_is_a_line_for_each_finding() -> None:
    findings = load_file(GOLDEN / "several-at-once.yaml", "p.yaml").findings
    lines = render(findings, "concise").splitlines()
    assert len(lines) == len(findings)
    assert lines[-1].startswith("p.yaml:13:19: error CP203: `rules[2].match.role` must be")
    assert lines[-1].endswith("not `tol` (did you mean `tool`?)")


def test_github_annotations_keep_their_form_whatever_they_say() -> None:
    finding = Finding("CP201", "100 %\nno, `a:b`", "a,b:c.yaml", 3, 5, 9, "x", "do\r\nthis")
    assert render([finding], "github") == (
        "::error file=a%2Cb%3Ac.yaml,line=3,col=5,endColumn=8,title=CP201::100 %25%0Ano, `a:b`%0Ahint: do%0D%0Athis"
    )
    assert render([Finding("CP404", "m", "p.yaml", 1, 1, 2, "x")], "github").startswith("::warning ")


def sarif(findings: Any) -> dict[str, Any]:
    log: dict[str, Any] = json.loads(render(findings, "sarif"))
    return log


def test_sarif_places_and_rules() -> None:
    log = sarif(load_file(GOLDEN / "cp307-twice.yaml", "my policies/p.yaml").findings)
    assert log["version"] == "2.1.0"
    (run_,) = log["runs"]
    (result,) = run_["results"]
    rule = run_["tool"]["driver"]["rules"][result["ruleIndex"]]
    assert (rule["id"], rule["shortDescription"]["text"]) == ("CP307", "Duplicate id")
    place = result["locations"][0]["physicalLocation"]
    assert place["artifactLocation"]["uri"] == "my%20policies/p.yaml"
    assert [place["region"][key] for key in ("startLine", "startColumn", "endColumn")] == [5, 10, 16]
    assert result["relatedLocations"][0]["physicalLocation"]["region"]["startLine"] == 4
    assert result["relatedLocations"][0]["message"]["text"] == "the other `id: recent` is here"


def test_sarif_has_the_form_of_the_standard() -> None:
    """Against models that were generated from the schema of the standard."""
    models = pytest.importorskip("fluidattacks_core.sarif", reason="fluidattacks-core-sarif has the models of SARIF")
    findings = [finding for file in sorted(GOLDEN.glob("*.yaml")) for finding in load_file(file).findings]
    log = sarif(findings)
    assert len(models.SarifLog.model_validate(log).runs[0].results) == len(findings)
    assert len(sarif([])["runs"][0]["results"]) == 0
    models.SarifLog.model_validate(sarif([]))


@pytest.mark.parametrize("output_format", FORMATS)
def test_every_format_has_every_finding(output_format: str) -> None:
    files = [GOLDEN / "several-at-once.yaml", GOLDEN / "cp404-no-archive.yaml"]
    done = run("--format", output_format, *files)
    assert done.exit_code == 1
    found = re.findall(r"CP[0-9]{3}", done.stdout)
    assert {"CP302", "CP304", "CP203", "CP404"} == set(found)


@pytest.mark.parametrize("output_format", ["concise", "github"])
def test_nothing_is_said_of_a_clean_policy(output_format: str) -> None:
    done = run("--format", output_format, "builtin:default", "builtin:harness")
    assert (done.exit_code, done.stdout) == (0, "")


def test_a_finding_in_a_shared_base_is_told_once(extending: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.yaml"
    other.write_text(OWN, encoding="utf-8")
    (tmp_path / "base.yaml").write_text(BASE + "colour: red\n", encoding="utf-8")
    lines = run("--format", "concise", extending, other).stdout.splitlines()
    assert len([line for line in lines if "CP201" in line]) == 1


def test_strict_and_exit_zero(warned: Path) -> None:
    bad = GOLDEN / "cp201-unknown-top.yaml"
    assert run(warned).exit_code == 0
    assert run("--strict", warned).exit_code == 1
    assert run("--strict", "builtin:harness").exit_code == 0
    assert run("--exit-zero", "--strict", warned, bad).exit_code == 0
    assert run("--exit-zero", bad, "no-such-file.yaml").exit_code == 2


def test_tests_beside_policies_are_stepped_over(tmp_path: Path) -> None:
    file = tmp_path / "p.test.yaml"
    file.write_text("cases: []\n", encoding="utf-8")
    done = run(file, "builtin:default")
    assert done.exit_code == 0
    assert "`ctxpolicy test` runs them" in done.stderr


def test_json_has_the_second_place(warned: Path) -> None:
    data = json.loads(run("--format", "json", GOLDEN / "cp307-twice.yaml", warned).stdout)
    first = data["files"][0]["findings"][0]
    assert first["also"]["line"] == 4
    assert data["files"][1]["findings"][0]["also"] is None
