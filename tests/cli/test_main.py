"""The command as a whole: help, lazy loading, exit codes, and what goes wrong in one line."""

from __future__ import annotations

import importlib
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import click
import pytest

from ctxpolicy.cli import COMMANDS

from .helpers import Run, lines, talk, write

COMMAND = [sys.executable, "-m", "ctxpolicy"]


@pytest.mark.parametrize("name", COMMANDS)
def test_the_help_table_says_what_the_commands_say(name: str) -> None:
    command: click.Command = importlib.import_module(f"ctxpolicy.cli.{name.replace('-', '_')}").command
    assert command.name == name
    assert command.get_short_help_str(limit=100) == COMMANDS[name]
    assert len(COMMANDS[name]) < 66  # one line of an 80-column terminal


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help(run: Run, name: str) -> None:
    done = run(name, "--help")
    assert (done.exit_code, done.stderr) == (0, "")
    assert "--debug" in done.stdout


def test_help_lists_the_commands_and_exit_codes(run: Run) -> None:
    done = run("--help")
    assert done.exit_code == 0
    assert all(text in done.stdout for text in COMMANDS.values())
    assert "_CTXPOLICY_COMPLETE=bash_source" in done.stdout


def test_version(run: Run) -> None:
    assert run("--version").stdout.startswith("ctxpolicy, version 0.")


def test_help_loads_no_command() -> None:
    code = (
        "import sys\nfrom ctxpolicy.cli import main\n"
        "try: main(['--help'])\nexcept SystemExit: pass\n"
        "heavy = {'yaml', 'jsonschema', 'jinja2', 'ctxpolicy.cli.apply', 'ctxpolicy.transcripts'}\n"
        "print(sorted(heavy & set(sys.modules)), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert done.stderr.strip() == "[]"


def test_apply_loads_no_simulator() -> None:
    code = "import sys, ctxpolicy.cli.apply\nprint([name for name in sys.modules if 'simulate' in name])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.strip() == "[]"


def test_a_near_miss_gets_a_hint(run: Run) -> None:
    done = run("aply")
    assert done.exit_code == 2
    assert "No such command 'aply'. Did you mean 'apply'?" in done.stderr
    assert "Commands are check, apply," in run("zzz").stderr


def _failing(monkeypatch: pytest.MonkeyPatch, error: BaseException) -> None:
    def fail(*_: Any, **__: Any) -> None:
        raise error

    monkeypatch.setattr("ctxpolicy.cli.schema.schema_file", fail)


def test_an_internal_error_is_one_line(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    _failing(monkeypatch, ZeroDivisionError("division\nby zero"))
    done = run("schema")
    assert done.exit_code == 3
    expected = "error: this is a fault in ctxpolicy (ZeroDivisionError: division); run it again with --debug and report"
    assert done.stderr.startswith(expected)
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize("args", [("--debug", "schema"), ("schema", "--debug")])
def test_debug_shows_the_traceback(run: Run, monkeypatch: pytest.MonkeyPatch, args: tuple[str, ...]) -> None:
    _failing(monkeypatch, ZeroDivisionError("division by zero"))
    done = run(*args)
    assert done.exit_code == 3
    assert done.stderr.startswith("Traceback")
    assert done.stderr.count("ZeroDivisionError") == 2


def test_an_os_error_names_the_file(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    _failing(monkeypatch, PermissionError(13, "Permission denied", "/x/y"))
    done = run("schema")
    assert (done.exit_code, done.stderr) == (2, "error: /x/y: Permission denied\n")


def test_an_interrupt_is_one_line(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    _failing(monkeypatch, KeyboardInterrupt())
    done = run("schema")
    assert (done.exit_code, done.stderr) == (130, "interrupted; no file was left half-written\n")


def test_an_invalid_policy_is_reported_as_check_reports_it(run: Run) -> None:
    write("bad.yaml", "version: 1\nrulez: []\n")
    done = run("apply", "-p", "bad.yaml", write("t.jsonl", lines(*talk(1))))
    assert (done.exit_code, done.stdout) == (2, "")
    assert done.stderr.startswith("bad.yaml:")
    assert "Traceback" not in done.stderr


def test_a_closed_pipe_is_quiet(tmp_path: Path) -> None:
    write("t.jsonl", lines(*talk(2000)))
    write("roomy.yaml", "version: 1\nname: roomy\nbudget: {window: 1000000}\n")
    process = subprocess.Popen(
        [*COMMAND, "apply", "-p", "roomy.yaml", "t.jsonl"], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.close()
    said = process.stderr.read()
    process.stderr.close()
    assert process.wait(60) == 141
    assert said == b""


@pytest.mark.skipif(os.name == "nt", reason="POSIX signals")
def test_ctrl_c_leaves_nothing_behind(tmp_path: Path) -> None:
    process = subprocess.Popen(
        [*COMMAND, "apply", "-p", "p.yaml", "-", "-o", "out.jsonl"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    assert process.stdin is not None
    process.stdin.write(lines(talk(1)).encode() * 4)
    process.stdin.flush()
    while not [name for name in os.listdir(tmp_path) if name.startswith(".out.jsonl.")]:
        assert process.poll() is None  # the output is open, and the command waits for more input
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=60)
    assert (process.returncode, said) == (130, b"interrupted; no file was left half-written\n")
    assert sorted(os.listdir(tmp_path)) == ["p.yaml"]
