"""What cannot be read is told in one line, and the rest is read."""

from __future__ import annotations

import contextlib
import io
import json
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ctxpolicy.errors import TranscriptInvalid
from ctxpolicy.logs import packed, read_log, registry, source
from ctxpolicy.transcripts.model import Broken, Conversation

from .reading import everything, write
from .samples import CODEX, INSPECT_SAMPLE, LOGS


def parts(path: Path) -> tuple[list[Conversation], list[str]]:
    """The conversations of a log, and what is said of the rest of it."""
    found = list(read_log(path).parts())
    return [p for p in found if isinstance(p, Conversation)], [str(p.error) for p in found if isinstance(p, Broken)]


@pytest.mark.parametrize("name", ["claude-code", "codex", "copilot-cli", "gemini-cli", "pi"])
class TestLines:
    def test_a_torn_last_line_is_normal(self, tmp_path: Path, name: str) -> None:
        path = write(tmp_path, name)
        with path.open("a") as file:
            file.write('{"type": "user", "message": {"conte')
        log, sessions = everything(path)
        assert sessions
        assert log.skipped["torn last line"] == 1

    def test_a_broken_line_in_the_middle_is_told(self, tmp_path: Path, name: str) -> None:
        path = write(tmp_path, name)
        first, *rest = path.read_bytes().splitlines(keepends=True)
        path.write_bytes(first + b"\xff\xfe not UTF-8\n{oops\n" + b"".join(rest))
        conversations, told = parts(path)
        assert conversations
        assert [line.removeprefix(f"{path}:")[:2] for line in told] == ["2:", "3:"]
        assert "is not UTF-8" in told[0]
        assert "is not JSON" in told[1]

    def test_a_line_that_is_too_long_is_told(self, tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
        path = write(tmp_path, name)
        with path.open("a") as file:
            file.write(json.dumps({"type": "user", "text": "x" * 200_000}) + "\n{}\n")
        monkeypatch.setattr(source, "LONGEST_LINE", 100_000)
        conversations, told = parts(path)
        assert conversations
        assert len(told) == 1
        assert "is a line of over" in told[0]

    def test_a_log_whose_beginning_is_cut_off(self, tmp_path: Path, name: str) -> None:
        path = write(tmp_path, name)
        path.write_bytes(b'st": "cut"}\n' + path.read_bytes())
        conversations, told = parts(path)
        assert conversations
        assert len(told) == 1


def test_lone_surrogates_and_a_byte_order_mark_are_read(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    path.write_text("\ufeff" + CODEX.replace("fix it", "fix \\ud83d it"), encoding="utf-8")
    _, (first, *_) = everything(path)
    assert first.messages[0]["content"][0]["text"] == "fix \ud83d it"
    assert json.loads(first.render(first.messages))["messages"][0]["content"][0]["text"] == "fix \ud83d it"


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"\xff\xfe{\x00}\x00", "is UTF-16 text"),
        (b"\x1f\x8b\x08\x00", "is compressed"),
        (b"\x7fELF\x00\x00", "is a binary file"),
        (b"PK\x03\x04 and then nothing", "is a damaged zip file"),
        (b"interactions: [\n  {request: {", "is not YAML"),
        (b"interactions: []\n", "without a conversation"),
        (b'{"sessionId": "s", "projectHash": "p"}\n', "without a conversation; it holds no record at all"),
        (b'{"type": "session.start", "data": {}}\n', "it holds only 1 session.start"),
        (b'{"version": 2, "eval": {}, "samples": [{"id"', "is cut off in the middle"),
    ],
)
def test_a_file_of_which_nothing_can_be_read(tmp_path: Path, data: bytes, why: str) -> None:
    path = tmp_path / "s.json"
    path.write_bytes(data)
    with pytest.raises(TranscriptInvalid, match=why):
        list(read_log(path).parts())


