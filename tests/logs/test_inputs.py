"""Commands on logs: files, folders, globs, standard input, what is written, and what `field` sees."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

from ctxpolicy.logs import LOG_FORMATS, LogFile, open_inputs, read_log
from ctxpolicy.logs.find import find
from ctxpolicy.transcripts.model import Broken, Conversation

from .reading import everything, write
from .samples import CHAT, CLAUDE_CODE, CODEX, OPENHANDS_EVENTS, lines

Run = Callable[..., Result]
POLICY = """\
version: 1
name: small
budget: {window: 1000, counter: chars}
pins:
  - {id: recorded, match: {field: {isCompactSummary: true}}}
  - {id: recent, match: {newest: 1}}
rules:
  - {id: drop, at: send, when: {pressure: {gt: 0.10}}, evict: {until: {pressure: {lt: 0.05}}}}
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Three logs of different ages, a transcript, and files that are neither."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "p.yaml").write_text(POLICY)
    inside = tmp_path / "logs"
    for age, (name, text) in enumerate(
        [
            ("b/new.jsonl", CLAUDE_CODE),
            ("b/middle.jsonl", CODEX),
            ("a/old.jsonl", CLAUDE_CODE),
            ("a/chat.json", json.dumps(CHAT)),
            ("a/settings.json", '{"theme": "dark"}'),
            ("a/config.yaml", "a: 1\n"),
            ("a/notes.txt", "hello"),
        ]
    ):
        path = inside / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text.replace("fix it", "fix it " * 200).replace("reading", "reading " * 200))
        os.utime(path, (1_700_000_000 - age * 100,) * 2)
    return inside


def conversations(path: Path) -> list[Conversation]:
    return list(read_log(path).conversations())


def names(paths: list[str]) -> list[str]:
    return [Path(path).name for path in paths]


class TestFind:
    def test_a_folder_gives_its_logs_and_transcripts_newest_first(self, folder: Path) -> None:
        assert names(find([str(folder)])) == ["new.jsonl", "middle.jsonl", "old.jsonl", "chat.json"]

    def test_last_takes_the_newest_of_all(self, folder: Path) -> None:
        assert names(find([str(folder / "a"), str(folder / "b")], last=2)) == ["new.jsonl", "middle.jsonl"]

    def test_a_glob(self, folder: Path) -> None:
        assert names(find([str(folder / "**" / "*.jsonl")])) == ["new.jsonl", "middle.jsonl", "old.jsonl"]
        assert names(find([str(folder / "*")])) == ["new.jsonl", "middle.jsonl", "old.jsonl", "chat.json"]

    def test_a_file_whose_name_looks_like_a_glob_is_that_file(self, folder: Path) -> None:
        path = folder / "s[1].jsonl"
        path.write_text(CODEX)
        assert find([str(path)]) == [str(path)]

    def test_files_that_should_be_json_and_are_not_stay(self, folder: Path) -> None:
        (folder / "b" / "cut.json").write_text('{"version": 2, "eval": {}, "samples": [')
        (folder / "b" / "bomb.eval").write_bytes(b"PK\x03\x04")
        assert {"cut.json", "bomb.eval"} < set(names(find([str(folder)])))

    def test_the_events_of_a_conversation_are_one_input(self, folder: Path) -> None:
        events = folder / "conversations" / "7" / "events"
        events.mkdir(parents=True)
        for n, event in enumerate(OPENHANDS_EVENTS):
            (events / f"event-{n:05}-{n}.json").write_text(json.dumps(event))
        assert find([str(folder / "conversations")]) == [str(events.parent)]

    def test_nothing_found_stays_as_given(self, folder: Path) -> None:
        (folder / "empty").mkdir()
        given = [str(folder / "empty"), str(folder / "*.xyz"), "no-such-file"]
        assert find(given) == given


