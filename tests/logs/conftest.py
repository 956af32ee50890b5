"""A runner for the command."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from click.testing import CliRunner, Result

from ctxpolicy.cli import main


@pytest.fixture
def run() -> Callable[..., Result]:
    """Run the command: `.exit_code`, `.stdout`, `.stderr`."""
    runner = CliRunner()
    return lambda *args, **kwargs: runner.invoke(main, [str(arg) for arg in args], **kwargs)