def test_a_folder_and_a_glob_without_logs(tmp_path: Path) -> None:
    with pytest.raises(TranscriptInvalid, match="holds no session log"):
        read_log(tmp_path)
    with pytest.raises(TranscriptInvalid, match="matches no log"):
        read_log(f"{tmp_path}/*.jsonl")
    with pytest.raises(TranscriptInvalid, match="no such file"):
        read_log(tmp_path / "s.jsonl")


class TestZip:
    def eval_file(self, tmp_path: Path, samples: dict[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> Path:
        path = tmp_path / "log.eval"
        with zipfile.ZipFile(path, "w", method) as archive:
            archive.writestr("header.json", "{}")
            for name, data in samples.items():
                archive.writestr(f"samples/{name}.json", data)
        return path

    def test_samples_are_read_one_by_one(self, tmp_path: Path) -> None:
        data = json.dumps(INSPECT_SAMPLE).encode()
        log, sessions = everything(self.eval_file(tmp_path, {"1_epoch_1": data, "2_epoch_1": data}))
        assert [len(session.messages) for session in sessions] == [4, 4]
        assert log.skipped["member:header.json"] == 1

    def test_a_bomb_is_told_and_the_rest_read(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(packed, "_BOMB", (200, 100_000))
        bomb = b'{"id": "' + b"0" * 1_000_000 + b'"}'
        conversations, told = parts(self.eval_file(tmp_path, {"1": bomb, "2": json.dumps(INSPECT_SAMPLE).encode()}))
        assert len(conversations) == 1
        assert len(told) == 1
        assert "samples/1.json: would unpack from" in told[0]

    def test_a_member_that_is_too_large_or_damaged(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(packed, "LARGEST", 10_000)
        path = self.eval_file(
            tmp_path, {"1": b"[" + b"1," * 9000 + b"1]", "2": json.dumps(INSPECT_SAMPLE).encode()}, zipfile.ZIP_STORED
        )
        data = path.read_bytes()
        path.write_bytes(data.replace(b'"role": "user"', b'"role": "usex"', 1))  # the checksum no longer fits
        conversations, told = parts(path)
        assert not conversations
        assert "would unpack" in told[0]
        assert "is damaged" in told[1]

    def test_zstd(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        zstd = pytest.importorskip("backports.zstd")
        path = tmp_path / "log.eval"
        with zstd.zipfile.ZipFile(path, "w", zstd.zipfile.ZIP_ZSTANDARD) as archive:
            archive.writestr("samples/1.json", json.dumps(INSPECT_SAMPLE))
        assert len(everything(path)[1]) == 1
        monkeypatch.setattr(packed, "_zipfile", lambda: zipfile)  # where the extra is not installed
        conversations, told = parts(path)
        assert not conversations
        assert 'packed with zstd; install "ctxpolicy[logs]"' in told[0]


def _damaged(value: Any) -> Iterator[Any]:
    """The value with each of its parts in turn replaced by something that does not belong there."""
    if isinstance(value, dict):
        for key in value:
            yield from ({**value, key: other} for other in (None, 5, "x", [], [None, 7, "y", []], {}, {"type": 1}))
            yield {name: inner for name, inner in value.items() if name != key}
            yield from ({**value, key: inner} for inner in _damaged(value[key]))
    elif isinstance(value, list):
        for place, item in enumerate(value):
            yield from ([*value[:place], inner, *value[place + 1 :]] for inner in _damaged(item))


@pytest.mark.parametrize("name", LOGS)
def test_no_damage_to_a_record_is_fatal(name: str) -> None:
    """Whatever stands where something else should: conversations, or a clear line; never another error."""
    text = LOGS[name][1]
    try:
        whole, one_a_line = json.loads(text), False
    except ValueError:
        whole, one_a_line = [json.loads(line) for line in text.splitlines()], True
    for damaged in _damaged(whole):
        data = "\n".join(map(json.dumps, damaged)) if one_a_line else json.dumps(damaged)
        log = source.Source("log", io.BytesIO(data.encode()))
        found = registry.detect(log)
        with contextlib.suppress(TranscriptInvalid):
            for _ in found.reader.read(log) if found else ():
                pass
