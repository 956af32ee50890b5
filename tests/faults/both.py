"""A managed window and a naive list with the same settings, for tests that run against both."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from ctxpolicy import ManagedWindow
from naive import NaiveList
from support import policy

Make = Callable[..., Any]


def ours(
    *,
    budget: dict[str, Any] | None = None,
    keep_recent: int = 4,
    cap: int = 200,
    pin_task: bool = True,
    evicts: bool = True,
    step_back: bool = False,
    changes: dict[str, Any] | None = None,
    **given: Any,
) -> ManagedWindow:
    """A window under the standard policy. `given` goes to `policy.window`, `changes` are for this side alone.

    `step_back` is a trait of the naive list and means nothing here.
    """
    pins = {"recent": {"newest": keep_recent} if keep_recent else None}
    if not pin_task:
        pins |= {"opening": None, "task": None, "request": None}
    rules = {"cap": {"match": {"role": "tool", "tokens": {"gt": cap}}, "truncate": {"max_tokens": cap}}}
    changes = dict(changes or {})
    made = policy(
        budget=budget,
        pins=pins | changes.pop("pins", {}),
        rules=rules | ({} if evicts else {"evict": None}) | changes.pop("rules", {}),
        **changes,
    )
    return made.window(**given)


def naive(
    *,
    budget: dict[str, Any] | None = None,
    cap: int = 200,
    evicts: bool = True,
    changes: dict[str, Any] | None = None,
    **given: Any,
) -> NaiveList:
    """A naive list with the same figures; `cap` is tokens of four characters."""
    figures = {key: value for key, value in (budget or {}).items() if key in ("window", "ratio", "reserve")}
    return NaiveList(**figures, cap=4 * cap, evict_at=0.9 if evicts else float("inf"), **given)


def both(raises: type[BaseException] = AssertionError) -> pytest.MarkDecorator:
    """Run a test with `make` building either; on the naive list it must fail, with this error."""
    must_fail = pytest.mark.xfail(strict=True, raises=raises)
    return pytest.mark.parametrize(
        "make", [pytest.param(ours, id="ctxpolicy"), pytest.param(naive, id="naive", marks=must_fail)]
    )


def fill(window: Any, messages: list[Any]) -> None:
    for message in messages:
        window.append(message)


def play(window: Any, messages: list[Any]) -> list[Any]:
    """Append the messages, with a prepare before every one that the model said; the last list is returned."""
    for message in messages:
        if message["role"] == "assistant":
            window.prepare()
        window.append(message)
    return list(window.prepare())
