"""What each way in imports, by name: start-up is the time of imports, and names do not depend on the machine."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

PLAIN = """
version: 1
budget: {window: 128000}
rules:
  - id: cap
    at: append
    match: {role: tool, tokens: {gt: 2000}}
    truncate: {max_tokens: 2000}
  - id: shorten
    when: {pressure: {gt: 0.7}}
    compact: {until: {pressure: {lt: 0.5}}, prompt: '{{ word_limit }} words at most, please. {{ span }}'}
"""
CHOOSING = PLAIN.replace("{{ span }}", "{% if task %}{{ task }}{% endif %} {{ span }}")
COMMAND = "from ctxpolicy.cli import main; main(standalone_mode=False)"
RUN = """
import sys, ctxpolicy
window = ctxpolicy.load(sys.argv[1]).window()
window.append({"role": "user", "content": "Hello."})
window.prepare()
"""
ENGINE = ("actions", "api", "compile", "formats", "pipeline", "session", "transcripts", "window")


def loaded(code: str, *arguments: object) -> set[str]:
    """The modules that a process which runs this has imported, less those of the bare interpreter."""
    return _modules(code, arguments) - _modules("", ())


def _modules(code: str, arguments: tuple[object, ...]) -> set[str]:
    code += "\nimport sys; print(*sys.modules, file=sys.stderr)"
    command = [sys.executable, "-c", code, *map(str, arguments)]
    return set(subprocess.run(command, capture_output=True, text=True, check=True, timeout=60).stderr.split())


def own(names: set[str]) -> set[str]:
    """Of these modules those of the package, without its name."""
    return {name.removeprefix("ctxpolicy").removeprefix(".") for name in names if name.split(".")[0] == "ctxpolicy"}


def foreign(names: set[str]) -> set[str]:
    """The packages of others among these modules."""
    return {name.split(".")[0] for name in names} - sys.stdlib_module_names - {"ctxpolicy"}


@pytest.fixture
def policy(tmp_path: Path) -> Path:
    file = tmp_path / "policy.yaml"
    file.write_text(PLAIN, encoding="utf-8")
    return file


def test_the_package_imports_itself_alone() -> None:
    names = loaded("import ctxpolicy")
    assert own(names) == {""}
    assert foreign(names) == set()


def test_help_imports_click_and_no_command() -> None:
    names = loaded(COMMAND, "--help")
    assert own(names) == {"", "cli", "errors"}
    assert foreign(names) <= {"click", "colorama"}  # colorama: click's, on Windows


def test_a_check_imports_neither_the_engine_nor_what_the_policy_does_not_need(policy: Path) -> None:
    names = loaded(COMMAND, "check", policy)
    assert {"jsonschema", "yaml", "click"} <= foreign(names)
    assert not {"jinja2", "asyncio"} & names
    assert not set(ENGINE) & own(names)


def test_jinja2_is_for_templates_that_choose(policy: Path) -> None:
    policy.write_text(CHOOSING, encoding="utf-8")
    assert "jinja2" in loaded(COMMAND, "check", policy)


def test_a_run_imports_no_command_line_and_no_event_loop(policy: Path) -> None:
    names = loaded(RUN, policy)
    assert set(ENGINE) - {"transcripts"} <= own(names)
    assert not {"click", "jinja2", "asyncio"} & names
    assert "cli" not in own(names)
