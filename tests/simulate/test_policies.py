"""The shipped policies: sound, and up to a session of the kind they are for."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

import ctxpolicy
from ctxpolicy.policy.load import load_file
from ctxpolicy.simulate import profiles
from ctxpolicy.simulate.course import Course, play
from ctxpolicy.simulate.summaries import FAULTS

POLICIES = Path(__file__).parents[2] / "policies"
CORPUS = Path(__file__).parents[3] / "shared" / "corpus"
FOR = {
    "chat": ("chat", 250),
    "coding-agent": ("coding", 40),
    "masking": ("coding", 40),
    "service-agent": ("service", 120),
    "computer-use": ("computer", 40),
}
SMALL = 40_000  # tokens: a window that these sessions fill


@cache
def _course(name: str, *, window: int | None = SMALL, fault: str | None = None) -> Course:
    policy = ctxpolicy.load(POLICIES / f"{name}.yaml")
    profile, turns = FOR[name]
    policy = policy if window is None else policy.with_window(window)
    summarize = FAULTS[fault] if fault else None
    messages = profiles.session(profile, turns, 0)
    return play(policy, messages, name, tools=profiles.tools(profile), summarize=summarize)


@pytest.mark.parametrize("name", FOR)
def test_nothing_to_complain_about(name: str) -> None:
    path = POLICIES / f"{name}.yaml"
    assert load_file(path, path.name).findings == ()


@pytest.mark.parametrize("name", FOR)
def test_it_passes_the_verdict_in_a_small_window(name: str) -> None:
    course = _course(name)
    assert course.findings == ()
    assert course.peak <= course.spec.budget.limit < course.whole_peak
    assert course.price < course.whole_price


@pytest.mark.parametrize("name", ["chat", "coding-agent"])
def test_it_passes_when_the_summariser_is_down(name: str) -> None:
    course = _course(name, fault="fail")
    assert course.asked > 0
    assert course.findings == ()


def test_what_each_is_made_for() -> None:
    """Coding: results are masked before any summary. Masking: no model. Computer: old screens are masked."""
    acts = [
        event.action for call in _course("coding-agent", window=120_000).calls for event in call.events if event.acted
    ]
    assert next(act for act in acts if act in ("mask", "compact")) == "mask"
    assert _course("masking").asked == 0
    told = [event for call in _course("computer-use").calls for event in call.events]
    assert sum(event.messages for event in told if event.rule == "mask-old-screenshots") > 100


@pytest.mark.slow
@pytest.mark.skipif(not CORPUS.is_dir(), reason="needs the recorded sessions")
@pytest.mark.parametrize("name", [*FOR, "default"])
@pytest.mark.parametrize("window", [None, 48_000])
def test_it_passes_on_recorded_sessions(name: str, window: int | None) -> None:
    """Every session that the command can read, in the policy's own window and in a small one."""
    from click.testing import CliRunner

    from ctxpolicy.cli import main

    small = () if window is None else ("--window", str(window))
    folders = [str(CORPUS / folder) for folder in ("mini-swe-agent", "swe-agent", "claude-code")]
    done = CliRunner().invoke(main, ["simulate", "-p", str(POLICIES / f"{name}.yaml"), *small, *folders])
    failed = [line for line in done.stdout.splitlines() if line.startswith("failed: ")]
    assert [line for line in failed if "compacts too often" not in line] == []
    assert " sessions " in done.stdout
