"""`ctxpolicy archive list | show REF`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from ctxpolicy import values
from ctxpolicy.archive import DirectoryArchive
from ctxpolicy.cli import main
from support import calls, result, user


def run(*arguments: str) -> tuple[int, str, str]:
    done = CliRunner().invoke(main, ["archive", *arguments], env={"COLUMNS": "100"})
    return done.exit_code, done.stdout, done.stderr


@pytest.fixture
def archive(tmp_path: Path) -> tuple[str, str]:
    """A directory with two records, one of them written twice, and the reference of the first."""
    removed = [
        user("Find the\nleak \x1b[31m"),
        calls("c", tool="bash", arguments='{"n": 1}'),
        result("c", "none found"),
    ]
    record = {"ref": values.reference(removed), "removed": removed, "left": "a"}
    writer = DirectoryArchive(tmp_path)
    writer.put([record, {"ref": "0" * 12, "removed": [user("second")], "left": "b"}])
    DirectoryArchive(tmp_path).put([record])
    return str(tmp_path), record["ref"]


def test_list(archive: tuple[str, str]) -> None:
    directory, ref = archive
    code, out, err = run("list", "--archive", directory)
    assert code == 0
    assert out.splitlines() == [
        "REF           MESSAGES  CHARACTERS  BEGINS WITH",
        f"{ref}         3          29  Find the leak ?[31m",
        "000000000000         1           6  second",
    ]
    assert err == "2 records\n"
    code, out, _ = run("list", "--archive", directory, "--format", "json")
    assert [json.loads(line)["messages"] for line in out.splitlines()] == [3, 1]


def test_show(archive: tuple[str, str]) -> None:
    directory, ref = archive
    code, out, _ = run("show", ref, "--archive", directory)
    assert code == 0
    assert out.splitlines() == [
        "[1] user:",
        "  Find the",
        "  leak ?[31m",
        "[2] assistant:",
        '  calls bash {"n": 1}',
        "[3] tool result of bash:",
        "  none found",
    ]
    code, out, _ = run("show", ref, "--archive", directory, "-f", "json")
    assert [json.loads(line) for line in out.splitlines()] == DirectoryArchive(directory).get(ref)[0]["removed"]


def test_what_is_not_there_is_said(archive: tuple[str, str], tmp_path: Path) -> None:
    directory, _ = archive
    code, out, err = run("show", "f" * 12, "--archive", directory)
    assert (code, out) == (2, "")
    assert "has no record of 'ffffffffffff'; check the reference" in err
    code, _, err = run("list", "--archive", str(tmp_path / "nowhere"))
    assert code == 2
    assert "no such archive; give the directory" in err


def test_an_empty_archive(tmp_path: Path) -> None:
    assert run("list", "--archive", str(tmp_path)) == (0, "", "0 records\n")
