"""Transcript files: every shape comes back byte for byte, edits touch only what changed, and errors name the place."""

from __future__ import annotations

import io
import json
import os
import re
import stat
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxpolicy.errors import TranscriptInvalid
from ctxpolicy.transcripts import Broken, Conversation, Output, Part, read

CORPUS = Path(__file__).resolve().parents[2] / "shared" / "corpus"
USER = {"role": "user", "content": "Grüße, find the bug"}
CALL = {
    "role": "assistant",
    "content": None,
    "tool_calls": [{"id": "a", "type": "function", "function": {"name": "ls", "arguments": "{}"}}],
}
RESULT = {"role": "tool", "tool_call_id": "a", "content": 'x\u2028 "quoted" \\ 1.50'}
MESSAGES = [USER, CALL, RESULT]

SHAPES = {
    "message-a-line": "\n".join(json.dumps(m, ensure_ascii=False) for m in MESSAGES) + "\n",
    "message-a-line-compact": "\n".join(json.dumps(m, separators=(",", ":")) for m in MESSAGES) + "\n",
    "message-a-line-crlf": "\r\n".join(json.dumps(m) for m in MESSAGES) + "\r\n",
    "no-final-newline": "\n".join(json.dumps(m) for m in MESSAGES),
    "byte-order-mark": "\ufeff" + "\n".join(json.dumps(m) for m in MESSAGES) + "\n",
    "blank-lines": "\n \n" + "\n\n".join(json.dumps(m) for m in MESSAGES) + "\n\n\n",
    "conversation-a-line": (json.dumps(MESSAGES) + "\n") * 3,
    "object-a-line": "".join(json.dumps({"id": i, "messages": MESSAGES, "n": 1.50}) + "\n" for i in range(3)),
    "array": json.dumps(MESSAGES),
    "array-indented": json.dumps(MESSAGES, indent=2, ensure_ascii=False) + "\n",
    "array-tabs": json.dumps(MESSAGES, indent="\t"),
    "object": json.dumps({"system": "Be brief.", "messages": MESSAGES, "tools": [{"name": "ls"}], "z": [1.0, 1e5]}),
    "object-indented": json.dumps({"info": {"a": []}, "messages": MESSAGES, "after": None}, indent=4),
    "object-crlf": json.dumps({"messages": MESSAGES}, indent=4).replace("\n", "\r\n"),
    "other-key": json.dumps({"environment": "x", "trajectory": [{"action": "ls"}], "history": MESSAGES}, indent=1),
    "array-of-objects": json.dumps([{"task": i, "traj": MESSAGES, "reward": 1.0} for i in range(3)], indent=2),
    "array-of-arrays": json.dumps([MESSAGES, MESSAGES]),
    "toolbench": json.dumps({"win": True, "answer_generation": {"n": 1, "train_messages": [MESSAGES[:2], MESSAGES]}}),
    "odd-escapes": '[{"role":"user","content":"\\u00e9\\/ \\ud83d\\ude00", "n":1.500, "big":12345678901234567890123}]',
    "lone-surrogate": '{"role": "user", "content": "\\ud800"}\n{"role": "user", "content": "b"}\n',
    "not-a-number": '{"messages": [{"role": "user", "content": "a", "logprob": NaN}]}\n',
    "one-message": '{"role": "user", "content": "a"}',
    "no-message": '{"messages": [], "id": 7}',
}


def parts_of(tmp_path: Path, content: str | bytes) -> list[Part]:
    path = tmp_path / "t.jsonl"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return list(read(path))


def conversations(parts: list[Part]) -> list[Conversation]:
    return [part for part in parts if isinstance(part, Conversation)]


def written(parts: list[Part], change: Any = lambda messages: messages) -> str:
    text = ""
    for part in parts:
        assert not isinstance(part, Broken), part.error
        text += part if isinstance(part, str) else part.lead + part.render(change(part.messages))
    return text


