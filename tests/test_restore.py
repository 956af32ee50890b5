"""restore: everything that was removed comes back, and nothing that was not."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ctxpolicy import values
from ctxpolicy.archive import DirectoryArchive, MemoryArchive, open_archive
from ctxpolicy.archive.restoring import restore
from ctxpolicy.archive.standing import standing
from ctxpolicy.errors import ArchiveError
from ctxpolicy.result import Removed

Message = dict[str, Any]


def said(text: str, role: str = "user") -> Message:
    return {"role": role, "content": text}


def result(text: str) -> Message:
    return {"role": "tool", "tool_call_id": "c1", "content": text}


def call(arguments: Any) -> Message:
    function = {"name": "bash", "arguments": arguments}
    return {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": "c1", "type": "function", "function": function}],
    }


def taken(removed: list[Message], stands: Callable[[str], Message]) -> tuple[Message, Removed]:
    """A message that stands for `removed`, and what a run would tell about it."""
    ref = values.reference(removed)
    message = stands(ref)
    return message, Removed(ref, tuple(removed), values.text_digest(standing(message)))


def gap(removed: list[Message]) -> tuple[Message, Removed]:
    return taken(removed, lambda ref: said(f"[{len(removed)} earlier turns left out, ref {ref}.]"))


class OnlyGet:
    """A caller's own archive: put and get, nothing more."""

    def __init__(self, unknown: Exception | None) -> None:
        self.records: dict[str, list[dict[str, Any]]] = {}
        self.unknown = unknown

    def put(self, records: Any) -> None:
        for record in records:
            self.records.setdefault(record["ref"], []).append(record)

    def get(self, ref: str) -> Any:
        if ref not in self.records and self.unknown:
            raise self.unknown
        return self.records.get(ref)


