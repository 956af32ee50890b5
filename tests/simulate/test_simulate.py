"""The `simulate` command: what it prints at which width, its exit codes, and odd input."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

from ctxpolicy.cli.plot import Line, Point, plot
from ctxpolicy.simulate.profiles import session

from .policies import GOOD, NO_WAY_OUT, RESTLESS, TASK_GONE

GOLDEN = Path(__file__).with_name("golden")
Run = Callable[..., Result]
SMALL = ("simulate", "-p", "p.yaml", "--profile", "service", "--turns", "40", "--seed", "1")


def _transcript(name: str, turns: int = 12, seed: int = 1) -> str:
    lines = [json.dumps(message) for message in session("service", turns, seed)]
    Path(name).write_text("\n".join(lines) + "\n", encoding="utf-8")
    return name


class TestPlot:
    POINTS = tuple(Point(n / 10, min(n, 6) / 10, "C" if n > 6 else " ") for n in range(10))

    def test_one_column_a_call(self) -> None:
        assert list(plot(self.POINTS, [Line(0.7, "x")], 80, height=5)) == [
            "1.00 │         ░",
            "0.70 │┄┄┄┄┄┄┄░░░",
            "     │     ▄████",
            "     │   ▄██████",
            "     │ ▄████████",
            "0.00 └──────────",
            "             CCC",
        ]

    @pytest.mark.parametrize("width", range(1, 40))
    def test_it_fits(self, width: int) -> None:
        assert all(len(line) <= width for line in plot(self.POINTS * 9, [Line(0.7, "x")], width))

    def test_a_column_of_several_calls_shows_the_highest(self) -> None:
        points = [Point(0.1, 0.1), Point(1.0, 0.9, "M"), Point(0.2, 0.2, "C"), Point(0.1, 0.1)]
        assert list(plot(points, [], 8, height=1)) == ["1.00 │▇▁", "0.00 └──", "      MC"]

    def test_nothing_to_show(self) -> None:
        assert list(plot([], [], 80, height=1)) == ["0.10 │", "0.00 └"]


class TestText:
    @pytest.mark.parametrize("width", [80, 120])
    def test_golden(
        self, run: Run, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest, width: int
    ) -> None:
        """`pytest tests/policy tests/simulate --regen` writes the files anew."""
        monkeypatch.setenv("COLUMNS", str(width))
        Path("notes.txt").write_text("\n---\n".join(f"Note {n}: the customer's order was looked up." for n in range(9)))
        done = run(*SMALL, "--summarizer", "scripted:notes.txt")
        assert (done.exit_code, done.stderr) == (0, "")
        golden = GOLDEN / f"simulate-{width}.txt"
        if request.config.getoption("regen", False):
            golden.write_text(done.stdout, encoding="utf-8")
        assert done.stdout == golden.read_text(encoding="utf-8")

    @pytest.mark.parametrize("width", [1, 20, 40, 80])
    @pytest.mark.parametrize("fault", ["none", "fail"])
    def test_it_fits_the_terminal(self, run: Run, monkeypatch: pytest.MonkeyPatch, width: int, fault: str) -> None:
        monkeypatch.setenv("COLUMNS", str(width))
        done = run(*SMALL, "--summarizer-fault", fault)
        assert done.exit_code == 0
        assert max(map(len, done.stdout.splitlines())) <= width

    def test_each_recorded_session_has_a_line(self, run: Run) -> None:
        done = run("simulate", "-p", "p.yaml", _transcript("a.jsonl"), _transcript("b.jsonl", 60, 2))
        titles, first, second, total = done.stdout.splitlines()
        assert done.exit_code == 0
        assert titles.split()[0] == "session"
        assert first.startswith("a.jsonl:1 ")
        assert second.startswith("b.jsonl:1 ")
        assert total.split()[:2] == ["2", "sessions"]
        assert total.endswith("2 of 2 passed")

    def test_a_recorded_session_alone_is_shown_in_full(self, run: Run) -> None:
        out = run("simulate", "-p", "p.yaml", _transcript("a.jsonl")).stdout
        assert out.startswith("a.jsonl:1: ")
        assert "prompt cache: " in out


class TestVerdict:
    @pytest.mark.parametrize(
        ("policy", "fault", "said"),
        [
            (NO_WAY_OUT, "fail", "over the line"),
            (TASK_GONE, "none", "task gone"),
            (RESTLESS, "none", "compacts too often"),
        ],
    )
    def test_a_bad_policy_fails(self, run: Run, policy: str, fault: str, said: str) -> None:
        Path("p.yaml").write_text(policy)
        done = run(*SMALL, "--summarizer-fault", fault)
        assert done.exit_code == 1
        assert f"verdict: failed: {said}: " in done.stdout

    def test_the_default_policy_passes(self, run: Run) -> None:
        done = run("simulate", "--turns", "30")
        assert done.exit_code == 0
        assert "verdict: passed: " in done.stdout

    def test_a_failure_in_one_of_several_sessions(self, run: Run) -> None:
        Path("p.yaml").write_text(TASK_GONE)
        done = run("simulate", "-p", "p.yaml", _transcript("a.jsonl", 2), _transcript("b.jsonl", 60))
        assert done.exit_code == 1
        assert "1 of 2 passed" in done.stdout
        assert "failed: b.jsonl:1: task gone: " in done.stdout


class TestJson:
    def test_what_a_program_gets(self, run: Run) -> None:
        seen = json.loads(run(*SMALL, "--format", "json").stdout)
        assert (seen["policy"], seen["limit"], seen["findings"]) == ("sound", 12_000, [])
        assert seen["sent"] == sum(call["sent"] for call in seen["calls"]) < seen["keeping_everything"]["sent"]
        assert seen["peak"] == max(call["sent"] for call in seen["calls"])
        assert [rule["rule"] for rule in seen["rules"]] == ["cap", "too-big", "note", "drop"]
        note = seen["rules"][2]
        assert (note["calls"] > 0, note["action"]) == (True, "compact")
        assert seen["asked"]["calls"] == sum(call["asked"] for call in seen["calls"]) > 0

    def test_findings(self, run: Run) -> None:
        Path("p.yaml").write_text(TASK_GONE)
        done = run(*SMALL, "--format", "json")
        assert done.exit_code == 1
        assert json.loads(done.stdout)["findings"][0]["fault"] == "task gone"


class TestBadInput:
    @pytest.mark.parametrize("turns", ["0", "-1", "10001", "9" * 40, "many"])
    def test_absurd_turns(self, run: Run, turns: str) -> None:
        done = run("simulate", "--turns", turns)
        assert done.exit_code == 2
        assert "'--turns'" in done.stderr
        assert "Traceback" not in done.stderr

    def test_one_turn(self, run: Run) -> None:
        done = run("simulate", "--turns", "1", "--profile", "chat")
        assert done.exit_code == 0
        assert "1 call under default" in done.stdout

    def test_options_that_do_not_go_together(self, run: Run) -> None:
        done = run("simulate", "--seed", "3", _transcript("a.jsonl"))
        assert done.exit_code == 2
        assert "--seed is about made-up sessions" in done.stderr
        done = run("simulate", "--summarizer", "extract", "--summarizer-fault", "fail")
        assert done.exit_code == 2
        assert "give one" in done.stderr

    def test_transcripts_that_cannot_be_read(self, run: Run) -> None:
        Path("bad.jsonl").write_text("[1, 2\n")
        assert run("simulate", "none.jsonl").exit_code == 2
        done = run("simulate", "-p", "p.yaml", "bad.jsonl", _transcript("a.jsonl"))
        assert done.exit_code == 1
        assert "error: bad.jsonl" in done.stderr
        assert "a.jsonl:1: " in done.stdout

    def test_a_broken_conversation_among_others(self, run: Run) -> None:
        good = json.dumps(list(session("chat", 2, 0)))
        Path("t.jsonl").write_text(f'{good}\n[{{"role": "bot"}}]\n{good}\n')
        done = run("simulate", "-p", "p.yaml", "t.jsonl")
        assert done.exit_code == 1
        assert "error: t.jsonl:2" in done.stderr
        assert "2 sessions" in done.stdout

    def test_a_window_too_small_for_anything(self, run: Run) -> None:
        Path("p.yaml").write_text(GOOD)
        done = run(*SMALL, "--window", "10")
        assert done.exit_code in (0, 1)
        assert "refused: " in done.stdout

    def test_a_closed_pipe_is_quiet(self) -> None:
        process = subprocess.Popen(
            [sys.executable, "-m", "ctxpolicy", *SMALL, "--format", "json"],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        said = process.stderr.read()
        process.stderr.close()
        assert (process.wait(60), said) == (141, b"")