@pytest.mark.parametrize("shape", SHAPES)
def test_unchanged_is_the_same_bytes(tmp_path: Path, shape: str) -> None:
    assert written(parts_of(tmp_path, SHAPES[shape])) == SHAPES[shape]


@pytest.mark.parametrize("shape", sorted(set(SHAPES) - {"odd-escapes", "blank-lines"}))
def test_rewritten_messages_take_the_style_of_the_file(tmp_path: Path, shape: str) -> None:
    """Every message as a new object: serialised anew, yet not a byte differs."""
    assert written(parts_of(tmp_path, SHAPES[shape]), lambda ms: [dict(m) for m in ms]) == SHAPES[shape]


@pytest.mark.parametrize("shape", sorted(k for k in SHAPES if k not in ("no-message", "one-message", "odd-escapes")))
def test_an_edit_leaves_the_rest_alone(tmp_path: Path, shape: str) -> None:
    new = {"role": "user", "content": "[1 earlier turns left out]"}
    out = written(parts_of(tmp_path, SHAPES[shape]), lambda ms: [new, *ms[1:]])
    before, after = (conversations(parts_of(tmp_path, text)) for text in (SHAPES[shape], out))
    assert len(before) == len(after)
    for a, b in zip(before, after, strict=True):
        assert b.messages[0] == new
        assert repr(b.messages[1:]) == repr(a.messages[1:])
        assert (a.tools, a.system) == (b.tools, b.system)


def test_untouched_messages_keep_their_odd_bytes(tmp_path: Path) -> None:
    odd = '{"role":"user",  "content":"\\u00e9\\/", "n":1.500}'
    text = f'{{"x": 1.50, "messages": [ {{"role": "user", "content": "a"}},\n {odd}], "y":2 }}'
    out = written(parts_of(tmp_path, text), lambda ms: [{"role": "user", "content": "b"}, ms[1]])
    assert out == f'{{"x": 1.50, "messages": [ {{"role": "user", "content": "b"}},\n {odd}], "y":2 }}'


def test_line_edit_keeps_other_lines(tmp_path: Path) -> None:
    text = SHAPES["message-a-line-crlf"]
    lines = text.splitlines(keepends=True)
    out = written(parts_of(tmp_path, text), lambda ms: [ms[0], {"role": "user", "content": "é"}])
    assert out == lines[0] + '{"role": "user", "content": "\\u00e9"}\r\n'


def test_appending_after_an_unfinished_line(tmp_path: Path) -> None:
    out = written(parts_of(tmp_path, SHAPES["no-final-newline"]), lambda ms: [*ms, USER])
    assert [json.loads(line)["role"] for line in out.splitlines()] == ["user", "assistant", "tool", "user"]


def test_filling_an_empty_list(tmp_path: Path) -> None:
    out = written(parts_of(tmp_path, SHAPES["no-message"]), lambda ms: [USER, USER])
    assert json.loads(out) == {"messages": [USER, USER], "id": 7}


def test_a_new_lone_surrogate_is_escaped(tmp_path: Path) -> None:
    out = written(parts_of(tmp_path, SHAPES["message-a-line"]), lambda ms: [{"role": "user", "content": "é\ud800"}])
    assert out == '{"role": "user", "content": "\\u00e9\\ud800"}\n'


def test_what_stands_around_the_messages(tmp_path: Path) -> None:
    (talk,) = conversations(parts_of(tmp_path, SHAPES["object"]))
    assert (talk.system, talk.tools) == ("Be brief.", [{"name": "ls"}])
    (legacy,) = conversations(parts_of(tmp_path, '{"messages": [], "functions": [{"name": "f"}]}'))
    assert legacy.tools == [{"name": "f"}]


