"""Findings as GitHub annotations: workflow commands that put them beside the lines of a pull request.

Source of the form: https://docs.github.com/actions/reference/workflow-commands-for-github-actions
"""

from __future__ import annotations

from collections.abc import Iterable

from ctxpolicy.policy.findings import Finding


def report(findings: Iterable[Finding]) -> str:
    """`::error file=...,line=...,col=...,endColumn=...,title=CODE::message`, a line for each finding."""
    return "\n".join(map(_command, findings))


def _command(finding: Finding) -> str:
    place = {"file": finding.file, "line": finding.line, "col": finding.column, "endColumn": finding.end_column - 1}
    properties = ",".join(f"{key}={_property(str(value))}" for key, value in {**place, "title": finding.code}.items())
    hint = f"\nhint: {finding.hint}" if finding.hint else ""
    return f"::{finding.severity} {properties}::{_data(finding.message + hint)}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
