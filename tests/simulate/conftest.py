"""A runner for the command, each test in a directory of its own."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from ctxpolicy.cli import main

from .policies import GOOD


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    (tmp_path / "p.yaml").write_text(GOOD)


@pytest.fixture
def run() -> Callable[..., Result]:
    """Run the command in the test's own directory: `.exit_code`, `.stdout`, `.stderr`."""
    return lambda *args, **kwargs: CliRunner().invoke(main, args, **kwargs)