@pytest.mark.parametrize(
    ("shape", "starts", "lines"),
    [
        ("message-a-line", [1], [[1, 2, 3]]),
        ("blank-lines", [3], [[3, 5, 7]]),
        ("conversation-a-line", [1, 2, 3], [[1, 1, 1], [2, 2, 2], [3, 3, 3]]),
        ("array-indented", [1], [[2, 6, 20]]),
        ("array-of-objects", [2, 31, 60], [[5, 9, 23], [34, 38, 52], [63, 67, 81]]),
    ],
)
def test_places(tmp_path: Path, shape: str, starts: list[int], lines: list[list[int]]) -> None:
    found = conversations(parts_of(tmp_path, SHAPES[shape]))
    path = tmp_path / "t.jsonl"
    assert [talk.where for talk in found] == [f"{path}:{line}" for line in starts]
    assert [[talk.at(i) for i in range(3)] for talk in found] == [[f"{path}:{n}" for n in row] for row in lines]


GOOD = b'{"role": "user", "content": "a"}\n'
BAD_FILES = {
    "empty": (b"", r"t\.jsonl: is empty; a transcript holds"),
    "blank": (b" \n\n", r"t\.jsonl: is empty"),
    "binary": (b"\x7fELF\x00\x01\n", r"t\.jsonl: is a binary file"),
    "gzip": (b"\x1f\x8b\x08abc", r"t\.jsonl: is compressed; unpack it"),
    "utf-16": ("[]".encode("utf-16"), r"t\.jsonl: is UTF-16 text; convert"),
    "not-utf-8": (GOOD + b'{"role": "user", "content": "\xe9"}\n', r"t\.jsonl:2: byte 30 of the line \(0xe9\) is not"),
    "document-not-utf-8": (b'[\n{"role": "user",\n "content": "\xe9"}]', r"t\.jsonl:3: byte 14 of the line \(0xe9\)"),
    "torn-last-line": (GOOD * 2 + GOOD[:20], r"t\.jsonl:3: is cut off in the middle .*; remove"),
    "torn-after-colon": (GOOD + b'{"role":', r"t\.jsonl:2: is cut off in the middle"),
    "torn-only-line": (b'{"role": "user", "con', r"t\.jsonl:1: is cut off in the middle"),
    "torn-document": (b'[\n  {"role": "user",\n   "content": "a"', r"t\.jsonl:3: is cut off in the middle"),
    "bad-first-line": (b"{'role': 'user'}\n" + GOOD, r"t\.jsonl:1:2: is not JSON: expecting property name"),
    "bad-line": (GOOD + b"hello\n" + GOOD, r"t\.jsonl:2:1: is not JSON: expecting value; repair or remove the line"),
    "bad-document": (b'[\n  {"role": "user"}\n  {"role": "user"}\n]', r"t\.jsonl:3:3: is not JSON: expecting ',' del"),
    "text": (b"Dear diary\n", r"t\.jsonl:1:1: is not JSON; a transcript has .*`ctxpolicy formats`"),
    "scalar": (b"7\n", r"t\.jsonl:1: holds no list of messages; give"),
    "array-of-scalars": (b"[1, 2]\n", r"t\.jsonl:1: holds no list of messages"),
    "object-without-list": (b'{"a": 1}', r"t\.jsonl:1: holds no list of messages"),
    "not-a-message": (GOOD + b'["a"]\n', r't\.jsonl:2: message 1 is not an object but \["a"\]; remove it'),
    "no-role": (GOOD + b'\n{"content": "a"}\n', r"t\.jsonl:3: message 1 has no `role`; give it one of system, "),
    "unknown-role": (
        b'{"role": "narrator"}\n',
        r"t\.jsonl:1: message 0 has the unknown role 'narrator'; the roles are",
    ),
    "role-not-text": (b'{"role": ["user"]}\n', r"t\.jsonl:1: message 0 has the unknown role \['user'\]"),
    "unknown-role-in-document": (
        b'[\n{"role": "user"},\n{"role": "bot"}]',
        r"t\.jsonl:3: message 1 has the unknown role",
    ),
    "two-lists": (b'{"a": [{"role": "user"}], "b": [{"role": "user"}]}', r"under `a` and `b`; remove one, or rename"),
    "deep": (b"[" * 100_000 + b"]" * 100_000, r"t\.jsonl:1: is nested too deeply"),
}


