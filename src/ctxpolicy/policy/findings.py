"""What is wrong with a file: one type for every check, every layer and every output."""

from __future__ import annotations

from typing import Literal

import msgspec

MOST = 100  # findings that are listed; a file with more is not a policy

Severity = Literal["error", "warning"]


def severity_of(code: str) -> Severity:
    """A code is two letters and three digits; from 400 on it is a warning, everything else is an error."""
    return "warning" if code[2:] >= "400" else "error"


class Place(msgspec.Struct, frozen=True):
    """A second place that helps to understand a finding, with a few words on what stands there.

    Lines and columns as in a finding.
    """

    label: str
    file: str
    line: int
    column: int
    end_column: int
    source: str


class Finding(msgspec.Struct, frozen=True):
    """One thing that is wrong, and where.

    `line`, `column` and `end_column` count characters from 1; `end_column` is the first column after the marked
    text, on the same line. `source` is that whole line. `also` is a second place, such as the first of two equal ids.
    """

    code: str
    message: str
    file: str
    line: int
    column: int
    end_column: int
    source: str
    hint: str | None = None
    also: Place | None = None

    @property
    def severity(self) -> Severity:
        """error or warning; only errors stop a policy."""
        return severity_of(self.code)

    @property
    def title(self) -> str:
        """What the code is about, in a few words."""
        from ctxpolicy.policy.codes import title  # reads the modules of the checks

        return title(self.code)

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}: {self.severity} {self.code}: {self.message}"
