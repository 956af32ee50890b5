"""Random edits of valid policies: checking never falls over, points into the file, and lets nothing pass that fails."""

from __future__ import annotations

import re
from typing import Any

from hypothesis import assume, given, settings
from hypothesis import strategies as st

import ctxpolicy
from ctxpolicy.data import builtin_policies
from ctxpolicy.policy.load import load_spec
from ctxpolicy.policy.report import FORMATS, render

SEEDS = [
    re.sub(r"window: \d+", "window: 9000", file.read_text(encoding="utf-8")) for file in builtin_policies().values()
]
_WORDS = r"""
all append send user tool assistant injected true false null yes 0 1 2 0.5 0.9 80 2000 -1 1e9 [] {} [a] {a: 1} * & ! |
> # : - ' " ~ % @ ? << newest oldest all_but_newest tokens share pressure used headroom until keep match when truncate
mask compact evict refuse batch min_gain span prompt marker label placeholder head tail max_tokens opening superseded
turn_age not any has: role: regex: field: meta: before: extends: disable: summarizer: archive: {{span}} {{ref}}
{{count}} {%if} (a|b) \d ]
"""
WORDS = _WORDS.split()


@st.composite
def edited(draw: st.DrawFn) -> str:
    """A shipped policy with a few words or lines put in, taken out or put elsewhere."""
    text = draw(st.sampled_from(SEEDS))
    for _ in range(draw(st.integers(1, 4))):
        text = draw(st.sampled_from((_word, _line, _swap, _number)))(draw, text)
    return text


def _word(draw: st.DrawFn, text: str) -> str:
    """One word is another one, or nothing."""
    places = [found.span() for found in re.finditer(r"[\w.-]+|[^\w\s]", text)]
    start, stop = draw(st.sampled_from(places))
    return text[:start] + draw(st.sampled_from([*WORDS, ""])) + text[stop:]


def _line(draw: st.DrawFn, text: str) -> str:
    """A line is gone, stands twice or is indented."""
    lines = text.splitlines(keepends=True)
    at = draw(st.integers(0, len(lines) - 1))
    lines[at] = draw(st.sampled_from(["", lines[at] * 2, "  " + lines[at], lines[at].lstrip()]))
    return "".join(lines)


def _swap(draw: st.DrawFn, text: str) -> str:
    """A line stands elsewhere."""
    lines = text.splitlines(keepends=True)
    line = lines.pop(draw(st.integers(0, len(lines) - 1)))
    lines.insert(draw(st.integers(0, len(lines))), line)
    return "".join(lines)


def _number(draw: st.DrawFn, text: str) -> str:
    """A number is another one."""
    places = [found.span() for found in re.finditer(r"(?<![\w#.])\d+(\.\d+)?", text)]
    assume(places)
    start, stop = draw(st.sampled_from(places))
    return (
        text[:start] + draw(st.sampled_from(["0", "1", "3", "40", "500", "20000", "0.1", "0.99", "1.5"])) + text[stop:]
    )


def conversation() -> list[dict[str, Any]]:
    """Enough of everything for rules to act: a task, corrections, calls in parallel, large results, an error."""
    messages: list[dict[str, Any]] = [
        {"role": "system", "content": "You are an agent."},
        {"role": "user", "content": "Fix the build."},
    ]
    for n in range(14):
        ids = [f"c{n}-{k}" for k in range(1 + n % 2)]
        calls = [
            {"id": i, "type": "function", "function": {"name": ("bash", "read")[k % 2], "arguments": f'{{"x": {n}}}'}}
            for k, i in enumerate(ids)
        ]
        messages.append({"role": "assistant", "content": "I look.", "tool_calls": calls})
        messages += [{"role": "tool", "tool_call_id": i, "content": f"{n} line of output\n" * 120} for i in ids]
        if n % 4 == 3:
            messages.append({"role": "user", "content": f"No, not {n}; <system-reminder>be brief</system-reminder>"})
    return [*messages, {"role": "assistant", "content": "Done."}, {"role": "user", "content": "Thanks. And the tests?"}]


@given(edited())
@settings(max_examples=100, deadline=None)
def test_an_edited_policy_is_refused_in_place_or_runs(text: str) -> None:
    loaded = load_spec(text)
    lines = text.splitlines() or [""]
    for finding in loaded.findings:
        if finding.file == "<policy>":
            assert 1 <= finding.line <= len(lines) + 1
            assert finding.source == (lines[finding.line - 1] if finding.line <= len(lines) else "")
            assert 1 <= finding.column < finding.end_column
            assert finding.column <= len(finding.source) + 1
    for output_format in FORMATS:
        render(loaded.findings, output_format)
    assert (loaded.spec is None) == bool(loaded.errors)
    if loaded.spec is not None:
        run(text)


def run(text: str) -> None:
    """What was checked runs: only a message that the policy itself refuses may stop it."""
    policy = ctxpolicy.loads(text)
    try:
        done = policy.apply(conversation(), summarize=lambda request: "A note of what happened.")
        again = policy.apply(done.messages, state=done.state, summarize=lambda request: "")
    except ctxpolicy.MessageTooLarge:
        return
    failed = [event.reason for event in (*done.events, *again.events) if "the step failed" in event.reason]
    assert failed == []
