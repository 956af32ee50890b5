"""`--jobs`: several processes give what one gives, byte for byte, and fail as cleanly."""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from ctxpolicy.cli import applied, jobs

from .helpers import Run, lines, talk, write

BIG = {"role": "user", "content": "x" * 5000}
# Lines: a conversation left as it is, one changed, one refused; one cut off, a blank one; three conversations in one.
MIXED = (
    lines(talk(1), {"id": 1, "messages": talk(20)}, [*talk(1), BIG])
    + '{"messages": [{"role"\n\n'
    + json.dumps([{"traj": talk(1)}, {"traj": talk(21)}, {"traj": [BIG]}])
    + "\r\n"
)


def records(folder: str) -> set[str]:
    return {line for file in Path(folder).glob("*.jsonl") for line in file.read_text().splitlines()}


def ran(run: Run, jobs: int, *args: str) -> tuple[int, str, str, set[str]]:
    """Exit code, standard output and error, and what went into the archive."""
    folder = f"archive-{jobs}"
    done = run("apply", "-p", "p.yaml", "--jobs", str(jobs), "--archive", folder, *args)
    return done.exit_code, done.stdout, done.stderr, records(folder)


@pytest.fixture(autouse=True)
def _small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(applied, "_BATCH", 4000)  # bytes: so that a small file is many


def test_two_processes_give_what_one_gives(run: Run) -> None:
    write("t.jsonl", MIXED * 5)
    one, two = ran(run, 1, "t.jsonl"), ran(run, 2, "t.jsonl")
    assert two == one
    assert one[0] == 1
    assert one[2].count("is cut off in the middle") == 5
    assert "20 conversations, 15 failed, " in one[2]
    assert len(one[3]) > 1


def test_several_files(run: Run) -> None:
    for name, text in (("a.jsonl", MIXED), ("b.json", json.dumps(talk(20), indent=1)), ("c.jsonl", lines(*talk(20)))):
        write(name, text)
    names = ("a.jsonl", "none.jsonl", "b.json", "c.jsonl")
    one, two = ran(run, 1, *names, "-o", "one"), ran(run, 2, *names, "-o", "two")
    assert two == one
    assert sorted(os.listdir("one")) == ["a.jsonl", "b.json", "c.jsonl"]
    for name in os.listdir("one"):
        assert Path("two", name).read_bytes() == Path("one", name).read_bytes()


def test_nothing_is_written_in_a_dry_run_or_where_all_fails(run: Run) -> None:
    done = run("apply", "-p", "p.yaml", "--jobs", "2", "--dry-run", write("t.jsonl", MIXED), "-o", "out.jsonl")
    assert (done.exit_code, done.stdout) == (1, "")
    assert done.stderr.endswith("; dry run, nothing was written\n")
    done = run("apply", "-p", "p.yaml", "--jobs", "2", write("bad.jsonl", "[7]\n[8]\n"), "-o", "out.jsonl")
    assert done.exit_code == 2
    assert sorted(os.listdir()) == ["bad.jsonl", "p.yaml", "t.jsonl"]


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (("--jobs", "-1"), "'--jobs'"),
        (("--jobs", "many"), "'--jobs'"),
        (("--jobs", "2", "--html", "o.html"), "--html gathers the conversations in one process; leave --jobs out"),
        (("--jobs", "2", "--summarizer", "scripted:s.txt"), "gives its replies in order, in one process; leave --jobs"),
        (("--jobs", "2", "-p", "q.yaml"), "gives its replies in order, in one process; leave --jobs"),
        (("--jobs", "2", "--pin", "99"), "'--pin': 99 is no message of t.jsonl"),
    ],
)
def test_bad_usage_is_exit_2(run: Run, args: tuple[str, ...], message: str) -> None:
    write("s.txt", "A note.")
    write("q.yaml", Path("p.yaml").read_text() + 'summarizer: ["scripted:s.txt"]\n')
    done = run("apply", "-p", "p.yaml", *args, write("t.jsonl", lines(talk(20), talk(20))))
    assert (done.exit_code, done.stdout) == (2, "")
    assert message in done.stderr


def test_zero_is_one_for_each_cpu() -> None:
    assert jobs.number_of(0) >= 1
    assert jobs.number_of(3) == 3
    assert jobs.number_of(1000) == 61


def test_no_more_is_read_than_is_worked_on() -> None:
    read: list[int] = []

    def numbers() -> Iterator[int]:
        for number in range(200):
            read.append(number)
            yield number

    for made in jobs.in_order(abs, numbers(), 1, print):
        assert len(read) - made < 5


def test_a_process_that_dies_is_an_error_and_no_hang(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(applied, "_work", os._exit)
    monkeypatch.setattr(applied, "_batches", lambda placed: iter([7]))
    done = run("apply", "-p", "p.yaml", "--jobs", "2", write("t.jsonl", MIXED), "-o", "out.jsonl")
    assert done.exit_code == 3
    assert done.stderr == "error: a process ended before its work was done (was memory short?); take fewer --jobs\n"
    assert sorted(os.listdir()) == ["p.yaml", "t.jsonl"]


@pytest.mark.skipif(sys.platform == "win32", reason="there an interrupt reaches the whole console")
def test_an_interrupt_leaves_nothing_half_written() -> None:
    write("t.jsonl", lines(talk(1), *[talk(20)] * 3))
    write("wait.py", "import time\nopen('asked', 'w').write('yes')\ntime.sleep(60)\n")
    os.mkfifo("asked")
    asked = os.open("asked", os.O_RDONLY | os.O_NONBLOCK)
    command = [sys.executable, "-m", "ctxpolicy", "apply", "-p", "p.yaml", "--jobs", "2", "t.jsonl", "-o", "out.jsonl"]
    command += ["--summarizer", f"command:{sys.executable} wait.py"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, start_new_session=True) as running:
        select.select([asked, running.stderr], [], [], 30)  # until a summariser is at work, or something went wrong
        os.killpg(running.pid, signal.SIGINT)
        said = running.communicate(timeout=30)[1]
    os.close(asked)
    assert (running.returncode, said) == (130, "interrupted; no file was left half-written\n")
    assert not {name for name in os.listdir() if "out.jsonl" in name}
