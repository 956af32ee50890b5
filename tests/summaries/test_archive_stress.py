"""Nothing is lost: whatever kills a run, fills the disk or writes beside it, list and archive give the original."""

from __future__ import annotations

import errno
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import ctxpolicy
from ctxpolicy import ManagedWindow
from ctxpolicy.archive import DirectoryArchive
from ctxpolicy.summarize.extract import extract
from support import COMPACT, calls, filler, policy, policy_text, result, step, system, user

posix = pytest.mark.skipif(os.name == "nt", reason="POSIX processes")


def messages(steps: int = 40) -> list[dict[str, Any]]:
    """A list on which append and send rules act."""
    large = [calls("big"), result("big", filler(900, "a large result"))]
    return [system(), user("Read the gauges."), *large, *(m for n in range(steps) for m in step(n))]


def lines(file: Path) -> list[Any]:
    return [json.loads(line) for line in file.read_text().splitlines()]


# ---- kill -9 ----------------------------------------------------------------------------------


@posix
def test_killed_at_every_change_of_the_disk(tmp_path: Path) -> None:
    """Each half-done run leaves the input alone or a whole output, and what stands there restores the original."""
    rules = {"compact": {"compact": {**COMPACT, "span": {"min": 2, "max": 8}, "word_limit": 30}}}
    (tmp_path / "policy.yaml").write_text(policy_text(summarizer="extract", archive=None, rules=rules))
    original = messages()
    (tmp_path / "in.jsonl").write_text("".join(json.dumps(m) + "\n" for m in original))
    done = subprocess.run(
        [sys.executable, Path(__file__).parent / "killed.py", tmp_path], capture_output=True, text=True, check=True
    )
    last, code = map(int, done.stdout.split())
    assert (code, last) == (0, last)
    assert last > 12  # six changes at least: folder, file, its name synced, write, sync, the output
    finished = 0
    for run in range(last + 1):
        folder = tmp_path / str(run)
        assert lines(folder / "in.jsonl") == original
        archive = folder / "archive"
        for record in DirectoryArchive(archive).records():
            assert record.keys() >= {"ref", "removed", "left"}
        assert ctxpolicy.restore(original, archive) == original
        if (folder / "out.jsonl").exists():
            finished += 1
            assert len(lines(folder / "out.jsonl")) < len(original)
            assert ctxpolicy.restore(lines(folder / "out.jsonl"), archive) == original
    assert 1 <= finished < last
    torn = [f for f in tmp_path.glob("*/archive/*.jsonl") if f.read_bytes() and not f.read_bytes().endswith(b"\n")]
    assert torn  # so a write did die half done


@posix
def test_a_session_goes_on_beside_a_torn_record(tmp_path: Path) -> None:
    original = messages()
    made = policy().window(archive=tmp_path, summarize=extract)
    for message in original[:40]:
        made.append(message)
    dump = made.dump()
    (file,) = tmp_path.iterdir()
    file.write_bytes(file.read_bytes() + b'{"ref":"3f9a12c0d4e1","removed":[{"role":"us')  # it died in the next write
    made = policy().resume(dump, archive=tmp_path, summarize=extract)
    for message in original[40:]:
        made.append(message)
    assert ctxpolicy.restore(made.prepare(), tmp_path) == original


# ---- a full or read-only disk ---------------------------------------------------------------


def filled(archive: Any) -> ManagedWindow:
    made = policy().window(archive=archive, summarize=extract)
    for message in messages():
        made.append(message)
    return made


def broken(made: ManagedWindow) -> str:
    """What the events say of the archive."""
    (event,) = [event for event in made.events if event.action == "archive"]
    assert event.failed
    assert not any(e.acted for e in made.events)
    return event.reason


@posix
def test_a_disk_that_fills_up_within_a_write(tmp_path: Path) -> None:
    """A limit on file sizes takes a part of the write and refuses the rest, as a full disk does."""
    script = """
import resource, signal, sys
from summaries.test_archive_stress import filled, broken, messages
import ctxpolicy
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (5000, resource.RLIM_INFINITY))
made = filled(sys.argv[1])
assert made.prepare() == messages()
assert "nothing was removed" in broken(made), broken(made)
resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
shorter = made.prepare()
assert len(shorter) < len(messages())
assert ctxpolicy.restore(shorter, sys.argv[1]) == messages()
"""
    where = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])}
    subprocess.run([sys.executable, "-c", script, tmp_path], env=where, check=True)
    sizes = sorted(file.stat().st_size for file in tmp_path.iterdir())
    assert 5000 in sizes  # the torn one stays, a new one was begun
    assert len(sizes) == 2


def test_a_full_disk_undoes_the_run_and_the_next_one_makes_up_for_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(handle: int, data: bytes) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    made = filled(tmp_path)
    with monkeypatch.context() as patch:
        patch.setattr(os, "write", full)
        assert made.prepare() == messages()
    assert broken(made).startswith("the archive could not be written, so nothing was removed: OSError: [Errno 28]")
    assert str(tmp_path) in broken(made)
    shorter = made.prepare()
    assert ctxpolicy.restore(shorter, tmp_path) == messages()


def test_a_path_that_cannot_be_written_keeps_everything(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    made = filled(tmp_path / "file")
    assert made.prepare() == messages()
    assert "file" in broken(made)


def test_under_drop_the_list_shrinks_all_the_same(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    made = policy(archive={"on_error": "drop"}).window(archive=tmp_path / "file", summarize=extract)
    for message in messages():
        made.append(message)
    assert len(made.prepare()) < len(messages())
    assert any("the originals are lost (on_error: drop)" in event.reason for event in made.events)


# ---- two processes ----------------------------------------------------------------------------


def test_two_sessions_share_a_directory(tmp_path: Path) -> None:
    script = """
import sys
from summaries.test_archive_stress import filled, messages
import ctxpolicy
for _ in range(5):
    assert ctxpolicy.restore(filled(sys.argv[1]).prepare(), sys.argv[1]) == messages()
"""
    where = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])}
    running = [subprocess.Popen([sys.executable, "-c", script, tmp_path], env=where) for _ in range(2)]
    assert [process.wait() for process in running] == [0, 0]
    assert len(list(tmp_path.iterdir())) == 10  # a file for each window
