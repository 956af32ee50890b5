"""A summariser that is a program: the prompt goes to its standard input, the reply comes from its standard output."""

from __future__ import annotations

import os
import shlex
import subprocess
from pathlib import Path

from ctxpolicy.errors import CtxPolicyError
from ctxpolicy.summarize.request import SummaryRequest


class Command:
    """Runs a command line, without a shell, for each request.

    The prompt is written as UTF-8. The environment also has CTXPOLICY_WORD_LIMIT and CTXPOLICY_MAX_TOKENS, what the
    reply may have. `timeout` is in seconds; `directory` is where it runs (default: the current one). Calls block;
    `waits` tells an async caller so.
    """

    waits = True

    def __init__(self, line: str, *, timeout: float = 60.0, directory: Path | None = None) -> None:
        self.name = f"command:{line}"
        self._timeout, self._directory = timeout, directory
        try:
            self._arguments = shlex.split(line)
        except ValueError as error:
            raise CtxPolicyError(f"{self.name} cannot be read ({error}); check its quotes") from error
        if not self._arguments:
            raise CtxPolicyError(f"{self.name} names no program; write command:PROGRAM ARGUMENTS")

    def __call__(self, request: SummaryRequest) -> str:
        """The reply. Raises CtxPolicyError when the command cannot run, takes too long or exits with a code."""
        try:
            done = subprocess.run(
                self._arguments,
                input=request.prompt.encode("utf-8", "replace"),
                capture_output=True,
                timeout=self._timeout,
                cwd=self._directory,
                env=os.environ | _limits(request),
                check=False,
            )
        except subprocess.TimeoutExpired as error:
            told = _last_line(error.stderr)
            raise CtxPolicyError(f"{self.name} gave no reply within {self._timeout:g} seconds{told}") from error
        except OSError as error:
            raise CtxPolicyError(f"{self.name} cannot be run: {error}") from error
        if done.returncode:
            raise CtxPolicyError(f"{self.name} failed with exit code {done.returncode}{_last_line(done.stderr)}")
        return done.stdout.decode("utf-8", "replace").strip()


def _limits(request: SummaryRequest) -> dict[str, str]:
    return {"CTXPOLICY_WORD_LIMIT": str(request.word_limit), "CTXPOLICY_MAX_TOKENS": str(request.max_tokens)}


def _last_line(stderr: bytes | None) -> str:
    lines = (stderr or b"").decode("utf-8", "replace").split("\n")
    last = next((line.strip() for line in reversed(lines) if line.strip()), "")
    return f": {last}" if last else ""
