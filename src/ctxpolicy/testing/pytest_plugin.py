"""A pytest plugin that collects the cases of `*.test.yaml` files; loaded through the entry point `pytest11`.

A file is collected when it has the keys `version` and `cases`, so that other tools may use the same ending. This
module is loaded in every run of pytest, so it imports nothing heavy before there is such a file.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from ctxpolicy.testing.outcome import Outcome
    from ctxpolicy.testing.suite import Case, Suite

_ENDING = ".test.yaml"
_OURS = re.compile(rb"^cases:", re.MULTILINE), re.compile(rb"^version:", re.MULTILINE)


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """Collect a test file of policies."""
    if not file_path.name.endswith(_ENDING):
        return None
    text = file_path.read_bytes()
    return PolicyFile.from_parent(parent, path=file_path) if all(key.search(text) for key in _OURS) else None


class PolicyFile(pytest.File):
    """A test file; each case is an item."""

    def collect(self) -> Iterator[pytest.Item]:
        from ctxpolicy.testing.suite import load_suite

        suite = load_suite(self.path, self.nodeid or None)
        if suite.policy is None:
            yield PolicyCase.make(self, "the file is sound", suite, None)
        for case in suite.cases if suite.policy else ():
            yield PolicyCase.make(self, case.name, suite, case)


class CaseFailed(Exception):
    """A case that failed; its text is the report."""


class PolicyCase(pytest.Item):
    """One case of a test file."""

    suite: Suite
    case: Case | None

    @classmethod
    def make(cls, parent: PolicyFile, name: str, suite: Suite, case: Case | None) -> PolicyCase:
        """An item for a case; without one, for a file that cannot be run."""
        item: PolicyCase = cls.from_parent(parent, name=name)
        item.suite, item.case = suite, case
        return item

    def runtest(self) -> None:
        """Run the case. Raises CaseFailed."""
        outcome = self._outcome()
        if outcome.faults:
            raise CaseFailed("\n\n".join(outcome.faults))

    def _outcome(self) -> Outcome:
        from ctxpolicy.testing.outcome import run_one, run_suite

        return next(run_suite(self.suite)) if self.case is None else run_one(self.suite, self.case)

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: object = None) -> str:
        """The report of a failed case as it is, with no Python in it."""
        if isinstance(excinfo.value, CaseFailed):
            return str(excinfo.value)
        return str(super().repr_failure(excinfo))

    def reportinfo(self) -> tuple[Path, int, str]:
        """Where the case stands."""
        line = self.case.span.line - 1 if self.case else 0
        return self.path, line, f"case: {self.name}"
