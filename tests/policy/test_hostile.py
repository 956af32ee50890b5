"""Policies made to bring the checker down: each is answered by a located finding, after a bounded amount of work.

`python tests/bench/check.py` measures how long that takes.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from hostile import POLICIES, SLOW

from ctxpolicy.policy.load import load_file, load_spec


@pytest.mark.parametrize("name", POLICIES)
def test_a_hostile_policy_is_answered_in_place(name: str) -> None:
    code, text = POLICIES[name]
    loaded = load_spec(text)
    assert loaded.spec is None
    lines = text.splitlines()
    first = loaded.errors[0]
    assert first.code == code
    assert first.source == lines[first.line - 1]
    assert len(loaded.findings) <= 101


@pytest.mark.slow
@pytest.mark.parametrize("name", SLOW)
def test_a_large_policy_is_answered(name: str) -> None:
    code, text = SLOW[name]
    assert code in {finding.code for finding in load_spec(text).findings}


def test_bases_are_counted_together(tmp_path: Path) -> None:
    for n in range(4):
        text = f"version: 1\ndescription: {'x' * 400_000}\n"
        (tmp_path / f"b{n}.yaml").write_text(text, encoding="utf-8")
    file = tmp_path / "p.yaml"
    file.write_text("version: 1\nextends: [b0.yaml, b1.yaml, b2.yaml, b3.yaml]\n", encoding="utf-8")
    assert [f"{f.code} {f.line}:{f.column}" for f in load_file(file).findings] == ["CP109 2:29", "CP109 2:38"]


def test_so_many_entries_and_no_more(tmp_path: Path) -> None:
    for half in "ab":
        pins = "".join(f"  - {{id: {half}{n}, match: {{newest: 1}}}}\n" for n in range(600))
        (tmp_path / f"{half}.yaml").write_text(f"version: 1\npins:\n{pins}", encoding="utf-8")
    file = tmp_path / "p.yaml"
    file.write_text("version: 1\nbudget: {window: 9000}\nextends: [a.yaml, b.yaml]\n", encoding="utf-8")
    (error,) = load_file(file).errors
    assert (error.code, Path(error.file).name, error.line) == ("CP108", "b.yaml", 403)


def test_a_folder_a_binary_file_and_a_file_that_changes_encoding_as_bases(tmp_path: Path) -> None:
    (tmp_path / "folder.yaml").mkdir()
    (tmp_path / "binary.yaml").write_bytes(b"\x7fELF\0\0\1")
    (tmp_path / "mixed.yaml").write_bytes("version: 1\nname: größe\n".encode() + "name: größe\n".encode("latin-1"))
    file = tmp_path / "p.yaml"
    bases = "folder.yaml, binary.yaml, mixed.yaml, missing.yaml"
    file.write_text(f"version: 1\nextends: [{bases}]\n", encoding="utf-8")
    found = load_file(file).findings
    assert [f"{f.code} {f.line}:{f.column}" for f in found] == [
        "CP114 2:11", "CP114 2:24", "CP114 2:37", "CP114 2:49",
    ]  # fmt: skip
    says = ["directory", "binary data", "is no UTF-8", "No such file"]
    assert all(word in finding.message for word, finding in zip(says, found, strict=True))
