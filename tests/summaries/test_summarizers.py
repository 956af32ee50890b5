"""Summarisers by name: which one a name means, and how `scripted:` and `command:` fail."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import ctxpolicy
from ctxpolicy.cli import main
from ctxpolicy.errors import CtxPolicyError
from ctxpolicy.policy.model import Summarizer
from ctxpolicy.summarize import SummaryReply, SummaryRequest, declared, summarizer, summarizers
from ctxpolicy.summarize.build import name_of
from ctxpolicy.summarize.extract import extract


def asking(span: str = "", words: int = 200, previous: str | None = None, prompt: str = "") -> SummaryRequest:
    return SummaryRequest(prompt, span, words, "compact", 400, previous=previous)


def python(code: str) -> str:
    return f'command:"{Path(sys.executable).as_posix()}" -c "{code}"'


def told(spec: Any, base: Path | None = None) -> str:
    """The error that building or calling this summariser ends in."""
    with pytest.raises(CtxPolicyError) as caught:
        summarizer(spec, base)(asking())  # type: ignore[misc]
    return str(caught.value)


# ---- names ------------------------------------------------------------------------------------


def mine(request: SummaryRequest) -> str:
    return "mine"


def test_none_is_no_summariser_and_ends_a_list() -> None:
    assert summarizer("none") is None
    assert summarizers("none") == summarizers(()) == ()
    assert summarizers(["extract", Summarizer("none"), mine]) == (extract,)


def test_a_function_is_itself() -> None:
    assert summarizer(mine) is mine
    assert summarizers(mine) == (mine,)
    assert summarizers([mine, "extract"]) == (mine, extract)


def test_what_is_declared_but_not_there_says_so_when_asked() -> None:
    good, bad = declared((Summarizer("extract"), Summarizer("scripted:nowhere")))
    assert good is extract
    assert name_of(bad) == "scripted:nowhere"
    with pytest.raises(CtxPolicyError, match="nowhere cannot be read"):
        bad(asking())


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("openai:", "write openai:MODEL"),
        (
            "magic",
            "'magic' is unknown; use one of none, extract, scripted:FILE, command:COMMAND, openai:MODEL, anthropic:",
        ),
        ("extract:5", "write extract"),
        ("scripted:", "write scripted:FILE"),
        ("command", "write command:COMMAND"),
        ("command: ", "write command:COMMAND"),
        ("command:''\"", "check its quotes"),
        ("command:#", "cannot be run"),
    ],
)
def test_a_name_that_cannot_be_used_says_what_to_do(name: str, says: str) -> None:
    assert says in told(name)


def test_a_declaration_may_set_the_limit_of_a_reply() -> None:
    """A model that reasons needs more than the note has words; a cautious user wants less."""
    script = python("import os; print(os.environ['CTXPOLICY_MAX_TOKENS'], os.environ['CTXPOLICY_WORD_LIMIT'])")
    for limit, expected in ((100, "100 200"), (5000, "5000 200"), (None, "400 200")):
        made = summarizer(Summarizer(script, max_tokens=limit))
        assert made is not None
        assert made(asking()) == expected
        assert name_of(made) == script


# ---- scripted ---------------------------------------------------------------------------------


def scripted(tmp_path: Path, text: str) -> Callable[[], Any]:
    (tmp_path / "replies").write_text(text, encoding="utf-8")
    made = summarizer("scripted:replies", tmp_path)
    assert made is not None
    return lambda: made(asking())


def test_scripted_json_lines(tmp_path: Path) -> None:
    lines = ["one\u2028\nstill one", {"text": "two", "finish_reason": "length"}, {"text": None, "tool_calls": [1]}]
    reply = scripted(tmp_path, "\n".join(json.dumps(line, ensure_ascii=False) for line in lines) + "\n\n")
    assert [reply(), reply(), reply()] == [
        "one\u2028\nstill one",
        SummaryReply("two", "length"),
        SummaryReply(None, tool_calls=[1]),
    ]
    with pytest.raises(CtxPolicyError, match="no reply left after 3"):
        reply()


def test_scripted_text(tmp_path: Path) -> None:
    reply = scripted(tmp_path, "first\n\nmore --- of it\n---\nNOTHING\n---\n")
    assert [reply(), reply()] == ["first\n\nmore --- of it", "NOTHING"]
    with pytest.raises(CtxPolicyError, match="no reply left after 2"):
        reply()


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "holds no reply"),
        ("---\n---\n", "holds no reply"),
        ('"one"\n\nthree\n', "replies:3 is not JSON"),
        ('"one"\n3\n', "replies:2 is not a reply"),
        ('{"text": 3}', "replies:1 is not a reply"),
        ('{"text": "a", "reply": "b"}', "replies:1 has unknown fields reply; a reply has text, finish_reason"),
    ],
)
def test_a_script_that_cannot_be_used(tmp_path: Path, text: str, says: str) -> None:
    (tmp_path / "replies").write_text(text)
    assert says in told("scripted:replies", tmp_path)


def test_a_script_that_is_not_there(tmp_path: Path) -> None:
    assert "cannot be read" in told("scripted:replies", tmp_path)


# ---- command ----------------------------------------------------------------------------------


def test_a_command_gets_the_prompt_and_its_output_is_the_reply(tmp_path: Path) -> None:
    (tmp_path / "up.py").write_text("import sys; sys.stdout.buffer.write(sys.stdin.buffer.read().upper() + b'\\n')")
    made = summarizer(f'command:"{Path(sys.executable).as_posix()}" up.py', tmp_path)
    assert made is not None
    assert made(asking(prompt="prompt ü \ud800")) == "PROMPT ü ?"


def test_a_command_that_does_not_read_its_input() -> None:
    made = summarizer(python("print('done')"))
    assert made is not None
    assert made(asking(prompt="x" * 1_000_000)) == "done"


def test_no_shell_is_involved() -> None:
    made = summarizer(python("import sys; print(sys.argv[1:])") + " $HOME ; echo '*'")
    assert made is not None
    assert made(asking()) == "['$HOME', ';', 'echo', '*']"


def test_a_failing_command_is_told_with_code_and_last_line() -> None:
    name = python("import sys; sys.stderr.write('first\\nno key\\n\\n'); sys.exit(3)")
    assert told(name) == f"{name} failed with exit code 3: no key"


def test_a_command_that_takes_too_long() -> None:
    name = python(
        "import sys; sys.stdin.read(); sys.stderr.write('thinking'); sys.stderr.flush(); input_ = [0]\nwhile 1: pass"
    )
    said = told(Summarizer(name, timeout=0.2))
    assert "gave no reply within 0.2 seconds" in said


def test_a_command_that_is_not_there() -> None:
    assert "command:no-such-program x cannot be run" in told("command:no-such-program x")


# ---- what is told beforehand ------------------------------------------------------------------

DECLARED = """
version: 1
budget: {window: 9000}
summarizer: [openai:gpt, 'scripted:nowhere', extract]
rules: [{id: c, at: send, when: {pressure: {gt: 0.5}}, compact: {until: {pressure: {lt: 0.3}}}}]
"""


def test_check_says_which_cannot_be_asked_from_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ctxpolicy.summarize.remote.find_spec", lambda name: None)
    file = tmp_path / "p.yaml"
    file.write_text(DECLARED)
    done = CliRunner().invoke(main, ["check", str(file)])
    assert done.exit_code == 0
    first, second = done.stderr.splitlines()
    assert first == f"note: {file}: openai:gpt needs the openai package: pip install 'ctxpolicy[openai]'"
    assert second.startswith(f"note: {file}: scripted:{tmp_path / 'nowhere'} cannot be read: ")


def test_a_policy_logs_it_once(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    monkeypatch.setattr("ctxpolicy.summarize.remote.find_spec", lambda name: None)
    policy = ctxpolicy.loads(DECLARED)
    for _ in range(3):
        policy.apply([], archive=False)
    assert [record.getMessage().partition(":")[0] for record in caplog.records] == ["policy policy"] * 2


def test_the_environment_file_names_what_is_read() -> None:
    """Providers' variables are put together from their names, the others stand in the source."""
    top = Path(__file__).parents[2]
    source = "\n".join(file.read_text(encoding="utf-8") for file in (top / "src").rglob("*.py"))
    read = set(re.findall(r"environ(?:\.get\(|\[)\"([A-Z_]+)\"", source)) | {"COLUMNS"}  # by shutil
    read |= {f"{provider}_{what}" for provider in ("OPENAI", "ANTHROPIC") for what in ("API_KEY", "BASE_URL")}
    named = re.findall(r"(?m)^([A-Z_]+)=", (top / ".env.example").read_text(encoding="utf-8"))
    assert sorted(named) == sorted(read)
