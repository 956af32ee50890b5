"""Findings as JSON."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

import msgspec

from ctxpolicy.policy.findings import Finding


def report(findings: Iterable[Finding]) -> str:
    """A JSON array of findings."""
    return json.dumps([as_data(finding) for finding in findings], indent=2)


def as_data(finding: Finding) -> dict[str, Any]:
    """A finding as JSON data: its fields, and its severity."""
    return {"severity": finding.severity, **msgspec.to_builtins(finding)}
