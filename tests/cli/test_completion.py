"""Shell completion: each shell gets its script, and completes commands, options and their values."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

_SHELLS = {"bash": "complete -o nosort", "zsh": "compdef", "fish": "complete --no-files"}


def _ask(instruction: str, **environment: str) -> str:
    code = "from ctxpolicy.cli import main; main(prog_name='ctxpolicy')"
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "_CTXPOLICY_COMPLETE": instruction, **environment},
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert "Traceback" not in done.stderr
    return done.stdout


@pytest.mark.parametrize("shell", _SHELLS)
def test_the_script_of_each_shell(shell: str, tmp_path: object) -> None:
    if shell == "bash" and os.name == "nt":
        pytest.skip("click asks bash for its version")
    script = _ask(f"{shell}_source")
    assert _SHELLS[shell] in script
    assert f"_CTXPOLICY_COMPLETE={shell}_complete" in script


def _complete(shell: str, *words: str) -> list[str]:
    environment = {"COMP_WORDS": " ".join(words), "COMP_CWORD": str(len(words) - 1)}
    if shell == "fish":
        environment["COMP_CWORD"] = words[-1]
    return _ask(f"{shell}_complete", **environment).splitlines()


@pytest.mark.parametrize(
    ("shell", "words", "said"),
    [
        ("bash", ("sim",), "simulate"),
        ("zsh", ("simulate", "--summarizer-"), "--summarizer-fault"),
        ("fish", ("simulate", "--profile", "co"), "coding"),
    ],
)
def test_commands_options_and_values(shell: str, words: tuple[str, ...], said: str) -> None:
    assert any(said in line for line in _complete(shell, "ctxpolicy", *words))
