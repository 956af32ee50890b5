"""What goes wrong is said in one line that names the culprit, and never passes for success."""

from __future__ import annotations

import errno
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from ctxpolicy.archive.unresolved import unresolved

from .helpers import Run, lines, talk, write

DEEP = "[" * 5_000 + "]" * 5_000
DEEP_TALK = f'{{"messages": [{{"role": "user", "content": "hi"}}, {{"role": "tool", "content": [{{"v": {DEEP}}}]}}]}}'
REF = "0123456789ab"
ROOT = Path(__file__).resolve().parents[2]


class TestRestore:
    def test_the_wrong_archive_is_told(self, run: Run) -> None:
        Path("wrong").mkdir()
        write("t.jsonl", lines(*talk(20)))
        assert run("apply", "-p", "p.yaml", "t.jsonl", "--archive", "kept", "-o", "short.jsonl").exit_code == 0
        done = run("restore", "--archive", "wrong", "short.jsonl", "-o", "whole.jsonl")
        assert done.exit_code == 1
        assert "1 reference could not be put back: " in done.stderr
        assert "is wrong the right archive? name another with --archive DIR" in done.stderr
        assert Path("whole.jsonl").read_bytes() == Path("short.jsonl").read_bytes()

    def test_no_more_than_three_are_named(self, run: Run) -> None:
        Path("kept").mkdir()
        marks = [{"role": "user", "content": f"[2 earlier turns left out, ref {n:012x}.]"} for n in range(5)]
        done = run("restore", "--archive", "kept", write("t.jsonl", lines(*marks)))
        named = "000000000000, 000000000001, 000000000002, ..."
        assert f"error: 5 references could not be put back: {named}; is kept" in done.stderr


@pytest.mark.parametrize(
    "text",
    [
        f"[1,234 earlier turns left out, ref {REF}.]",
        f"[3 earlier turns compacted, ref {REF}.]\nSummary of what happened:\n(...)\nWork.",
        f"[120 tokens of bash left out, ref {REF}.]",
        f"head\n... [1,200 chars dropped, 3 lines, ref {REF}.] ...\ntail",
        json.dumps({"a": f"head\n... [1,200 chars dropped, 3 lines, ref {REF}.] ...\ntail"}),
        json.dumps([1, f"... [5 of 7 elements left out, ref {REF}.] ...", 7]),
    ],
)
def test_marks_that_stand_are_unresolved(text: str) -> None:
    assert unresolved([{"role": "user", "content": text}] * 2) == [REF]


def test_masked_arguments_are_unresolved() -> None:
    arguments = json.dumps({"left_out": f"[9 tokens of bash arguments left out, ref {REF}.]"})
    call = {"id": "c", "type": "function", "function": {"name": "bash", "arguments": arguments}}
    assert unresolved([{"role": "assistant", "content": None, "tool_calls": [call]}]) == [REF]


@pytest.mark.parametrize(
    "mark",
    [f"[2 earlier turns left out, ref {REF}.]", f"... [9 chars dropped, 1 lines, ref {REF}.] ...", f"see ref {REF}."],
)
def test_quoted_marks_are_not(mark: str) -> None:
    assert unresolved([{"role": "user", "content": f"What does {mark} mean?"}]) == []


class TestApply:
    def test_a_list_over_the_limit_is_told(self, run: Run) -> None:
        done = run("apply", "-p", "p.yaml", "--window", "60", write("t.jsonl", lines(*talk(1))), "--archive", "none")
        assert done.exit_code == 0
        warning = next(line for line in done.stderr.splitlines() if line.startswith("warning: t.jsonl:1: over the "))
        assert " of 60 tokens, held by " in warning
        assert "(window 60)" in warning

    def test_an_unusable_archive_is_the_one_to_blame(self, run: Run) -> None:
        write("file", "")
        done = run("apply", "-p", "p.yaml", write("t.jsonl", lines(*talk(20))), "--archive", "file")
        assert (done.exit_code, done.stdout) == (1, lines(*talk(20)))
        assert done.stderr.startswith("error: t.jsonl:1: the archive could not be written, so nothing was removed: ")
        assert "name another directory with --archive DIR" in done.stderr.splitlines()[0]

    @pytest.mark.parametrize("command", [["apply", "-p", "p.yaml"], ["restore", "--archive", "."], ["lint", "--fix"]])
    def test_what_cannot_be_read_has_no_summary(self, run: Run, command: list[str]) -> None:
        done = run(*command, "none.jsonl")
        assert done.exit_code == 2
        assert set(done.stderr.splitlines()) == {"error: none.jsonl: no such file; check the path"}


