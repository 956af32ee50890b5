"""Findings as a person reads them: where, what, the offending line with a caret under it, and what to do."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable

from ctxpolicy.policy.findings import Finding, Place

TAB = 4  # columns that a tab is shown as
WIDEST = 120  # columns of a source line that are shown


def report(findings: Iterable[Finding]) -> str:
    """The findings as a person reads them, one block each, with a closing line that counts them."""
    found = list(findings)
    if not found:
        return ""
    return "\n".join([*map(block, found), _total(found)])


def block(finding: Finding) -> str:
    """One finding: a line that editors can jump to, the source line, a caret, a second place, and the hint."""
    lines = [visible(str(finding))]
    if finding.source.strip():
        lines += _excerpt(finding, "^")
    if finding.also:
        lines += _second(finding.also, finding.file)
    if finding.hint:
        lines.append(f"  hint: {visible(finding.hint)}")
    return "\n".join(lines) + "\n"


def _second(also: Place, file: str) -> list[str]:
    """A second place, under the first; where it stands in another file, with the name of that."""
    *lines, under = _excerpt(also, "-")
    head = [] if also.file == file else [visible(f"  {also.file}:{also.line}:{also.column}")]
    return [*head, *lines, f"{under} {visible(also.label)}"]


def visible(text: str) -> str:
    """The text with control characters written out: a policy must not be able to drive the reader's terminal."""
    return "".join(_shown(char) for char in text)


def _shown(char: str) -> str:
    if char == "\t":
        return " " * TAB
    return (
        char
        if char.isprintable() or unicodedata.combining(char)
        else char.encode("unicode_escape", "backslashreplace").decode()
    )


def _excerpt(place: Finding | Place, sign: str) -> list[str]:
    start, end = place.column - 1, max(place.end_column - 1, place.column)
    first = max(0, start - WIDEST // 2) if start > WIDEST // 2 else 0
    shown = place.source[first : first + WIDEST]
    before = visible(place.source[first:start])
    marked = visible(place.source[start : min(end, first + WIDEST)])
    margin = f"{place.line:>5} | "
    cut = "…" if first else ""
    rest = "…" if len(place.source) > first + WIDEST else ""
    caret = " " * (_width(cut) + _width(before)) + sign * max(1, _width(marked))
    return [f"{margin}{cut}{visible(shown).rstrip()}{rest}", f"{'':>5} | {caret}"]


def _width(text: str) -> int:
    """Columns on a terminal: wide East Asian characters take two, combining ones none."""
    return sum(0 if _joins(char) else 2 if unicodedata.east_asian_width(char) in "WF" else 1 for char in text)


def _joins(char: str) -> bool:
    return bool(unicodedata.combining(char)) or unicodedata.category(char) in ("Mn", "Me", "Cf")


def _total(findings: list[Finding]) -> str:
    errors = sum(finding.severity == "error" for finding in findings)
    warnings = len(findings) - errors
    parts = [f"{n} {word}{'' if n == 1 else 's'}" for n, word in ((errors, "error"), (warnings, "warning")) if n]
    return ", ".join(parts)
