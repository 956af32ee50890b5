"""The text report: carets under what is meant, whatever the line holds."""

from __future__ import annotations

import pytest

from ctxpolicy.policy.findings import Finding
from ctxpolicy.policy.report import block, report, visible


def lines(source: str, column: int, end: int, **more: str) -> list[str]:
    return block(Finding("CP201", "no", "p.yaml", 7, column, end, source, **more)).splitlines()


@pytest.mark.parametrize(
    ("source", "column", "end", "shown", "caret"),
    [
        ("key: value", 6, 11, "key: value", "     ^^^^^"),
        ("\tkey: value", 2, 5, "    key: value", "    ^^^"),
        ("名前: 値", 5, 6, "名前: 値", "      ^^"),
        ("e\u0301: x", 5, 6, "e\u0301: x", "   ^"),
        ("a: \x1b[31m", 4, 5, "a: \\x1b[31m", "   ^^^^"),
        ("key:", 5, 6, "key:", "    ^"),
    ],
)
def test_the_caret_stands_under_what_is_meant(source: str, column: int, end: int, shown: str, caret: str) -> None:
    head, text, under = lines(source, column, end)
    assert head == f"p.yaml:7:{column}: error CP201: no"
    assert text == f"    7 | {shown}"
    assert under == f"      | {caret}"


def test_a_long_line_is_shown_around_the_place() -> None:
    source = "x" * 5000 + "HERE" + "y" * 5000
    _, text, under = lines(source, 5001, 5005)
    assert len(text) < 140
    start = under.index("^")
    assert text[start : start + 4] == "HERE"
    assert under.count("^") == 4


def test_hint_and_total() -> None:
    finding = Finding("CP201", "no", "p.yaml", 1, 1, 2, "k: v", "do this")
    warning = Finding("CP404", "hm", "p.yaml", 1, 1, 2, "k: v")
    assert "  hint: do this" in block(finding)
    assert report([finding, finding, warning]).splitlines()[-1] == "2 errors, 1 warning"
    assert report([]) == ""


def test_nothing_in_a_policy_can_steer_a_terminal() -> None:
    assert visible("a\x1b]0;x\x07\u202eb\ud800") == "a\\x1b]0;x\\x07\\u202eb\\ud800"
