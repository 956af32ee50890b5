"""Every finding as a person reads it: golden/NAME.yaml gives golden/NAME.out.

`pytest tests/policy --regen` writes the .out files anew.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from ctxpolicy.policy.codes import codes
from ctxpolicy.policy.load import load_file
from ctxpolicy.policy.report import report

GOLDEN = Path(__file__).with_name("golden")
POLICIES = sorted(GOLDEN.glob("*.yaml"))
ELSEWHERE = {"CP109", "CP209", "CP321"}  # these need a large file or a missing package; see test_load and test_checks


@pytest.mark.parametrize("policy", POLICIES, ids=lambda path: path.stem)
def test_golden(policy: Path, request: pytest.FixtureRequest) -> None:
    out = policy.with_suffix(".out")
    said = report(load_file(policy, policy.name).findings) + "\n"
    if request.config.getoption("regen", False):
        out.write_text(said, encoding="utf-8")
    assert said == out.read_text(encoding="utf-8")


def test_every_code_has_a_golden_file() -> None:
    named = {code for code in codes() for path in POLICIES if path.name.startswith(code.lower())}
    assert named | ELSEWHERE == set(codes())


@pytest.mark.parametrize(
    "policy", [p for p in POLICIES if p.stem.startswith("cp") and p.stem != "cp404-allowed"], ids=lambda path: path.stem
)
def test_one_mistake_is_one_finding(policy: Path) -> None:
    codes = {finding.code for finding in load_file(policy).findings}
    assert codes == {policy.stem[:5].upper()}
