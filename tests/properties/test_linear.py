"""Work grows with the list and no faster: lines executed, counted for a list and for one four times as long."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

import ctxpolicy
from ctxpolicy import Policy

Wire = dict[str, Any]
PACKAGE = str(Path(ctxpolicy.__file__).parent)
SMALL, TIMES = 150, 4
ALLOWED = 1.35 * TIMES  # sorting and the widest numbers cost a little more than linear

RULES = """
  - id: mask
    when: {pressure: {gt: 0.5}}
    match: {role: tool, all_but_newest: 5}
    mask: {parts: [results, arguments]}
  - id: compact
    when: {pressure: {gt: 0.5}}
    compact: {until: {pressure: {lt: 0.4}}, word_limit: 10, max_passes: 3}
  - {id: evict, at: send, when: {pressure: {gt: 0.6}}, evict: {until: {pressure: {lt: 0.1}}}}
"""
PINS = """
  - {id: words, match: {contains: pinned, newest: {tokens: 100000}}}
  - {id: old, match: {superseded: true, turn_age: {gt: 10000}}}
"""


def policy(window: int, pins: str = PINS, rules: str = RULES) -> Policy:
    return ctxpolicy.loads(
        f"version: 1\nbudget: {{window: {window}, counter: chars}}\npins:{pins}\nrules:{rules}\narchive: false\n"
        "allow: {CP405: test}\n"
    )


def said(role: str, text: str) -> Wire:
    return {"role": role, "content": text}


def called(*ids: str) -> Wire:
    calls = [
        {"id": i, "type": "function", "function": {"name": "bash", "arguments": '{"cmd": "' + i * 20 + '"}'}}
        for i in ids
    ]
    return {"role": "assistant", "content": None, "tool_calls": calls}


def answered(call: str, text: str = "some output " * 12) -> Wire:
    return {"role": "tool", "tool_call_id": call, "content": text}


def rounds(size: int) -> list[Wire]:
    return [m for n in range(size // 3) for m in (called(f"c{n}"), answered(f"c{n}"), said("assistant", "on it " * 10))]


def answered_at_the_end(size: int) -> list[Wire]:
    return [called("first"), *rounds(size), answered("first"), said("assistant", "done")]


def all_pinned(size: int) -> list[Wire]:
    return [said("user", f"pinned words {n}") for n in range(size)] + [said("assistant", "done")]


def every_other_pinned(size: int) -> list[Wire]:
    pairs = [(said("user", f"pinned {n}"), said("assistant", "long words " * 30)) for n in range(size // 2)]
    return [m for pair in pairs for m in pair]


def tiny(size: int) -> list[Wire]:
    return [said("assistant", "ok") for _ in range(size)]


def interlaced(size: int) -> list[Wire]:
    """Every result comes one call late: each unit overlaps the next."""
    calls = size // 2
    made = [called("c0")]
    for n in range(1, calls):
        made += [called(f"c{n}"), answered(f"c{n - 1}")]
    return [*made, said("assistant", "done")]


def one_wide_unit(size: int) -> list[Wire]:
    ids = [f"c{n}" for n in range(size)]
    return [called(*ids), *map(answered, ids), said("assistant", "done")]


def many_dead_calls(size: int) -> list[Wire]:
    return [m for n in range(size // 2) for m in (called(f"c{n}"), said("assistant", "words " * 20))]


def same_call_again(size: int) -> list[Wire]:
    return [m for _ in range(size // 2) for m in (called("c"), answered("c"))]


def old_markers(size: int) -> list[Wire]:
    marker = "[3 earlier turns left out, ref 3f9a12c0d4e1.]"
    return [m for n in range(size // 2) for m in (said("user", marker), said("assistant", "words " * 20))]


SHAPES = (
    rounds, answered_at_the_end, all_pinned, every_other_pinned, tiny, interlaced, one_wide_unit, many_dead_calls,
    same_call_again, old_markers,
)  # fmt: skip


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("pressure", [1.2, 3.0])
def test_a_run_is_linear(shape: Callable[[int], list[Wire]], pressure: float) -> None:
    small, large = (lines_of(shape(size), pressure) for size in (SMALL, SMALL * TIMES))
    assert large <= ALLOWED * small, f"{large / small:.1f} times the work for {TIMES} times the list"


@pytest.mark.parametrize("shape", [rounds, every_other_pinned])
def test_a_window_is_linear(shape: Callable[[int], list[Wire]]) -> None:
    """Appending and preparing at every message costs no more a message when the session is four times as long."""
    small, large = (lines(lambda size=size: live(shape(size))) for size in (SMALL, SMALL * TIMES))
    assert large <= ALLOWED * small, f"{large / small:.1f} times the work for {TIMES} times the session"


def live(messages: list[Wire]) -> None:
    window = policy(1000, pins="\n  - {id: recent, match: {newest: 4}}").window(
        summarize=lambda _: "a note", archive=False
    )
    for message in messages:
        window.append(message)
        window.prepare()


def lines_of(messages: list[Wire], pressure: float) -> int:
    used = sum(row.tokens for row in policy(10_000_000).look(messages))
    under = policy(int(used / pressure))
    under.apply(messages[:3], summarize=lambda _: "a note")  # compile first
    return lines(lambda: under.apply(messages, summarize=lambda _: "a note").decisions)


def lines(work: Callable[[], Any]) -> int:
    """Lines of the package executed."""
    count = 0

    def trace(frame: FrameType, event: str, _: Any) -> Any:
        nonlocal count
        if not frame.f_code.co_filename.startswith(PACKAGE):
            return None
        count += event == "line"
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        work()
    finally:
        sys.settrace(before)
    return count
