"""Outcomes as JUnit XML, for CI systems: https://github.com/testmoapp/junitxml describes the format."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby
from xml.etree import ElementTree as ET

from ctxpolicy.policy.report import visible
from ctxpolicy.testing.outcome import Outcome


def junit(outcomes: Iterable[Outcome]) -> str:
    """One test suite for each file, one test case for each case. Times are seconds."""
    root = ET.Element("testsuites", name="ctxpolicy")
    for name, group in groupby(outcomes, key=lambda outcome: outcome.suite.name):
        ran = list(group)
        suite = ET.SubElement(
            root, "testsuite", name=name, tests=str(len(ran)), errors="0", skipped="0",
            failures=str(sum(bool(outcome.faults) for outcome in ran)), time=_seconds(sum(o.seconds for o in ran)),
        )  # fmt: skip
        for outcome in ran:
            _case(suite, outcome)
    ET.indent(root)
    return ET.tostring(root, encoding="unicode", xml_declaration=True) + "\n"


def _case(suite: ET.Element, outcome: Outcome) -> None:
    case = ET.SubElement(
        suite, "testcase", classname=outcome.suite.name, name=visible(outcome.name), file=outcome.suite.name,
        line=str(outcome.line), time=_seconds(outcome.seconds),
    )  # fmt: skip
    if outcome.faults:
        text = "\n\n".join(outcome.faults)
        failure = ET.SubElement(case, "failure", message=text.splitlines()[0], type="failure")
        failure.text = text


def _seconds(time: float) -> str:
    return f"{time:.3f}"
