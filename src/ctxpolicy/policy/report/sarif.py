"""Findings as SARIF 2.1.0, which code hosts and editors show.

Source of the form: https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from importlib.metadata import version
from pathlib import Path
from typing import Any
from urllib.parse import quote

from ctxpolicy.policy.findings import Finding, Place

_SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"


def report(findings: Iterable[Finding]) -> str:
    """One SARIF log with one run. Columns count characters, as the findings do."""
    found = list(findings)
    first = {finding.code: finding for finding in reversed(found)}
    codes = sorted(first)
    driver = {"name": "ctxpolicy", "version": version("ctxpolicy"), "rules": [_rule(first[code]) for code in codes]}
    run = {
        "tool": {"driver": driver},
        "columnKind": "unicodeCodePoints",
        "results": [_result(finding, codes.index(finding.code)) for finding in found],
    }
    return json.dumps({"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2)


def _rule(finding: Finding) -> dict[str, Any]:
    return {
        "id": finding.code,
        "shortDescription": {"text": finding.title},
        "help": {"text": f"ctxpolicy explain-code {finding.code}"},
        "defaultConfiguration": {"level": finding.severity},
    }


def _result(finding: Finding, rule: int) -> dict[str, Any]:
    hint = f"\n{finding.hint}" if finding.hint else ""
    made: dict[str, Any] = {
        "ruleId": finding.code,
        "ruleIndex": rule,
        "level": finding.severity,
        "message": {"text": finding.message + hint},
        "locations": [_location(finding)],
    }
    if finding.also:
        made["relatedLocations"] = [{**_location(finding.also), "message": {"text": finding.also.label}}]
    return made


def _location(place: Finding | Place) -> dict[str, Any]:
    region = {
        "startLine": place.line,
        "startColumn": place.column,
        "endColumn": place.end_column,
        "snippet": {"text": place.source},
    }
    return {"physicalLocation": {"artifactLocation": {"uri": _uri(place.file)}, "region": region}}


def _uri(name: str) -> str:
    path = Path(name)
    return path.as_uri() if path.is_absolute() else quote(path.as_posix(), safe="/")
