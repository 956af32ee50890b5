"""`extract`: what it finds in a span, in which order, and how fast."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from ctxpolicy.actions.render import Pieces
from ctxpolicy.formats import openai_chat
from ctxpolicy.intake import Intake, Reading
from ctxpolicy.marks import Marks
from ctxpolicy.policy.model import Budget
from ctxpolicy.summarize import SummaryRequest
from ctxpolicy.summarize.extract import extract
from ctxpolicy.summarize.facts import Fact, facts, missing, worth_keeping
from ctxpolicy.tokens import Meter


def asking(span: str = "", words: int = 200, previous: str | None = None) -> SummaryRequest:
    return SummaryRequest("", span, words, "compact", 400, previous=previous)


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
        "Figures: port 8443; code: 1; PORT = 8080\n"
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
    items = intake.read_all(messages, None)
    items[4].role = "injected"
    found = facts(Pieces(items, reading, None, 0).text(range(6), frozenset({3})))
    assert found["User said"] == ["The first request"]
    assert found["Commands"] == ['bash {"command": "make"}']
    assert found["Errors"] == ["make: fatal error 2"]
    assert found["Assistant said"] == ["I will run make now.", "Done."]


def test_the_facts_worth_keeping_are_those_that_somebody_said_called_or_got_as_an_error() -> None:
    span = (
        "[1] tool result of ls:\n  src/raw.py src/other.py\n  src/bad.py: fatal error in R-77 at 4be1c27f\n"
        "[2] user:\n  See https://x.org/a and set port 8443.\n"
        '[3] assistant:\n  calls read {"path": "src/app.py"}\n  src/app.py first.\n'
        "[4] user (stays in the list):\n  src/kept.py\n"
    )
    wanted = ["https://x.org/a", "src/app.py", "R-77", "port 8443", "src/bad.py", "4be1c27f"]
    assert [fact.text for fact in worth_keeping(span, 200)] == wanted
    assert [fact.text for fact in worth_keeping(span, 30)] == wanted[:3]
    assert worth_keeping("[1] tool result of ls:\n  src/raw.py\n", 200) == [Fact("src/raw.py", "src/raw.py")]
    assert worth_keeping("[1] user:\n  Hello.\n", 200) == []


def test_what_a_note_lacks() -> None:
    facts = [Fact("src/app.py", "src/app.py"), Fact("port 8443", "8443"), Fact("$1,200.50", "1,200.50")]
    assert missing(facts, "SRC/App.py listens on 8443 and costs 1,200.50 dollars") == []
    assert missing(facts, "app.py listens on 18443") == ["src/app.py", "port 8443", "$1,200.50"]


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