def test_open_inputs_gives_every_log_and_what_is_broken(folder: Path) -> None:
    found = list(open_inputs([str(folder), "no-such-file"]))
    logs = [log for log in found if isinstance(log, LogFile)]
    assert [len(list(log.conversations())) for log in logs] == [3, 3, 3, 1]
    assert [log.format.name if log.format else None for log in logs] == ["claude-code", "codex", "claude-code", None]
    assert [str(part.error) for part in found if isinstance(part, Broken)] == [
        "no-such-file: no such file; check the path"
    ]


class TestApply:
    def test_a_log_comes_out_as_messages(self, folder: Path, run: Run) -> None:
        done = run("apply", "-p", "p.yaml", "--archive", "none", folder / "b" / "middle.jsonl", "-o", "out.jsonl")
        assert done.exit_code == 0, done.stderr
        written = [json.loads(line) for line in Path("out.jsonl").read_text().splitlines()]
        assert [set(value) for value in written] == [{"messages", "system"}] * 3
        assert written[0]["system"] == "You are an agent."

    def test_and_restore_gives_them_back(self, folder: Path, run: Run) -> None:
        done = run("apply", "-p", "p.yaml", "--archive", "a", folder, "-o", "out")
        assert "drop: evicted" in done.stderr
        assert (Path("out") / "b" / "new.jsonl").exists()
        assert run("restore", "--archive", "a", "out", "-o", "back").exit_code == 0
        for name in ("b/new.jsonl", "b/middle.jsonl", "a/old.jsonl", "a/chat.json"):
            given, back = conversations(folder / name), conversations(Path("back") / name)
            assert [c.messages for c in given] == [c.messages for c in back]

    def test_a_log_is_never_changed(self, folder: Path, run: Run) -> None:
        path = folder / "b" / "new.jsonl"
        before = path.read_bytes()
        done = run("apply", "-p", "p.yaml", "--archive", "none", path, "-o", path)
        assert done.exit_code == 2
        assert "is a session log, which is never changed" in done.stderr
        assert path.read_bytes() == before

    def test_logs_that_are_no_json_get_a_suffix(
        self, tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.chdir(tmp_path)
        (tmp_path / "p.yaml").write_text(POLICY)
        (tmp_path / "out").mkdir()
        run("apply", "-p", "p.yaml", "--archive", "none", write(tmp_path, "swe-agent"), "-o", "out")
        assert [path.name for path in (tmp_path / "out").iterdir()] == ["i.traj.jsonl"]

    def test_field_sees_the_record(self, folder: Path, run: Run) -> None:
        done = run("inspect", "-p", "p.yaml", "--format", "json", folder / "b" / "new.jsonl")
        shown = [json.loads(line) for line in done.stdout.splitlines()]
        assert [[m["protected_by"] == "recorded" for m in one["messages"][:2]] for one in shown] == [
            [False, False],
            [True, False],
            [False, False],
        ]

    def test_standard_input(self, folder: Path, run: Run) -> None:
        done = run("apply", "-p", "p.yaml", "--archive", "none", "-", input=CODEX)
        assert done.exit_code == 0, done.stderr
        assert len(done.stdout.splitlines()) == 3


class TestOtherCommands:
    def test_inspect_takes_the_newest(self, folder: Path, run: Run) -> None:
        done = run("inspect", "-p", "p.yaml", "--last", "1", folder, "--format", "json")
        assert done.exit_code == 0, done.stderr
        shown = [json.loads(line) for line in done.stdout.splitlines()]
        assert [Path(one["where"]).name for one in shown] == ["new.jsonl:2", "new.jsonl:13", "new.jsonl:10"]

    def test_what_cannot_be_read_is_told_and_the_rest_shown(self, folder: Path, run: Run) -> None:
        (folder / "b" / "new.jsonl").write_text(CLAUDE_CODE + "{oops\n" + lines({"type": "system"}))
        done = run("inspect", "-p", "p.yaml", folder / "b", "--format", "json")
        assert done.exit_code == 1
        assert len(done.stdout.splitlines()) == 6
        assert done.stderr.count("is not JSON") == 1

    def test_a_folder_without_logs(self, folder: Path, run: Run) -> None:
        (folder / "empty").mkdir()
        done = run("inspect", folder / "empty")
        assert done.exit_code == 2
        assert "holds no session log or transcript; `ctxpolicy formats` lists what is read" in done.stderr

    def test_formats_names_every_one(self, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("COLUMNS", "200")  # whatever terminal the tests run in: narrow ones wrap the examples
        done = run("formats")
        assert done.exit_code == 0
        assert all(entry.name in done.stdout and entry.example in done.stdout for entry in LOG_FORMATS)
        listed = json.loads(run("formats", "--format", "json").stdout)
        assert [entry["name"] for entry in listed["logs"]] == [entry.name for entry in LOG_FORMATS]


def test_lines_and_times_of_a_session(tmp_path: Path) -> None:
    _, (session, *_) = everything(write(tmp_path, "codex"))
    assert session.at(1) == f"{session.file}:4"
    assert session.began is not None
    assert session.began.isoformat() == "2026-11-01T10:00:01+00:00"


def test_inspect_shows_what_was_recorded(folder: Path, run: Run) -> None:
    path = folder / "b" / "new.jsonl"
    done = run("inspect", "-p", "p.yaml", path)
    assert f"{path}:13: the agent compacted its history at 167,000 tokens (auto)" in done.stdout
    seen = [json.loads(line) for line in run("inspect", "-p", "p.yaml", "--format", "json", path).stdout.splitlines()]
    assert seen[0]["recorded"]["log"] == "claude-code"
    assert seen[0]["recorded"]["calls"] == [{"index": 1, "input": 959, "output": 20, "cached": 900, "written": 50}]
    assert [len(one["recorded"]["compactions"]) for one in seen] == [0, 1, 0]
    chat = run("inspect", "-p", "p.yaml", "--format", "json", folder / "a" / "chat.json")
    assert "recorded" not in json.loads(chat.stdout)


SEVERAL = {
    "inspect": (),
    "apply": ("-p", "p.yaml", "--archive", "none", "-o", "out"),
    "lint": (),
    "replay": (),
    "simulate": (),
    "diff": ("p.yaml", "p.yaml"),
}


@pytest.mark.parametrize("command", SEVERAL)
class TestExitCodes:
    """What cannot be read has a line each and the rest is done: 1; where nothing can be read: 2."""

    def bad(self, folder: Path) -> dict[str, str]:
        """Inputs of which nothing can be read, with what is said of them."""
        (folder / "empty").mkdir()
        (folder / "cut.json").write_text('[{"role": "user", "content": "h')
        return {
            str(folder / "empty"): "holds no session log",
            str(folder / "cut.json"): "is cut off in the middle",
            str(folder / "*.xyz"): "matches no log",
            "no-such-file": "no such file",
        }

    def test_some(self, folder: Path, run: Run, command: str) -> None:
        bad = self.bad(folder)
        done = run(command, *SEVERAL[command], *bad, folder / "a" / "chat.json")
        assert done.exit_code == 1
        told = [line for line in done.stderr.splitlines() if line.startswith("error: ")]
        assert len(told) == len(bad)
        assert all(why in line and path in line for line, (path, why) in zip(told, bad.items(), strict=True))

    def test_none(self, folder: Path, run: Run, command: str) -> None:
        assert run(command, *SEVERAL[command], *self.bad(folder)).exit_code == 2

    def test_a_folder_with_one_that_is_cut(self, folder: Path, run: Run, command: str) -> None:
        (folder / "a" / "cut.json").write_text('[{"role": "user", "content": "h')
        done = run(command, *SEVERAL[command], folder)
        assert done.exit_code == 1
        told = [line for line in done.stderr.splitlines() if line.startswith("error: ")]
        assert [line.startswith(f"error: {folder / 'a' / 'cut.json'}:1: is cut off") for line in told] == [True]
