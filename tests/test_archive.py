"""What goes into an archive comes out again, whoever wrote it and whatever the file went through."""

from __future__ import annotations

import errno
import json
import os
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxpolicy import values
from ctxpolicy.archive import Archive, DirectoryArchive, MemoryArchive, open_archive
from ctxpolicy.errors import ArchiveError, CtxPolicyError

texts = st.text(st.characters(exclude_categories=()))  # lone surrogates included
json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats(allow_nan=False, allow_infinity=False) | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=8,
)


def record(*contents: Any, left: str = "left") -> dict[str, Any]:
    removed = [{"role": "user", "content": content} for content in contents]
    return {"ref": values.reference(removed), "removed": removed, "left": values.text_digest(left)}


def only_file(directory: Path) -> Path:
    (file,) = directory.iterdir()
    return file


@given(st.lists(json_values, max_size=3))
def test_any_json_value_survives_in_a_file_of_valid_json_lines(tmp_path_factory: Any, contents: list[Any]) -> None:
    path = tmp_path_factory.mktemp("archive")
    written = record(*contents)
    DirectoryArchive(path).put([written])
    lines = only_file(path).read_text(encoding="utf-8").split("\n")
    assert json.loads(lines[0]) == written
    assert lines[1:] == [""]
    archive = DirectoryArchive(path)
    assert archive.get(written["ref"]) == [written]
    assert archive.finder()(written["left"]) == [written]


def test_lone_surrogates_are_written_as_escapes(tmp_path: Path) -> None:
    written = record("a \ud800 b")
    DirectoryArchive(tmp_path).put([written])
    assert rb"a \ud800 b" in only_file(tmp_path).read_bytes()
    assert DirectoryArchive(tmp_path).get(written["ref"]) == [written]


def test_nothing_is_created_before_the_first_put(tmp_path: Path) -> None:
    archive = DirectoryArchive(tmp_path / "a" / "b")
    archive.put([])
    assert archive.finder()("x") == []
    assert not (tmp_path / "a").exists()


@pytest.mark.skipif(os.name == "nt", reason="POSIX permissions")
def test_only_the_owner_can_read(tmp_path: Path) -> None:
    DirectoryArchive(tmp_path / "a").put([record("secret")])
    assert stat.S_IMODE((tmp_path / "a").stat().st_mode) == 0o700
    assert stat.S_IMODE(only_file(tmp_path / "a").stat().st_mode) == 0o600


def test_each_put_syncs_its_file_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    archive = DirectoryArchive(tmp_path)
    archive.put([record("first")])
    synced: list[int] = []
    monkeypatch.setattr(os, "fsync", synced.append)
    archive.put([record("a"), record("b"), record("c")])
    assert len(synced) == 1


def test_what_this_writer_wrote_is_not_written_again(tmp_path: Path) -> None:
    archive = DirectoryArchive(tmp_path)
    archive.put([record("a"), record("a")])
    size = only_file(tmp_path).stat().st_size
    archive.put([record("a")])
    assert only_file(tmp_path).stat().st_size == size
    archive.put([record("a", left="elsewhere")])
    assert len(archive.get(record("a")["ref"])) == 2


def test_two_processes_write_to_one_directory(tmp_path: Path) -> None:
    script = (
        "import sys; from ctxpolicy.archive import DirectoryArchive; archive = DirectoryArchive(sys.argv[1])\n"
        "for n in range(50): archive.put([{'ref': sys.argv[2], 'removed': [n], 'left': f'{sys.argv[2]} {n}'}])"
    )
    writers = [subprocess.Popen([sys.executable, "-c", script, str(tmp_path), ref]) for ref in ("one", "two")]
    assert [writer.wait() for writer in writers] == [0, 0]
    assert len(list(tmp_path.iterdir())) == 2
    archive = DirectoryArchive(tmp_path)
    assert [r["removed"] for r in archive.get("one")] == [[n] for n in range(50)]
    assert archive.finder()("two 49") == [{"ref": "two", "removed": [49], "left": "two 49"}]


def test_a_fork_does_not_write_to_its_parents_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    archive = DirectoryArchive(tmp_path)
    archive.put([record("parent")])
    monkeypatch.setattr(os, "getpid", lambda: 1)  # what a forked child would see
    archive.put([record("child")])
    assert len(list(tmp_path.iterdir())) == 2


def test_a_reader_sees_what_was_appended_since(tmp_path: Path) -> None:
    reader, writer = DirectoryArchive(tmp_path), DirectoryArchive(tmp_path)
    for name in ("a", "b"):
        writer.put([record(name)])
        assert reader.get(record(name)["ref"]) == [record(name)]
    DirectoryArchive(tmp_path).put([record("c")])
    assert reader.get(record("c")["ref"]) == [record("c")]