@pytest.mark.parametrize("fault", BAD_FILES)
def test_bad_files_name_the_place_and_what_to_do(tmp_path: Path, fault: str) -> None:
    """Read to the end, nothing of the file is a conversation: an error at once or one broken part."""
    data, expected = BAD_FILES[fault]
    try:
        parts = parts_of(tmp_path, data)
    except TranscriptInvalid as error:
        message = str(error)
    else:
        (message,) = (str(part.error) for part in parts if isinstance(part, Broken))
        assert not conversations(parts)
    assert message.startswith(str(tmp_path))
    assert re.search(expected, message)


def test_missing_file_and_directory(tmp_path: Path) -> None:
    with pytest.raises(TranscriptInvalid, match=r"none\.jsonl: no such file; check the path"):
        list(read(tmp_path / "none.jsonl"))
    with pytest.raises(TranscriptInvalid, match=r"(is a directory; name the transcript|cannot be read)"):
        list(read(tmp_path))


def test_the_index_of_a_bad_message_is_given(tmp_path: Path) -> None:
    with pytest.raises(TranscriptInvalid) as caught:
        parts_of(tmp_path, GOOD * 3 + b'{"role": "x"}\n')
    assert caught.value.index == 3


@pytest.mark.parametrize(
    "bad", [b'{"messages": [{"role": "bot"}]}', b'{"messages": [{"ro', b"\xff", b'{"id": 3}', b"7"], ids=repr
)
@pytest.mark.parametrize("place", [0, 1, 2])
def test_a_bad_line_does_not_stop_the_others(tmp_path: Path, bad: bytes, place: int) -> None:
    good = b'{"messages": [{"role": "user", "content": "a"}]}'
    lines = [good, good]
    lines.insert(place, bad)
    parts = [part for part in parts_of(tmp_path, b"\n".join(lines) + b"\n") if not isinstance(part, str)]
    assert [isinstance(part, Broken) for part in parts] == [i == place for i in range(3)]
    (broken,) = (part for part in parts if isinstance(part, Broken))
    assert f"t.jsonl:{place + 1}" in str(broken.error)


def test_a_bad_element_does_not_stop_the_others(tmp_path: Path) -> None:
    parts = parts_of(tmp_path, b'[{"traj": [{"role": "user"}]},\n {"traj": 1},\n {"traj": [{"role": "user"}]}]')
    kinds = [type(part).__name__ for part in parts if not isinstance(part, str)]
    assert kinds == ["Conversation", "Broken", "Conversation"]
    assert written([part for part in parts if not isinstance(part, Broken)]) == (
        '[{"traj": [{"role": "user"}]},\n {"traj": [{"role": "user"}]}]'
    )


def test_one_conversation_a_line_is_streamed(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[int] = []

    def lines() -> Any:
        while True:
            seen.append(len(seen))
            yield json.dumps(MESSAGES).encode() + b"\n"

    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=lines()))
    stream = (part for part in read("-") if isinstance(part, Conversation))
    for number in range(1, 50):
        assert next(stream).where == f"<stdin>:{number}"
        assert len(seen) <= number + 1  # one ahead, to know a file of one line


_texts = st.text(max_size=8)
_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | _texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_texts, inner, max_size=3),
    max_leaves=6,
)
_messages = st.lists(
    st.builds(
        lambda extra, role: {**extra, "role": role}, st.dictionaries(_texts, _values, max_size=3), st.just("user")
    ),
    min_size=1,
    max_size=5,
)


