"""Cost: the work does not grow with the square of the session. A clock would tell of the machine, so we count."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from ctxpolicy.tokens import Meter
from naive import NaiveList
from support import opening, steps

from .both import Make, both, fill


@pytest.fixture
def countings(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How often a message was counted, by either implementation: one entry, going up."""
    times = [0]

    def counted(count: Callable[..., int]) -> Callable[..., int]:
        def counting(*given: Any) -> int:
            times[0] += 1
            return count(*given)

        return counting

    monkeypatch.setattr(Meter, "message", counted(Meter.message))
    monkeypatch.setattr(NaiveList, "count", counted(NaiveList.count))
    return times


@both()
def test_37_a_long_session_counts_each_message_about_once(make: Make, countings: list[int]) -> None:
    window = make()
    fill(window, opening())
    for n in range(300):
        fill(window, steps(1, start=n))
        window.prepare()
    assert any("evict" in str(event) for event in window.events)
    assert countings[0] <= 3 * 602


@both()
def test_37_one_prepare_of_a_long_list_counts_each_message_about_once(make: Make, countings: list[int]) -> None:
    window = make()
    fill(window, [*opening(), *steps(250)])
    window.prepare()
    assert any("evict" in str(event) for event in window.events)
    assert countings[0] <= 3 * 502