@pytest.mark.parametrize(
    "args",
    [
        ("apply", "-p", "p.yaml", "--archive", ""), ("apply", "-p", "p.yaml", "-o", ""), ("restore", "--archive", ""),
        ("restore", "-o", ""), ("lint", "--fix", "--archive", ""), ("lint", "--fix", "-o", ""),
    ],
)  # fmt: skip
def test_an_empty_name_is_bad_usage(run: Run, args: tuple[str, ...]) -> None:
    done = run(*args, write("t.jsonl", lines(*talk(20))))
    assert (done.exit_code, done.stdout) == (2, "")
    assert "the name is empty; name a file or directory" in done.stderr
    assert sorted(os.listdir()) == ["p.yaml", "t.jsonl"]


class TestDeep:
    @pytest.mark.parametrize(
        "args",
        [
            ("simulate",), ("inspect", "--html", "o.html"), ("apply", "-p", "p.yaml", "--html", "o.html"),
            ("replay", "-p", "p.yaml"),
        ],
    )  # fmt: skip
    def test_a_transcript(self, run: Run, args: tuple[str, ...]) -> None:
        done = run(*args, write("deep.json", DEEP_TALK))
        assert done.exit_code == 2
        assert "deep.json:1: is nested too deeply to be a transcript" in done.stderr

    def test_the_tools(self, run: Run) -> None:
        write("tools.json", "[" * 100_000 + "]" * 100_000)
        done = run("apply", "-p", "p.yaml", "--tools", "tools.json", write("t.jsonl", lines(*talk(1))))
        assert done.exit_code == 2
        assert done.stderr.startswith("error: tools.json: is nested too deeply to be read")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full here")
@pytest.mark.parametrize("args", [["--help"], ["--version"], ["formats"]])
def test_a_full_disk_is_one_line(args: list[str]) -> None:
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "ctxpolicy", *args], stdout=full, stderr=subprocess.PIPE, text=True, check=False
        )
    assert done.returncode == 2
    assert len(done.stderr.splitlines()) == 1
    assert "No space left on device" in done.stderr


def test_the_output_is_named_as_the_user_did(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(path: Path, *_: object) -> int:
        raise PermissionError(errno.EACCES, "Permission denied", str(path))

    write("t.jsonl", lines(*talk(1)))
    monkeypatch.setattr("ctxpolicy.transcripts.output.os.open", refuse)
    done = run("apply", "-p", "p.yaml", "t.jsonl", "-o", "out.jsonl")
    assert (done.exit_code, done.stderr.splitlines()[-1]) == (2, "error: out.jsonl: Permission denied")


def test_check_of_a_directory_says_what_to_name(run: Run) -> None:
    Path("policies").mkdir()
    done = run("check", "policies", "p.yaml")
    assert done.exit_code == 2
    files = Path("policies", "*.yaml")
    assert done.stderr == f"error: cannot read policies: it is a directory; name the policies in it, as {files}\n"
    assert "p.yaml: valid" in done.stdout


def test_the_bench_names_its_parts() -> None:
    command = [sys.executable, "-m", "tests.bench", "start", "nope"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "there is no part 'nope'; the parts are live, apply, formats, files, start, calibration\n"


class TestLint:
    @pytest.mark.parametrize("content", [5, True, {"a": 1}])
    def test_content_of_no_known_kind(self, run: Run, content: object) -> None:
        done = run("lint", write("t.jsonl", lines({"role": "user", "content": content})))
        assert done.exit_code == 1
        assert "error X-00: message 0 content" in done.stdout

    def test_fix_leaves_a_last_message(self, run: Run) -> None:
        text = lines({"role": "tool", "tool_call_id": "z", "content": "q"})
        done = run("lint", "--fix", write("t.jsonl", text))
        assert done.exit_code == 1
        assert "OAC-02" in done.stdout
        assert Path("t.jsonl").read_text() == text


class TestCodes:
    def test_all_are_listed(self, run: Run) -> None:
        listed = run("explain-code", "--list").stdout.splitlines()
        assert "CP101: Not valid YAML" in listed
        assert any(line.startswith("X-06: ") for line in listed)

    def test_a_rule_that_is_not_judged_says_why(self, run: Run) -> None:
        done = run("explain-code", "x-18")
        said = "X-18: not judged from a transcript: it compares two runs of a policy; a list is one"
        assert (done.exit_code, done.stdout) == (0, said + "\n")
        assert said in run("explain-code", "--list").stdout.splitlines()

    def test_a_rule_that_has_other_codes_names_them(self, run: Run) -> None:
        assert run("explain-code", "ANT-28").stdout == "ANT-28: judged as X-10\n"
        assert run("explain-code", "X-14").stdout == "X-14: judged as ANT-27, OAR-11\n"
        told = json.loads(run("explain-code", "-f", "json", "ANT-28").stdout)
        assert told == {"code": "ANT-28", "title": "judged as X-10"}

    @pytest.mark.parametrize("args", [(), ("nope",)])
    def test_what_to_do_without_one(self, run: Run, args: tuple[str, ...]) -> None:
        done = run("explain-code", *args)
        assert done.exit_code == 2
        assert "`ctxpolicy explain-code --list` shows them all" in done.stderr
