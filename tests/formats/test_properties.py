"""Valid in, valid out, in every format: judged by the linter and by the providers' own packages."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ctxpolicy.archive.restoring import restore
from ctxpolicy.lint import level_of, lint
from ctxpolicy.values import canonical

from .histories import FORMATS, histories, write
from .policies import tiny
from .sdk import judge

some = settings(max_examples=60, deadline=None)


def refused(messages: list[Any], name: str) -> Counter[str]:
    """Codes of what the provider would refuse or take with harm."""
    return Counter(fault.code for fault in lint(messages, name) if level_of(fault, name) != "route")


@pytest.mark.parametrize("name", FORMATS)
class TestValid:
    @some
    @given(histories())
    def test_the_histories_are_valid(self, name: str, turns: list[Any]) -> None:
        messages = write(turns, name)
        assert not refused(messages, name) - Counter(["GEM-04"] * len(messages))
        judge(name)(messages)

    @some
    @given(histories(), st.sampled_from([60, 150, 400, 1000]), st.booleans())
    def test_valid_in_valid_out(self, name: str, turns: list[Any], window: int, asks: bool) -> None:
        messages = write(turns, name)
        before = json.dumps(messages)
        result = tiny(window).apply(messages, format=name, summarize=(lambda _: "A note.") if asks else None)
        assert not [event for event in result.events if event.failed and "min_gain" not in event.reason]
        assert json.dumps(messages) == before
        assert not refused(result.messages, name) - refused(messages, name)
        judge(name)(result.messages)
        assert result.usage.after["total"] <= result.usage.before["total"]

    @some
    @given(histories(), st.sampled_from([60, 150, 400]), st.booleans())
    def test_nothing_is_lost(self, name: str, turns: list[Any], window: int, asks: bool) -> None:
        messages = write(turns, name)
        policy, summarize = tiny(window), (lambda _: "A note.") if asks else None
        first = policy.apply(messages, format=name, summarize=summarize)
        again = policy.apply(first.messages, format=name, summarize=summarize, state=first.state)
        found = restore(again.messages, [*first.removed, *again.removed])
        assert list(map(canonical, found)) == list(map(canonical, messages))

    @some
    @given(histories(), st.sampled_from([150, 400]))
    def test_a_window_decides_as_apply_does(self, name: str, turns: list[Any], window: int) -> None:
        messages = write(turns, name)
        applied = tiny(window).apply(messages, format=name)
        managed = tiny(window).window(format=name, archive=False)
        for message in messages:
            managed.append(message)
        assert managed.prepare() == applied.messages

    @some
    @given(histories())
    def test_quiet_gives_the_same_objects(self, name: str, turns: list[Any]) -> None:
        messages = write(turns, name)
        result = tiny(1_000_000, 100_000).apply(messages, format=name)
        assert all(a is b for a, b in zip(result.messages, messages, strict=True))

    def test_most_runs_act(self, name: str) -> None:
        acted: list[bool] = []

        @settings(max_examples=60, deadline=None, database=None, derandomize=True)
        @given(histories())
        def run(turns: list[Any]) -> None:
            acted.append(bool(tiny(150).apply(write(turns, name), format=name).removed))

        run()
        assert sum(acted) >= 0.3 * len(acted)