@pytest.fixture(
    params=["directory", "memory", "get returns None", "get raises KeyError", "get raises ArchiveError", "removed"]
)
def archived(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[[list[Removed]], Any]:
    def store(removed: list[Removed]) -> Any:
        if request.param == "removed":
            return tuple(removed)
        archive: Any = {
            "directory": DirectoryArchive(tmp_path),
            "memory": MemoryArchive(),
            "get returns None": OnlyGet(None),
            "get raises KeyError": OnlyGet(KeyError("x")),
            "get raises ArchiveError": OnlyGet(ArchiveError("x")),
        }[request.param]
        archive.put([one.record() for one in removed])
        return archive

    return store


def test_every_kind_of_edit_is_undone(archived: Callable[[list[Removed]], Any]) -> None:
    gone = [said("one"), said("two \ud800", "assistant"), said("three")]
    marker, a = gap(gone)
    cut, b = taken([result("x" * 900)], lambda ref: result(f"x\n... [898 chars dropped, ref {ref}] ...\nx"))
    masked, c = taken([call('{"cmd": "long"}')], lambda ref: call(f'{{"omitted":"[9 tokens left out, ref {ref}]"}}'))
    kept = [said("hello", "system"), {"type": "reasoning", "id": "r"}, "not a message", said("bye")]
    messages = [kept[0], marker, kept[1], masked, cut, kept[2], kept[3]]
    before = values.copy(messages)
    restored = restore(messages, archived([a, b, c]))
    assert restored == [kept[0], *gone, kept[1], call('{"cmd": "long"}'), result("x" * 900), kept[2], kept[3]]
    assert restored[0] is kept[0]
    assert messages == before


def test_a_message_cut_then_masked_then_evicted_comes_back_whole(archived: Callable[[list[Removed]], Any]) -> None:
    cut, a = taken([result("x" * 900)], lambda ref: result(f"x [898 chars dropped, ref {ref}] x"))
    masked, b = taken([cut], lambda ref: result(f"[9 tokens of bash left out, ref {ref}.]"))
    marker, c = gap([call("{}"), masked])
    assert restore([marker], archived([a, b, c])) == [call("{}"), result("x" * 900)]


def test_a_reference_anywhere_in_the_text_is_found(archived: Callable[[list[Removed]], Any]) -> None:
    gone = [said("gone")]
    for text in ("<<{}>>", "ref{}", "{}ab", "0123456789ab {} 0123456789ab"):
        message, removed = taken(gone, lambda ref, text=text: said(text.format(ref)))  # type: ignore[misc]
        assert restore([message], archived([removed])) == gone


def test_markers_nested_5000_deep(tmp_path: Path) -> None:
    innermost = [said("the first words")]
    inside, removed = list(innermost), []
    for depth in range(5000):
        marker, one = gap([*inside, said(f"turn {depth}")])
        removed.append(one)
        inside = [marker]
    archive = DirectoryArchive(tmp_path)
    archive.put([one.record() for one in removed])
    expected = [*innermost, *(said(f"turn {depth}") for depth in range(5000))]
    assert restore(inside, archive) == expected
    assert restore(inside, removed) == expected


def test_the_same_edit_at_two_places_is_undone_at_both(archived: Callable[[list[Removed]], Any]) -> None:
    marker, removed = gap([said("gone")])
    assert restore([marker, dict(marker)], archived([removed])) == [said("gone"), said("gone")]


def test_quoted_and_forged_markers_restore_nothing(archived: Callable[[list[Removed]], Any]) -> None:
    marker, removed = gap([said("gone"), said("for good", "assistant")])
    text = marker["content"]
    forged = [
        said(text + " What is that?"),
        said("> " + text),
        said(text.replace("2 earlier", "3 earlier")),
        said(f"ref {removed.ref}"),
        result(text),  # a tool must not put words into the list by repeating a marker
        said(text, "assistant"),
        call(text),
    ]
    assert restore(forged, archived([removed])) == forged


def test_a_record_that_contains_its_own_marker_ends() -> None:
    marker = said("[1 earlier turns left out, ref 3f9a12c0d4e1.]")
    loop = Removed("3f9a12c0d4e1", (marker, said("gone")), values.text_digest(standing(marker)))
    assert restore([marker], [loop]) == [marker, said("gone")]


def test_other_fields_of_a_message_may_change(archived: Callable[[list[Removed]], Any]) -> None:
    masked, removed = taken([call("long")], lambda ref: call(f"[ref {ref}]"))
    assert restore([{**masked, "id": "m7", "name": "n", "reasoning_content": "hm"}], archived([removed])) == [
        call("long")
    ]


def test_standing_is_the_text_and_the_arguments() -> None:
    assert standing(said("a")) == "a"
    assert standing({"role": "user", "content": [{"type": "text", "text": "a"}, {"type": "image_url"}, "b"]}) == "ab"
    assert standing(call('{"a": 1}')) == '\0{"a": 1}'
    assert standing({"role": "assistant", "content": "x", "function_call": {"name": "f", "arguments": "y"}}) == "x\0y"
    others: tuple[Any, ...] = (
        None,
        "text",
        [],
        {"type": 1, "output": "x"},
        {"role": "critic", "content": "x"},
        {"parts": "x"},
    )
    for other in others:
        assert standing(other) == ""


def test_a_directory_without_records_restores_nothing(tmp_path: Path) -> None:
    messages = [gap([said("gone")])[0]]
    assert restore(messages, tmp_path) == messages
    assert restore(messages, ()) == messages


def test_an_unreadable_archive_is_an_error(tmp_path: Path) -> None:
    marker, _ = gap([said("gone")])
    file = tmp_path / "file"
    file.write_text("")
    with pytest.raises(ArchiveError, match="file"):
        restore([marker], file)
    with pytest.raises(ArchiveError, match="function"):
        restore([marker], open_archive(print))  # type: ignore[arg-type]
    with pytest.raises(ArchiveError, match="disk is gone"):
        restore([marker], OnlyGet(OSError("disk is gone")))
    with pytest.raises(TypeError, match="int"):
        restore([marker], 3)  # type: ignore[arg-type]


def test_a_page_of_hashes_costs_two_look_ups_a_run() -> None:
    asked: list[str] = []

    class Counting(OnlyGet):
        def get(self, ref: str) -> Any:
            asked.append(ref)

    message = said("0123456789abcdef" * 5000 + "\n" + "f" * 40)
    assert restore([message], Counting(None)) == [message]
    assert asked == ["0123456789ab", "456789abcdef", "f" * 12]


def test_an_archive_that_is_not_there_is_an_error_where_the_list_needs_it(tmp_path: Path) -> None:
    missing = tmp_path / "elsewhere"
    untouched = [{"role": "user", "content": "hi"}]
    assert restore(untouched, missing) == untouched
    marker = {"role": "user", "content": "[18 earlier turns left out, ref 3f9a12c0d4e1.]"}
    with pytest.raises(ArchiveError, match=r"there is no archive at .*elsewhere; the list stands for 3f9a12c0d4e1"):
        restore([*untouched, marker], missing)
