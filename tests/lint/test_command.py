"""`ctxpolicy lint`: what it prints, its exit codes, and repairs that lose nothing."""

from __future__ import annotations

import json
import logging
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from ctxpolicy.cli import main
from formats.policies import tiny

from .golden import GOLDEN, HI, answer, call, result, said, text, use

BAD = [HI, call("a"), HI, answer("zz")]


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def run(*args: str) -> Result:
    return CliRunner().invoke(main, list(args), env={"NO_COLOR": "1"})


def put(name: str, value: Any) -> str:
    Path(name).write_text(json.dumps(value, indent=1), encoding="utf-8")
    return name


def test_a_sound_file_is_quiet() -> None:
    done = run("lint", put("a.json", [HI]))
    assert (done.exit_code, done.stdout, done.stderr) == (0, "", "1 conversation: nothing to refuse\n")


def test_findings_name_line_message_code_answer_and_advice() -> None:
    done = run("lint", put("a.json", BAD))
    assert done.exit_code == 1
    lines = done.stdout.splitlines()
    assert lines[0].startswith("a.json:6:1: error OAC-01: message 1 tool_calls[0]: a tool call without its result")
    assert "must be followed by tool messages" in lines[1]
    assert lines[-1] == "2 errors"


def test_every_output_format() -> None:
    file = put("a.json", BAD)
    assert [f["code"] for f in json.loads(run("lint", "-f", "json", file).stdout)] == ["OAC-01", "OAC-02"]
    sarif = json.loads(run("lint", "-f", "sarif", file).stdout)["runs"][0]
    assert [rule["id"] for rule in sarif["tool"]["driver"]["rules"]] == ["OAC-01", "OAC-02"]
    assert {entry["level"] for entry in sarif["results"]} == {"error"}
    assert run("lint", "-f", "github", file).stdout.startswith("::error file=a.json,line=6")
    assert len(run("lint", "-f", "concise", file).stdout.splitlines()) == 2


def test_what_only_some_refuse_is_counted_and_shown_when_strict() -> None:
    file = put("a.json", [HI, HI])
    done = run("lint", file)
    assert done.exit_code == 0
    assert "1 finding more" in done.stderr
    strict = run("lint", "--for", "strict", file)
    assert strict.exit_code == 1
    assert "OAC-09" in strict.stdout


def test_the_request_around_the_list_is_judged_too() -> None:
    name, messages, _, request = GOLDEN["ANT-08"]
    assert "ANT-08" in run("lint", put("a.json", {"messages": messages, **request})).stdout
    assert "ANT-08" not in run("lint", "--for", name, put("b.json", messages)).stdout


def test_another_format_is_a_finding() -> None:
    done = run("lint", "--for", "gemini", put("a.json", BAD))
    assert done.exit_code == 1
    assert "X-00" in done.stdout
    assert run("lint", "nope.json").exit_code == 2


def test_fix_archives_repairs_and_tells() -> None:
    mixed = said("user", [text("and?"), result("t")])
    file = put("a.json", {"model": "x", "messages": [HI, said("assistant", [use("t")]), mixed]})
    done = run("lint", "--fix", file)
    assert "a.json:19: message 2: ANT-04: moved a tool result to its call" in done.stderr
    assert done.exit_code == 0
    fixed = json.loads(Path(file).read_text(encoding="utf-8"))
    assert fixed["model"] == "x"
    assert fixed["messages"][2]["content"] == [result("t"), text("and?")]
    (kept,) = Path(".ctxpolicy/archive").glob("*.jsonl")
    assert json.loads(kept.read_text(encoding="utf-8"))["removed"] == [mixed]


def test_fix_into_another_file() -> None:
    file = put("a.json", BAD)
    before = Path(file).read_bytes()
    done = run("lint", "--fix", "--archive", "none", "-o", "b.json", file)
    assert done.exit_code == 0
    assert Path(file).read_bytes() == before
    assert not Path(".ctxpolicy").exists()
    assert run("lint", "b.json").exit_code == 0


def test_a_sound_file_is_fixed_to_the_same_bytes() -> None:
    file = put("a.json", [HI, call("a"), answer("a")])
    before = Path(file).read_bytes()
    assert run("lint", "--fix", file).exit_code == 0
    assert Path(file).read_bytes() == before


def test_codes_are_explained() -> None:
    done = run("explain-code", "ant-01")
    assert done.exit_code == 0
    assert "What to do: put a tool_result" in done.stdout


def test_the_debug_switch(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    monkeypatch.setenv("CTXPOLICY_LINT", "1")
    window = tiny(1000).window(archive=False, messages=BAD)
    with caplog.at_level(logging.WARNING, "ctxpolicy"):
        window.prepare()
    assert "OAC-01" in caplog.text
