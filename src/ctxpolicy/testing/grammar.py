"""The shape of a test file: strict YAML and a JSON Schema, faults at line and column like those of a policy."""

from __future__ import annotations

import json
from functools import cache
from itertools import islice
from pathlib import Path

from jsonschema import Draft7Validator

from ctxpolicy.data import policy_test_schema_file
from ctxpolicy.policy.findings import MOST, Finding
from ctxpolicy.policy.node import Node, Source
from ctxpolicy.policy.schema import _faults
from ctxpolicy.policy.source import parse, read
from ctxpolicy.policy.wording import describe_fault


@cache
def _validator() -> Draft7Validator:
    return Draft7Validator(json.loads(policy_test_schema_file().read_text(encoding="utf-8")))


def document(file: Path, name: str) -> tuple[Node | None, list[Finding]]:
    """The document of a test file, None where it is not sound, and what is wrong with it.

    Raises PolicyUnreadable where there is no text to read.
    """
    source, text = read(file, name)
    if not text.strip():
        return None, [_empty(source)]
    root, findings = parse(source, text)
    if root is not None:
        findings += _against_schema(root)
    return (None if findings else root), findings


def _empty(source: Source) -> Finding:
    return Finding("CT101", "this test file is empty", source.name, 1, 1, 2, "", "start with `version: 1` and `cases:`")


def _against_schema(root: Node) -> list[Finding]:
    found: dict[tuple[object, ...], Finding] = {}
    for fault in islice(_faults(_validator().iter_errors(root.plain())), MOST):
        said = describe_fault(fault)
        span = root.key(fault.path, fault.key) if fault.key is not None else root.place(fault.path)
        message = said.message.replace("the policy", "the test file")
        found.setdefault((said.code, fault.path, said.about), span.finding(said.code, message, said.hint))
    return sorted(found.values(), key=lambda finding: (finding.line, finding.column))
