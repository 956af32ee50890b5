"""Every `console` block of the documents shows what its commands really print.

`python tests/test_docs.py --write` runs the commands and puts their present output into the documents.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import ctxpolicy
from bench.__main__ import PARTS

ROOT = Path(__file__).resolve().parents[1]
DOCUMENTS = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
_BLOCK = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"\]\((?!https?:|#)([^)#]+)")


def _session(block: str, folder: Path) -> str:
    """The block with what its commands print now. Commands run in `folder`, one after the other."""
    commands = [line[2:] for line in block.splitlines() if line.startswith("$ ")]
    return "".join(f"$ {command}\n{_output(command, folder)}" for command in commands)


def _output(command: str, folder: Path) -> str:
    name, *rest = shlex.split(command)
    assert name == "ctxpolicy", f"only ctxpolicy is run from the documents: {command}"
    environment = {**os.environ, "COLUMNS": "100", "NO_COLOR": "1", "PYTHONIOENCODING": "utf-8"}
    done = subprocess.run(
        [sys.executable, "-m", "ctxpolicy", *rest],
        cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding="utf-8", check=False,
    )  # fmt: skip
    return "".join(f"{line.rstrip()}\n" for line in done.stdout.splitlines())


def _workshop(folder: Path) -> Path:
    """A folder as a reader has it after cloning."""
    shutil.copytree(ROOT / "policies", folder / "policies")
    return folder


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_the_blocks_show_what_the_commands_print(document: Path, tmp_path: Path) -> None:
    folder = _workshop(tmp_path)
    for block in _BLOCK.findall(document.read_text(encoding="utf-8")):
        assert _session(block, folder) == block


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_links_lead_somewhere(document: Path) -> None:
    links = _LINK.findall(document.read_text(encoding="utf-8"))
    assert [link for link in links if not (document.parent / link).exists()] == []


class _Client:
    """Stands for OpenAI's client: one tool call, then an answer. Like its objects, what comes back are no dicts."""

    def __init__(self) -> None:
        self.sent: list[Any] = []
        self.chat = SimpleNamespace(completions=SimpleNamespace(create=self._create))

    def _create(self, model: str, messages: list[Any], tools: Any) -> SimpleNamespace:
        self.sent.append(list(messages))
        call = {"id": "c1", "type": "function", "function": {"name": "read", "arguments": "{}"}}
        said = {"role": "assistant", "content": "Read it.", **({} if len(self.sent) > 1 else {"tool_calls": [call]})}
        message = SimpleNamespace(model_dump=lambda exclude_none: said)
        usage = SimpleNamespace(prompt_tokens=30 if len(self.sent) == 1 else 3000)
        return SimpleNamespace(choices=[SimpleNamespace(message=message)], usage=usage)


def _call_model(prompt: str, max_tokens: int) -> SimpleNamespace:
    usage = {"completion_tokens": 6}
    return SimpleNamespace(text="The ticket was looked into.", finish_reason="stop", usage=usage)


def _python(document: Path) -> list[str]:
    return re.findall(r"^```python\n(.*?)^```$", document.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)


def test_the_python_of_the_readme_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(_workshop(tmp_path))
    blocks = _python(DOCUMENTS[0])
    client = _Client()
    names: dict[str, Any] = {"tools": [], "my_model": None, "client": client, "run": lambda call: "line " * 5000}
    exec(blocks[0], names)
    assert [m["role"] for m in client.sent[-1]] == ["user", "assistant", "tool"]
    assert len(client.sent[-1][-1]["content"]) < 20_000  # cut on arrival
    assert names["window"].pressure() > 3000 / 85_600  # the last usage was taken in
    assert Path(".ctxpolicy/archive").is_dir()
    messages = [*client.sent[-1][:2], {**client.sent[-1][2], "content": "row " * 5000}]
    names |= {"messages": messages, "state": None}
    exec(blocks[1], names)
    assert len(names["send"][2]["content"]) < 20_000
    assert names["whole"] == messages


def test_the_python_page_is_one_program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(_workshop(tmp_path))
    page, names = ROOT / "docs/python.md", {"call_model": _call_model}
    for block in _python(page):
        exec(block, names)
    assert not Path(".ctxpolicy").exists()  # it says where it writes
    assert Path("archive").is_dir()
    decision = re.search(r"`str\((.*?)\)` is `(.*?)`", page.read_text(encoding="utf-8"))
    assert decision is not None
    assert str(eval(decision[1], names)) == decision[2]


def test_the_policy_of_the_readme_is_valid() -> None:
    (text,) = re.findall(r"^```yaml\n(.*?)^```$", DOCUMENTS[0].read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    assert ctxpolicy.loads(text).spec.budget.window == 200_000


def test_each_bound_that_is_missed_is_named_with_the_reason() -> None:
    page = (ROOT / "docs/speed.md").read_text(encoding="utf-8")
    table = page.partition("```text\n")[2].partition("```")[0].splitlines()
    reasons = re.findall(r"^- \*\*(.*?)\.\*\*", page, re.MULTILINE)
    missed = [line for line in table if line.endswith("MISSED")]
    assert {line.partition(":")[0].partition(",")[0] for line in table} == set(PARTS)
    assert [line for line in missed if not line.startswith(tuple(reasons))] == []
    assert [why for why in reasons if not any(line.startswith(why) for line in missed)] == []


def _write() -> None:
    for document in DOCUMENTS:
        with tempfile.TemporaryDirectory() as name:
            folder = _workshop(Path(name))
            text = document.read_text(encoding="utf-8")
            new = _BLOCK.sub(lambda found, at=folder: f"```console\n{_session(found[1], at)}```", text)
            document.write_text(new, encoding="utf-8")


if __name__ == "__main__" and sys.argv[1:] == ["--write"]:
    _write()