def test_a_torn_last_line_is_ignored_until_it_is_whole(tmp_path: Path) -> None:
    DirectoryArchive(tmp_path).put([record("a"), record("b")])
    file = only_file(tmp_path)
    whole = file.read_bytes()
    file.write_bytes(whole[:-9])
    archive = DirectoryArchive(tmp_path)
    assert archive.get(record("a")["ref"]) == [record("a")]
    with pytest.raises(ArchiveError):
        archive.get(record("b")["ref"])
    file.write_bytes(whole)
    assert archive.get(record("b")["ref"]) == [record("b")]


def test_what_is_not_a_record_is_skipped(tmp_path: Path) -> None:
    noise = [
        b"\xff\xfe",
        b"",
        b"[]",
        b"{",
        b'{"ref": 1}',
        b'{"ref":"r","left":"l","removed":1}',
        b"[" * 100_000,
        b'"\\ud800"',
    ]
    good = json.dumps(record("\ud800 good")).encode()
    (tmp_path / "x.jsonl").write_bytes(b"\n".join([*noise, good, *noise]))
    (tmp_path / "notes.txt").write_bytes(good)
    (tmp_path / "directory.jsonl").mkdir()
    assert len(DirectoryArchive(tmp_path).get(record("\ud800 good")["ref"])) == 1


def test_an_unknown_reference_names_archive_and_reference(tmp_path: Path) -> None:
    for archive, where in ((DirectoryArchive(tmp_path), str(tmp_path)), (MemoryArchive(), "memory")):
        with pytest.raises(ArchiveError, match="3f9a12c0d4e1") as caught:
            archive.get("3f9a12c0d4e1")
        assert where in str(caught.value)
        assert isinstance(caught.value, CtxPolicyError)


def test_a_path_that_cannot_be_an_archive_is_told_with_its_name(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("")
    with pytest.raises(OSError, match="file") as caught:
        DirectoryArchive(file).put([record("a")])
    assert not isinstance(caught.value, ArchiveError)
    with pytest.raises(ArchiveError, match="file"):
        DirectoryArchive(file).get("3f9a12c0d4e1")


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="the superuser may write anywhere")
def test_an_unwritable_directory_is_told_with_its_name(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    with pytest.raises(PermissionError, match=tmp_path.name):
        DirectoryArchive(tmp_path / "archive").put([record("a")])


def test_after_a_failed_write_a_new_file_is_begun(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    archive = DirectoryArchive(tmp_path)
    archive.put([record("a")])

    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        with pytest.raises(OSError, match="jsonl"):
            archive.put([record("b")])
    archive.put([record("b")])
    assert len(list(tmp_path.iterdir())) == 2
    assert record("b") in archive.get(record("b")["ref"])


def test_a_directory_cleaned_under_the_writer_is_made_again(tmp_path: Path) -> None:
    archive = DirectoryArchive(tmp_path)
    archive.put([record("a")])
    only_file(tmp_path).unlink()
    archive.put([record("a")])
    assert DirectoryArchive(tmp_path).get(record("a")["ref"]) == [record("a")]


def test_a_file_that_vanished_after_indexing_is_an_error(tmp_path: Path) -> None:
    archive = DirectoryArchive(tmp_path)
    archive.put([record("a")])
    archive.get(record("a")["ref"])
    only_file(tmp_path).unlink()
    with pytest.raises(ArchiveError, match="cannot read"):
        archive.get(record("a")["ref"])


def test_memory_keeps_copies() -> None:
    archive, written = MemoryArchive(), record("a")
    archive.put([written])
    written["removed"][0]["content"] = "changed"
    assert archive.get(record("a")["ref"]) == [record("a")]


def test_open_archive(tmp_path: Path) -> None:
    memory = MemoryArchive()
    seen: list[dict[str, Any]] = []
    assert open_archive(False) is None
    assert open_archive(memory) is memory
    for path in (tmp_path, str(tmp_path)):
        opened = open_archive(path)
        assert isinstance(opened, DirectoryArchive)
        assert opened.path == tmp_path
    function = open_archive(seen.extend)
    assert isinstance(function, Archive)
    function.put([record("a")])
    assert seen == [record("a")]
    with pytest.raises(ArchiveError, match="function"):
        function.get("3f9a12c0d4e1")
    with pytest.raises(TypeError, match="int"):
        open_archive(3)


def test_numbers_that_json_has_not_come_back_as_they_were(tmp_path: Path) -> None:
    message = {"role": "user", "content": "x", "seen": [float("inf"), None, {"deep": float("-inf")}], "big": 10**30}
    archive = DirectoryArchive(tmp_path)
    archive.put([{"ref": "0" * 12, "removed": [message], "left": "left"}])
    assert DirectoryArchive(tmp_path).get("0" * 12)[0]["removed"] == [message]
