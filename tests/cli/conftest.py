"""A runner for the command, each test in a directory of its own."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from ctxpolicy.cli import main

from .helpers import POLICY, Run


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    (tmp_path / "p.yaml").write_text(POLICY)


@pytest.fixture
def run() -> Run:
    """Run the command in the test's own directory: `.exit_code`, `.stdout`, `.stderr`."""
    runner = CliRunner()
    return lambda *args, **kwargs: runner.invoke(main, args, **kwargs)
