"""`inspect`: what it says, how it fits the terminal, and what programs get."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from ctxpolicy.cli.output import Column, bar, coloured, fit, printable, table, wrap

from .helpers import Run, lines, talk, write

EXAMPLE = str(Path(__file__).parents[2] / "policies" / "examples" / "support-session.jsonl")


class TestOutput:
    COLUMNS = (Column("#", right=True), Column("role", least=4, drop=1), Column("note", least=6, drop=2))
    ROWS = (("1", "user", "short"), ("12", "assistant", "a rather long note"))

    def test_a_table_that_fits(self) -> None:
        assert table(self.COLUMNS, self.ROWS, 80) == [
            " #  role       note",
            " 1  user       short",
            "12  assistant  a rather long note",
        ]

    def test_columns_are_cut_then_dropped(self) -> None:
        assert table(self.COLUMNS, self.ROWS, 24)[2] == "12  assista…  a rather …"
        assert table(self.COLUMNS, self.ROWS, 16)[2] == "12  ass…  a rat…"
        assert table(self.COLUMNS, self.ROWS, 12) == [" #  role", " 1  user", "12  assista…"]
        assert table(self.COLUMNS, self.ROWS, 2) == [" #", " 1", "12"]

    @pytest.mark.parametrize("width", range(1, 60))
    def test_no_line_is_too_long(self, width: int) -> None:
        assert all(len(line) <= width for line in table(self.COLUMNS, self.ROWS, width))
        assert all(len(line) <= width for line in wrap("compact-oldest: declined, a very-long-word", width))

    def test_an_empty_column_takes_no_room(self) -> None:
        assert table(self.COLUMNS, [("1", "", "x")], 80) == ["#  note", "1  x"]
        assert table(self.COLUMNS, [], 80) == ["#"]

    def test_bars(self) -> None:
        assert [bar(share, 4) for share in (0, 0.1, 0.5, 1.0, 7.0)] == ["    ", "▍   ", "██  ", "████", "████"]

    def test_a_path_keeps_its_end(self) -> None:
        columns = (Column("file", least=6, end=True), Column("n", right=True))
        assert table(columns, [("folder/file.jsonl", "1")], 14) == ["file         n", "…file.jsonl  1"]

    def test_texts_from_transcripts_cannot_steer_the_terminal(self) -> None:
        assert printable("a\x1b[2Jb\nc\u202ed") == "a?[2Jb?c?d"
        assert [fit("abcdef", n) for n in (6, 5, 1, 0)] == ["abcdef", "abcd…", "…", ""]


class TestText:
    def test_what_it_says(self, run: Run) -> None:
        done = run("inspect", "-p", "p.yaml", write("t.jsonl", lines(*talk(10))))
        assert done.exit_code == 0
        assert done.stderr == ""
        out = done.stdout.splitlines()
        assert out[0] == "t.jsonl:1: 22 messages under small"
        assert out[1] == "used 896 tokens = 90 % of the limit, 90 % of the window; 3 beside the messages"
        assert out[2] == "limit 1,000 tokens = window 1,000 x 1 - reserve 0, counter chars"
        assert "shrink       pressure > 0.70           700           70 %" in out
        assert "drop         until pressure < 0.70     700           70 %" in out
        rows = {line.split()[0]: line.split() for line in out if line.strip()[:1].isdigit()}
        assert rows["0"][1:3] == ["system", "7"]
        assert rows["1"][-1] == "opening"
        assert rows["4"][-3:] == ["compacted", "by", "shrink"]
        assert rows["21"][-1] == "recent"
        assert any(line.startswith("+ shrink: compacted ") for line in out)
        assert any(line.startswith("- drop: quiet: ") for line in out)
        assert out[-2].startswith("next call: 896 -> ")

    def test_pressure_adds_up(self, run: Run) -> None:
        out = run("inspect", "-p", "p.yaml", write("t.jsonl", lines(*talk(10)))).stdout.splitlines()
        shares = [line.partition(" %")[0].split()[-1] for line in out if line.strip()[:1].isdigit()]
        assert shares[0] == "1"
        assert shares[-1] == "90"
        assert shares == sorted(shares, key=int)

    def test_a_roomy_window_gets_a_notice(self, run: Run) -> None:
        notice = "under 30 % of the window: compaction would only lose detail"
        write("t.jsonl", lines(*talk(6)))
        assert notice not in run("inspect", "-p", "p.yaml", "t.jsonl").stdout
        assert notice in run("inspect", "-p", "p.yaml", "--window", "10000", "t.jsonl").stdout

    def test_the_default_policy_is_the_default(self, run: Run) -> None:
        done = run("inspect", EXAMPLE)
        assert done.exit_code == 0
        assert "108 messages under default" in done.stdout
        assert "limit 85,600 tokens" in done.stdout

    @pytest.mark.parametrize("width", [1, 5, 20, 40, 80, 120])
    def test_it_fits_the_terminal(self, run: Run, monkeypatch: pytest.MonkeyPatch, width: int) -> None:
        monkeypatch.setenv("COLUMNS", str(width))
        done = run("inspect", "--window", "16000", EXAMPLE)
        assert done.exit_code == 0
        assert max(map(len, done.stdout.splitlines())) <= width

    @pytest.mark.parametrize(
        ("width", "columns"),
        [
            (20, ["#", "role", "tokens"]),
            (40, ["#", "role", "tokens", "kept by", "next call"]),
            (80, ["#", "role", "tool", "tokens", "pressure", "kept by", "next call"]),
        ],
    )
    def test_the_most_telling_columns_stay(
        self, run: Run, monkeypatch: pytest.MonkeyPatch, width: int, columns: list[str]
    ) -> None:
        monkeypatch.setenv("COLUMNS", str(width))
        titles = next(x for x in run("inspect", "--window", "16000", EXAMPLE).stdout.splitlines() if x[:5] == "  #  ")
        assert re.split(r"\s{2,}", titles.strip()) == columns

    def test_nothing_is_written_and_no_model_called(self, run: Run, tmp_path: Path) -> None:
        policy = Path("p.yaml").read_text() + "summarizer: 'command:touch called'\n"
        run("inspect", "-p", write("q.yaml", policy), write("t.jsonl", lines(*talk(20))))
        assert sorted(path.name for path in tmp_path.iterdir()) == ["p.yaml", "q.yaml", "t.jsonl"]

    def test_a_refused_message_is_shown_as_such(self, run: Run) -> None:
        done = run(
            "inspect", "-p", "p.yaml", write("t.jsonl", lines(*talk(1), {"role": "user", "content": "x" * 5000}))
        )
        assert done.exit_code == 1
        assert "refused by too-big" in done.stdout
        assert "refused: message 4 cannot be sent" in done.stdout

    def test_tokens_are_those_of_the_transcript(self, run: Run) -> None:
        """A result that the append rule would cut is shown as it stands, with what would happen to it."""
        call = {"id": "a", "type": "function", "function": {"name": "ls", "arguments": "{}"}}
        messages = [
            *talk(1),
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "a", "content": "word " * 400},
        ]
        done = run("inspect", "-p", "p.yaml", write("t.jsonl", lines(*messages)))
        row = next(line.split() for line in done.stdout.splitlines() if line.startswith("5 "))
        assert row[1:4] == ["tool", "ls", "504"]
        assert row[-3:] == ["truncated", "by", "cap"]

    def test_bad_input(self, run: Run) -> None:
        assert run("inspect", "none.jsonl").exit_code == 2
        done = run("inspect", write("t.jsonl", lines(talk(1), [{"role": "bot"}], [{"role": "tool", "tool_calls": 1}])))
        assert done.exit_code == 1
        assert "error: t.jsonl:2: message 0 has the unknown role 'bot'" in done.stderr

    def test_colour_only_where_it_is_wanted(self, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("ctxpolicy.cli.output.coloured", lambda: True)
        write("t.jsonl", lines(*talk(10)))
        assert "\x1b[33m" in run("inspect", "-p", "p.yaml", "t.jsonl", color=True).stdout
        monkeypatch.undo()
        monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
        for name, value in (("NO_COLOR", "1"), ("TERM", "dumb")):
            monkeypatch.setenv(name, value)
            assert not coloured()
            monkeypatch.delenv(name)

    def test_control_characters_do_not_reach_the_terminal(self, run: Run) -> None:
        call = {"id": "a", "type": "function", "function": {"name": "l\x1b[2Js\ud800", "arguments": "{}"}}
        message = {"role": "assistant", "content": None, "tool_calls": [call]}
        done = run("inspect", write("t.jsonl", lines({"role": "user", "content": "a"}, message)))
        assert done.exit_code == 0
        assert "\x1b" not in done.stdout
        assert "l?[2Js?" in done.stdout


def _tools(*sizes: int) -> list[dict[str, object]]:
    """A question, and calls of `ls` with the same arguments whose results have these sizes in characters."""
    messages: list[dict[str, object]] = [{"role": "user", "content": "x" * 16}]
    for n, size in enumerate(sizes):
        call = {"id": f"c{n}", "type": "function", "function": {"name": "ls", "arguments": '{"a": 1}'}}
        messages.append({"role": "assistant", "content": None, "tool_calls": [call]})
        messages.append({"role": "tool", "tool_call_id": f"c{n}", "content": "y" * size})
    return messages


class TestSurvey:
    """By `chars` a message is a quarter of its characters and 4 more, and a call has 3 more."""

    @pytest.mark.parametrize("width", [80, 120])
    def test_golden(
        self, run: Run, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest, width: int
    ) -> None:
        """`pytest tests/policy tests/cli --regen` writes the files anew."""
        monkeypatch.setenv("COLUMNS", str(width))
        shown = run("inspect", "-p", "p.yaml", write("t.jsonl", lines(*talk(3), *_tools(400, 40)))).stdout
        shown += (
            "=" * width + "\n" + run("inspect", "-p", "p.yaml", "t.jsonl", write("u.jsonl", lines(*talk(2)))).stdout
        )
        golden = Path(__file__).with_name("golden") / f"inspect-{width}.txt"
        if request.config.getoption("regen", False):
            golden.write_text(shown, encoding="utf-8")
        assert shown == golden.read_text(encoding="utf-8")

    def test_what_each_message_cost_over_the_session(self, run: Run) -> None:
        """The question is carried by three calls, the first result by two, the last by one that is still to come."""
        seen = json.loads(
            run("inspect", "-p", "p.yaml", "-f", "json", write("t.jsonl", lines(*_tools(400, 40)))).stdout
        )
        assert seen["calls"] == 3
        roles = {share["name"]: share for share in seen["roles"]}
        assert (roles["user"]["tokens"], roles["user"]["sent"]) == (8, 24)
        (ls,) = seen["tools"]
        assert (ls["name"], ls["calls"], ls["repeated"]) == ("ls", 2, 1)
        assert (ls["tokens"], ls["largest"], ls["percentile_95"]) == (104 + 14, 104, 104)
        assert ls["sent"] == 2 * 104 + 14
        assert seen["sent"] == 3 * 3 + sum(share["sent"] for share in seen["roles"])
        assert seen["peak"] == seen["used"]

    def test_the_95th_percentile(self, run: Run) -> None:
        sizes = [4 * n for n in range(1, 101)]
        seen = json.loads(run("inspect", "-p", "p.yaml", "-f", "json", write("t.jsonl", lines(*_tools(*sizes)))).stdout)
        assert seen["tools"][0]["percentile_95"] == 95 + 4

    def test_several_conversations_have_a_line_each(self, run: Run) -> None:
        done = run("inspect", "-p", "p.yaml", write("t.jsonl", lines(talk(3), _tools(400, 40), talk(1))))
        out = done.stdout.splitlines()
        assert done.exit_code == 0
        assert [line.split()[0] for line in out[1:4]] == ["t.jsonl:1", "t.jsonl:2", "t.jsonl:3"]
        assert "3 conversations, 17 messages: keeping everything, 9 calls sent " in done.stdout
        assert any(line.startswith("ls ") for line in out)

    @pytest.mark.parametrize("width", [1, 20, 40, 80])
    def test_it_fits_the_terminal(self, run: Run, monkeypatch: pytest.MonkeyPatch, width: int) -> None:
        monkeypatch.setenv("COLUMNS", str(width))
        done = run("inspect", "-p", "p.yaml", write("t.jsonl", lines(talk(3), _tools(400, 40))))
        assert max(map(len, done.stdout.splitlines())) <= width

    def test_what_cannot_be_read_is_told_and_the_rest_shown(self, run: Run) -> None:
        done = run("inspect", "-p", "p.yaml", "none.jsonl", write("t.jsonl", lines(talk(3), talk(2))))
        assert done.exit_code == 1
        assert "none.jsonl: no such file" in done.stderr
        assert "2 conversations" in done.stdout

    def test_a_pin_that_names_no_message(self, run: Run) -> None:
        done = run("inspect", "-p", "p.yaml", "--pin", "99", write("t.jsonl", lines(*talk(1))))
        assert (done.exit_code, done.stdout) == (2, "")
        assert "'--pin': 99 is no message of t.jsonl" in done.stderr


class TestJson:
    def test_one_object_a_conversation(self, run: Run) -> None:
        done = run("inspect", "-p", "p.yaml", "--format", "json", write("t.jsonl", lines(talk(10), talk(1))))
        first, second = map(json.loads, done.stdout.splitlines())
        assert (first["where"], second["where"]) == ("t.jsonl:1", "t.jsonl:2")
        assert (first["window"], first["limit"], first["used"], first["beside"]) == (1000, 1000, 896, 3)
        assert first["pressure"] == pytest.approx(0.896)
        assert first["messages"][4] == {
            "index": 4, "role": "assistant", "tool": None, "tokens": 44,
            "protected_by": None, "fate": "compacted", "by": "shrink",
        }  # fmt: skip
        assert first["used"] == 3 + sum(message["tokens"] for message in first["messages"])
        assert first["next"]["used"] < 896
        assert {"rule": "drop", "acted": False}.items() <= first["events"][-1].items()
        assert {"owner": "shrink", "threshold": "pressure > 0.70", "tokens": 700} in first["thresholds"]
        assert first["refused"] is None

    def test_a_refused_message(self, run: Run) -> None:
        big = {"role": "user", "content": "x" * 5000}
        done = run("inspect", "-p", "p.yaml", "-f", "json", write("t.jsonl", lines(*talk(1), big)))
        seen = json.loads(done.stdout)
        assert done.exit_code == 1
        assert (seen["refused"]["index"], seen["refused"]["rule"], seen["next"]) == (4, "too-big", None)
        assert seen["messages"][4]["fate"] == "refused"
