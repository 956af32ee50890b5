"""Summarisers: which one a name means, how each fails, and what `extract` finds."""

from __future__ import annotations

import asyncio
import json
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxpolicy.actions.render import Pieces
from ctxpolicy.errors import CtxPolicyError
from ctxpolicy.formats import openai_chat
from ctxpolicy.intake import Intake, Reading
from ctxpolicy.marks import Marks
from ctxpolicy.policy.model import Budget, Summarizer
from ctxpolicy.summarize import SummaryReply, SummaryRequest, summarizer
from ctxpolicy.summarize.extract import extract, facts
from ctxpolicy.tokens import Meter


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


def test_none_is_no_summariser() -> None:
    assert summarizer(None) is None
    assert summarizer("none") is None
    assert summarizer(()) is None
    assert summarizer((Summarizer("none"), Summarizer("none"))) is None


def test_a_function_is_itself_and_so_is_a_chain_of_one() -> None:
    def mine(request: SummaryRequest) -> str:
        return "mine"

    assert summarizer(mine) is mine
    assert summarizer(["none", mine]) is mine
    assert summarizer((Summarizer("extract"),)) is extract
    assert summarizer("extract") is extract


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("openai:gpt-5", "this version calls no openai models"),
        ("anthropic:claude", "this version calls no anthropic models"),
        ("magic", "'magic' is unknown; use one of none, extract, scripted:FILE, command:COMMAND"),
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


def test_a_spec_caps_the_reply_but_never_raises_the_cap() -> None:
    script = python("import os; print(os.environ['CTXPOLICY_MAX_TOKENS'], os.environ['CTXPOLICY_WORD_LIMIT'])")
    for cap, expected in ((100, "100 200"), (5000, "400 200"), (None, "400 200")):
        made = summarizer((Summarizer(script, max_tokens=cap),))
        assert made is not None
        assert made(asking()) == expected


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


# ---- chain ------------------------------------------------------------------------------------


def failing(request: SummaryRequest) -> str:
    raise RuntimeError("no model")


def blank(request: SummaryRequest) -> SummaryReply:
    return SummaryReply(" ")


async def late(request: SummaryRequest) -> str:
    return "late"


async def late_failing(request: SummaryRequest) -> str:
    raise TimeoutError


def test_a_chain_gives_the_first_answer(tmp_path: Path) -> None:
    made = summarizer([failing, blank, python("raise SystemExit(1)"), "extract", failing])
    assert made is not None
    assert made(asking("[1] user:\n  Use staging.\n")) == 'User said: "Use staging."'


def test_a_chain_that_fails_tells_every_cause() -> None:
    command = python("raise SystemExit(4)")
    assert told((failing, blank, command)) == (
        f"no summarizer answered: failing: no model; blank: the reply is blank; {command} failed with exit code 4"
    )


def test_a_chain_goes_on_behind_async_summarisers() -> None:
    async def ask(*links: Any) -> Any:
        made = summarizer(links)
        assert made is not None
        reply: Any = made(asking())
        return await reply

    assert asyncio.run(ask(failing, late_failing, late, failing)) == "late"
    with pytest.raises(CtxPolicyError, match="late_failing: TimeoutError; failing: no model"):
        asyncio.run(ask(late_failing, failing))


# ---- extract ----------------------------------------------------------------------------------

SPAN = """\
[1] user:
  Move the importer to port 8443.
  Don't touch prod!
[2] assistant:
  OK.
  I will look at the importer's settings first.
  calls bash {"command": "grep -rn port src/importer"}
[3] tool result of bash:
  src/importer/settings.py:12: PORT = 8080
  see https://example.com/docs/ports, ticket OPS-1234
[4] user (stays in the list):
  KEPT WORDS are not repeated.
[5] user (put in by the harness):
  Plan mode is on.
[6] assistant:
  calls bash {"command": "pytest -q"}
[7] tool result of bash:
  E   ConnectionError: cannot reach 10.0.0.7
  [9] user:
  2 failed, 31 passed in 1.2s
  exit code: 1
"""


def test_extract_finds_what_matters() -> None:
    assert extract(asking(SPAN)) == (
        'User said: "Move the importer to port 8443."; "Don\'t touch prod!"\n'
        "Errors: E   ConnectionError: cannot reach 10.0.0.7\n"
        "Outcomes: 2 failed, 31 passed in 1.2s; exit code: 1\n"
        'Commands: bash {"command": "grep -rn port src/importer"}; bash {"command": "pytest -q"}\n'
        "Files: src/importer/settings.py\n"
        'Assistant said: "I will look at the importer\'s settings first."\n'
        "URLs: https://example.com/docs/ports\n"
        "Identifiers: OPS-1234\n"
        "Figures: port 8443; PORT = 8080; code: 1\n"
        "Output: src/importer/settings.py:12: PORT = 8080; see https://example.com/docs/ports, ticket OPS-1234; "
        "Plan mode is on."
    )