@given(
    messages=_messages,
    indent=st.sampled_from([None, 0, 1, 4, "\t"]),
    ascii_only=st.booleans(),
    compact=st.booleans(),
    wrap=st.booleans(),
    keep=st.sets(st.integers(0, 4)),
)
def test_any_edit_of_any_document(
    messages: list[Any], indent: Any, ascii_only: bool, compact: bool, wrap: bool, keep: set[int]
) -> None:
    """Unchanged text is unchanged; after an edit the document holds what was put in and every kept message's text."""
    separators = (",", ":") if compact else (", " if indent is None else ",", ": ")
    value = {"before": [[]], "messages": messages, "z": 0} if wrap else messages
    text = json.dumps(value, indent=indent, ensure_ascii=ascii_only, separators=separators)
    parts = list(_read_bytes(text.encode("utf-8", "surrogatepass")))
    assert written(parts) == text
    assert written(parts, lambda ms: [dict(m) for m in ms]) == text
    (talk,) = conversations(parts)
    new = [m if i in keep else {"role": "user", "content": "…"} for i, m in enumerate(talk.messages)]
    out = json.loads(talk.render(new))
    assert (out["messages"] if wrap else out) == new


def _read_bytes(data: bytes) -> Any:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(data)))
        return list(read("-"))


def _write_all(out: Output, *texts: str) -> None:
    for text in texts:
        out.write(text)


class TestOutput:
    def test_replaces_in_one_step_and_keeps_the_mode(self, tmp_path: Path) -> None:
        path = tmp_path / "out.jsonl"
        path.write_text("old")
        path.chmod(0o640)
        with Output(path) as out:
            out.write("né")
            assert path.read_text() == "old"
        assert path.read_bytes() == "né".encode()
        assert os.name == "nt" or stat.S_IMODE(path.stat().st_mode) == 0o640
        assert os.listdir(tmp_path) == ["out.jsonl"]

    def test_an_error_leaves_the_old_file(self, tmp_path: Path) -> None:
        path = tmp_path / "out.jsonl"
        path.write_text("old")
        with pytest.raises(UnicodeEncodeError), Output(path) as out:
            _write_all(out, "new", "\ud800")
        assert path.read_text() == "old"
        assert os.listdir(tmp_path) == ["out.jsonl"]

    def test_keep_leaves_the_old_file(self, tmp_path: Path) -> None:
        path = tmp_path / "out.jsonl"
        with Output(path) as out:
            out.write("new")
            out.keep()
        assert os.listdir(tmp_path) == []

    @pytest.mark.skipif(os.name == "nt", reason="POSIX modes and links")
    def test_new_file_follows_the_umask_and_links_stay(self, tmp_path: Path) -> None:
        link = tmp_path / "link"
        link.symlink_to(tmp_path / "real")
        old = os.umask(0o027)
        try:
            with Output(link) as out:
                out.write("x")
        finally:
            os.umask(old)
        assert link.is_symlink()
        assert stat.S_IMODE((tmp_path / "real").stat().st_mode) == 0o640

    @pytest.mark.skipif(os.name == "nt", reason="POSIX device files")
    def test_devices_are_written_directly(self) -> None:
        with Output("/dev/null") as out:
            out.write("x")
        assert stat.S_ISCHR(os.stat("/dev/null").st_mode)


def _corpus() -> list[Path]:
    folders = ("tau-bench", "mini-swe-agent", "toolbench", "openhands/sdk__")
    return [
        path for path in sorted(CORPUS.rglob("*.json")) if str(path.relative_to(CORPUS).as_posix()).startswith(folders)
    ]


@pytest.mark.skipif(not CORPUS.is_dir(), reason="no corpus of real transcripts beside the checkout")
def test_real_transcripts_come_back_byte_for_byte() -> None:
    paths = _corpus()
    assert len(paths) > 30
    for path in paths:
        parts, data = list(read(path)), path.read_bytes()
        assert written(parts).encode() == data, path
        assert written(parts, lambda ms: [dict(m) for m in ms]).encode() == data, path
