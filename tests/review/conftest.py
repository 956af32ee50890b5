"""A runner for the command, each test in a directory of its own."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from ctxpolicy.cli import main

from .helpers import POLICY


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Result]:
    """Run the command in a directory that holds p.yaml: `.exit_code`, `.stdout`, `.stderr`."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    (tmp_path / "p.yaml").write_text(POLICY)
    return lambda *args, **kwargs: CliRunner().invoke(main, args, **kwargs)
