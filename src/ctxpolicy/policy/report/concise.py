"""Findings in one line each, for editors and for `grep`."""

from __future__ import annotations

from collections.abc import Iterable

from ctxpolicy.policy.findings import Finding
from ctxpolicy.policy.report.text import visible


def report(findings: Iterable[Finding]) -> str:
    """`file:line:column: severity code: message (hint)`, a line for each finding."""
    return "\n".join(map(_line, findings))


def _line(finding: Finding) -> str:
    hint = f" ({finding.hint})" if finding.hint else ""
    return visible(f"{finding}{hint}")
