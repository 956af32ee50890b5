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

APPLY = [sys.executable, "-m", "ctxpolicy", "apply", "-p", "p.yaml"]
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

    for made in jobs.in_order(abs, numbers(), 1, print, here=abs):
        assert len(read) - made < 5


def test_a_process_that_dies_is_an_error_and_no_hang(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(applied, "_work", os._exit)
    monkeypatch.setattr(applied, "_batches", lambda placed: iter([7]))
    done = run("apply", "-p", "p.yaml", "--jobs", "2", write("t.jsonl", MIXED), "-o", "out.jsonl")
    assert done.exit_code == 3
    assert done.stderr == "error: a process ended before its work was done (was memory short?); take fewer --jobs\n"
    assert sorted(os.listdir()) == ["p.yaml", "t.jsonl"]


def test_what_cannot_be_pickled_is_done_here() -> None:
    deep: list[object] = []
    for _ in range(100_000):
        deep = [deep]
    assert list(jobs.in_order(len, [[], deep, [1, 2]], 1, print, here=lambda _: -1)) == [0, -1, 2]


def test_a_deep_document_is_no_different() -> None:
    deep: object = "x"
    for _ in range(900):  # json can read this, but pickle would fail
        deep = [deep]
    write(
        "deep.json", json.dumps([{"role": "user", "content": [{"type": "text", "text": "x", "more": deep}]}], indent=0)
    )
    write("t.jsonl", lines(talk(20)))
    done = [
        subprocess.run(
            [*APPLY, "--jobs", number, "deep.json", "t.jsonl", "-o", number], capture_output=True, check=False
        )
        for number in "12"
    ]
    assert done[0].returncode == 0
    assert (done[1].returncode, done[1].stderr) == (done[0].returncode, done[0].stderr)
    for name in ("deep.json", "t.jsonl"):
        assert Path("2", name).read_bytes() == Path("1", name).read_bytes()


def test_an_interrupt_does_not_end_the_processes() -> None:
    given = [signal.SIGINT] * 3
    assert list(jobs.in_order(signal.raise_signal, given, 1, print, here=print)) == [None] * 3


@pytest.mark.skipif(sys.platform == "win32", reason="no such signals")
@pytest.mark.parametrize(
    ("number", "sent", "to", "code"),
    [("2", "SIGINT", "killpg", 130), ("2", "SIGTERM", "kill", 143), ("1", "SIGTERM", "kill", 143)],
)
def test_a_signal_leaves_no_file_and_no_process(number: str, sent: str, to: str, code: int) -> None:
    returned, said = _ended_at_work(number, sent, to)
    assert returned == code
    assert said.endswith("interrupted; no file was left half-written\n")
    assert not {name for name in os.listdir() if "out.jsonl" in name}


@pytest.mark.skipif(sys.platform == "win32", reason="no such signals")
def test_processes_end_with_the_first() -> None:
    assert _ended_at_work("2", "SIGKILL", "kill")[0] == -9


def _ended_at_work(number: str, sent: str, to: str) -> tuple[int, str]:
    """Exit code and standard error of a run that got a signal. Nothing that it started is left."""
    write("t.jsonl", lines(talk(1), *[talk(20)] * 3))
    write("wait.py", "import time\nasked = open('asked', 'w')\nprint('yes', file=asked, flush=True)\ntime.sleep(60)\n")
    os.mkfifo("asked")
    asked = os.open("asked", os.O_RDONLY | os.O_NONBLOCK)
    command = [*APPLY, "--jobs", number, "t.jsonl", "-o", "out.jsonl"]
    command += ["--summarizer", f"command:{sys.executable} wait.py"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, start_new_session=True) as running:
        select.select([asked, running.stderr], [], [], 30)  # until a summariser is at work, or something went wrong
        getattr(os, to)(running.pid, getattr(signal, sent))
        said = running.communicate(timeout=30)[1]  # until all processes have closed it
    while text := select.select([asked], [], [], 30)[0] and os.read(asked, 100):
        assert text == b"yes\n"
    assert text == b"", "the summariser is still at work"
    os.close(asked)
    return running.returncode, said
