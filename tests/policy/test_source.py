"""Strict YAML with places."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from ctxpolicy.policy import source as reading
from ctxpolicy.policy.node import Node
from ctxpolicy.policy.source import PolicyUnreadable, parse, read, source_of


def parsed(text: str) -> tuple[Any, list[str]]:
    node, findings = parse(source_of(text, "p.yaml", Path()), text)
    return (node.plain() if node else None), [f"{f.line}:{f.column} {f.code}" for f in findings]


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("on", "on"), ("yes", "yes"), ("No", "No"), ("true", True), ("FALSE", False), ("~", None), ("", None),
        ("010", 10), ("0o17", 15), ("0xff", 255), ("-7", -7), ("128_000", "128_000"), ("1:30", "1:30"),
        (".nan", ".nan"),
        (".inf", ".inf"), ("1e3", 1000.0), (".5", 0.5), ("5.", 5.0), ("1.2.3", "1.2.3"), ("2024-01-01", "2024-01-01"),
        ("'true'", "true"), ('"12"', "12"), ("=", "="), ("0b11", "0b11"), ("1__0", "1__0"),
    ],
)  # fmt: skip
def test_scalars_are_those_of_yaml_1_2_core(written: str, value: object) -> None:
    data, findings = parsed(f"a: {written}\n")
    assert data == {"a": value}
    assert type(data["a"]) is type(value)
    assert findings == []


@pytest.mark.parametrize("loader", ["CSafeLoader", "SafeLoader"])
def test_places_do_not_depend_on_the_loader(loader: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if not hasattr(yaml, loader):
        pytest.skip("libyaml is not there")
    monkeypatch.setattr(reading, "_Loader", getattr(yaml, loader))
    text = "é: 'ü' # x\nlist:\n  - {name: \"日本\", n: 1}\n  - two\n"
    node, findings = parse(source_of(text, "p.yaml", Path()), text)
    assert findings == []
    assert node is not None

    def at(path: tuple[str | int, ...]) -> tuple[int, int, int]:
        span = node.at(path).span  # type: ignore[union-attr]
        return span.line, span.column, span.end_column

    assert at(("é",)) == (1, 4, 7)
    assert at(("list", 0, "name")) == (3, 12, 16)
    assert at(("list", 0, "n")) == (3, 21, 22)
    assert at(("list", 1)) == (4, 5, 8)
    key = node.at(("list", 0)).keys["n"]
    assert (key.line, key.column, key.end_column) == (3, 18, 19)


def test_an_alias_is_what_it_stands_for() -> None:
    assert parsed("a: &x {k: [1, 2]}\nb: *x\nc: [*x, *x]\n") == (
        {"a": {"k": [1, 2]}, "b": {"k": [1, 2]}, "c": [{"k": [1, 2]}] * 2},
        [],
    )


def test_crlf_bom_and_directives_are_read() -> None:
    assert parsed("\ufeff%YAML 1.2\r\n---\r\na: 1\r\nb: 'x'\r\n...\r\n") == ({"a": 1, "b": "x"}, [])


def test_faults_that_leave_the_rest_readable_are_all_found() -> None:
    data, findings = parsed("a: 1\na: 2\n1: 2\n[x]: 3\n<<: {b: 1}\nc: !!str 1\nd: 1e999\nkept: true\n")
    assert data == {"a": 1, "c": "1", "d": 1, "kept": True}
    assert findings == ["2:1 CP103", "3:1 CP104", "4:1 CP104", "5:1 CP106", "6:4 CP105", "7:4 CP112"]


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("[" * 100_000, "CP107"),
        ("- " * 100_000, "CP107"),
        ("{a: " * 40 + "1" + "}" * 40, "CP107"),
        ("\n".join(f"k{i}: &k{i} " + (f"[*k{i - 1}]" if i else "[1]") for i in range(40)), "CP107"),
        ("[" + "x, " * 20_001 + "]", "CP108"),
        ("x" * (1 << 20) + "y", "CP109"),
        ("é" * (1 << 19) + "y", "CP109"),
        ("a: *a\n", "CP110"),
        ("a: &a [*a]\n", "CP110"),
        ("a: \x07\n", "CP111"),
        ("a: \ud800\n", "CP111"),
        ("a: \x00\n", "CP111"),
        ("a: 1\n---\nb: 1\n", "CP113"),
        ("", "CP102"),
        ("\n", "CP102"),
        ("---\n...\n", "CP102"),
        ("null\n", "CP102"),
    ],
)
def test_what_ends_the_reading(text: str, code: str) -> None:
    data, findings = parsed(text)
    assert data is None
    assert [finding.split()[1] for finding in findings] == [code]


def test_limits_are_met_exactly() -> None:
    assert parsed("[" * 32 + "]" * 32)[1] == []
    assert parsed("[" * 33 + "]" * 33)[1] != []
    assert parsed("[" + ", ".join(["x"] * 19_999) + "]")[1] == []
    assert parsed("[" + ", ".join(["x"] * 20_000) + "]")[1] != []
    comment = "a: 1\n#"
    assert parsed(comment + "x" * ((1 << 20) - len(comment)))[1] == []


def test_a_bomb_of_aliases_is_answered_without_growing() -> None:
    lines = ["a: &a [x, x, x, x, x, x, x, x, x]"]
    lines += [f"{c}: &{c} [{', '.join(['*' + b] * 9)}]" for b, c in zip("abcdefghijklm", "bcdefghijklmn", strict=True)]
    assert parsed("\n".join(lines))[1][0].endswith("CP108")


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b"\x00\x01\x02", "binary"),
        ("version: 1".encode("utf-16"), "UTF-8|binary"),
        ("name: é".encode("latin-1"), "byte 7 is no UTF-8"),
        (b"a" * 100 + b"\xff", "byte 101"),
    ],
)
def test_what_is_no_text_is_unreadable(tmp_path: Path, data: bytes, says: str) -> None:
    file = tmp_path / "p.yaml"
    file.write_bytes(data)
    with pytest.raises(PolicyUnreadable, match=says):
        read(file)


def test_missing_files_and_folders_are_unreadable(tmp_path: Path) -> None:
    with pytest.raises(PolicyUnreadable, match="cannot read"):
        read(tmp_path / "none.yaml")
    with pytest.raises(PolicyUnreadable, match="cannot read"):
        read(tmp_path)
    with pytest.raises(PolicyUnreadable, match="cannot read"):
        read(Path("nul\0name"))


def test_a_file_cut_in_a_character_at_the_limit_is_too_large_and_not_binary(tmp_path: Path) -> None:
    file = tmp_path / "p.yaml"
    file.write_text("a" + "é" * (1 << 20), encoding="utf-8")
    source, text = read(file)
    _, findings = parse(source, text)
    assert [finding.code for finding in findings] == ["CP109"]


def test_a_path_that_leads_nowhere_ends_at_the_last_value() -> None:
    node = Node({}, source_of("", "p", Path()) and parse(source_of("a: 1", "p", Path()), "a: 1")[0].span)  # type: ignore[union-attr]
    assert node.at(("x", 3)) is node