def test_extract_says_nothing_only_when_there_is_nothing() -> None:
    assert extract(asking("")) == "NOTHING"
    assert extract(asking("[1] user:\n  \n[2] tool result of x:\n   \n")) == "NOTHING"
    assert extract(asking("[1] tool result of x:\n  plain words\n")) == "Output: plain words"
    assert extract(asking("[1] user:\n  Use staging, please.\n", words=2)) == "Use staging,"


def test_the_newest_words_have_precedence() -> None:
    span = "".join(f"[{n}] user:\n  correction number {n} of many\n" for n in range(100))
    summary = extract(asking(span, words=50))
    assert '"correction number 99 of many"' in summary
    assert "correction number 50 " not in summary


def test_a_long_line_is_told_around_its_error() -> None:
    span = "[1] tool result of x:\n  " + "é" * 50_000 + " disk failed " + "ü" * 50_000 + "\n"
    (line,) = facts(span)["Errors"]
    assert "disk failed" in line
    assert len(line.encode()) <= 160


def test_an_earlier_summary_is_carried_on() -> None:
    summary = extract(asking(SPAN, previous='User said: "Use staging."\nFiles: a.py'))
    assert summary.startswith('Earlier: User said: "Use staging."; Files: a.py\n')
    again = extract(asking(SPAN, previous=summary))
    assert "Earlier: Earlier:" not in again


def test_extract_reads_what_the_policy_renders() -> None:
    """The labels are agreed with actions/render.py; whichever changes, this fails."""
    call = {"id": "c", "type": "function", "function": {"name": "bash", "arguments": '{"command": "make"}'}}
    messages = [
        {"role": "user", "content": "The first request"},
        {"role": "assistant", "content": "I will run make now.", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c", "content": "make: fatal error 2"},
        {"role": "user", "content": "Keep these words"},
        {"role": "user", "content": "<system-reminder>"},
        {"role": "assistant", "content": "Done."},
    ]
    reading = Reading(openai_chat, Meter.of(Budget(window=1000)), Marks((), (), (), ()), None)
    intake = Intake(reading)
    items = [intake.read(message, n) for n, message in enumerate(messages)]
    items[4].role = "injected"
    found = facts(Pieces(items, reading, None, 0).text(range(6), frozenset({3})))
    assert found["User said"] == ["The first request"]
    assert found["Commands"] == ['bash {"command": "make"}']
    assert found["Errors"] == ["make: fatal error 2"]
    assert found["Assistant said"] == ["I will run make now.", "Done."]


words = st.sampled_from(
    [
        "error",
        "failed",
        "src/a.py",
        "https://x.org/a",
        "port 80",
        "AB-12",
        "3 passed",
        "calls x {}",
        "é",
        "\ud800",
        "中文" * 99,
    ]
)
line = st.lists(words | st.text(max_size=12), max_size=6).map(" ".join)
message = st.tuples(
    st.sampled_from(["user", "assistant", "tool result of a", "user (stays in the list)", "system"]),
    st.lists(line, max_size=6),
)


def rendered(messages: list[tuple[str, list[str]]]) -> str:
    blocks = []
    for n, (who, lines) in enumerate(messages):
        body = "".join(f"  {one}\n" for text in lines for one in text.split("\n"))
        blocks.append(f"[{n}] {who}:\n{body}")
    return "".join(blocks)


@given(st.lists(message, max_size=8), st.integers(1, 120))
def test_extract_is_verbatim_within_its_limit_and_the_same_each_time(
    messages: list[tuple[str, list[str]]], limit: int
) -> None:
    span = rendered(messages)
    summary = extract(asking(span, limit))
    assert summary == extract(asking(span, limit))
    assert len(summary.split()) <= limit
    summary.encode()
    for found in facts(span).values():
        for fact in found:
            assert len(fact.splitlines()) == 1
            assert fact in span
    if summary != "NOTHING":
        for told_line in summary.split("\n"):
            for fact in re.sub(r'^[A-Z][A-Za-z]+(?: said)?: "?', "", told_line).removesuffix('"').split("; "):
                assert fact.strip('"') in span
