"""Progress is for people who wait: on a terminal only, after a while, and gone at the end."""

from __future__ import annotations

import sys
from contextlib import nullcontext

import pytest

from ctxpolicy.cli import output

from .helpers import Run, lines, talk, write


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The time in seconds, to be set."""
    now = [0.0]
    monkeypatch.setattr(output.time, "monotonic", lambda: now[0])
    return now


def test_it_counts_and_cleans_up(
    monkeypatch: pytest.MonkeyPatch, clock: list[float], capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    with output.progress("calls") as tick:
        tick()
        assert capsys.readouterr().err == ""
        clock[0] = 1.0
        tick()
        tick()  # not again so soon
        assert capsys.readouterr().err == "\r2 calls"
    said = capsys.readouterr()
    assert (said.out, said.err) == ("", "\r" + " " * 17 + "\r")


def test_it_is_quiet_where_nobody_looks(clock: list[float], capsys: pytest.CaptureFixture[str]) -> None:
    with output.progress("calls") as tick:
        clock[0] = 9.0
        tick()
    assert capsys.readouterr() == ("", "")


def test_apply_counts_conversations_refused_ones_too(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    ticks: list[str] = []
    monkeypatch.setattr("ctxpolicy.cli.apply.progress", lambda things: nullcontext(lambda: ticks.append(things)))
    big = [{"role": "user", "content": "x" * 5000}]
    done = run("apply", "-p", "p.yaml", "--dry-run", write("t.jsonl", lines(talk(1), big, talk(2))))
    assert done.exit_code == 1
    assert ticks == ["conversations"] * 3
