"""State: whose list it is, and what grows with it."""

from __future__ import annotations

import pytest

from support import Notes, calls, frozen, opening, result, said, steps, user

from .both import Make, both, fill, ours


@both()
def test_34_what_is_prepared_can_be_edited(make: Make) -> None:
    window = make()
    fill(window, [*opening(), *steps(3)])
    out = window.prepare()
    out.append(user("a line for this call alone"))
    out[1]["content"] = "overwritten"
    out[2]["tool_calls"][0]["function"]["name"] = "other"
    assert window.prepare() == [*opening(), *steps(3)]


@both()
def test_34_what_was_appended_can_be_edited(make: Make) -> None:
    window = make()
    given = [*opening(), *steps(3)]
    fill(window, given)
    given[1]["content"] = "overwritten"
    given[2]["tool_calls"][0]["function"]["name"] = "other"
    assert window.prepare() == [*opening(), *steps(3)]


@both()
def test_34_append_does_not_change_what_it_gets(make: Make) -> None:
    large = result("c1", "x" * 10_000)
    before = frozen(large)
    fill(make(), [*opening(), calls("c1"), large])
    assert large == before


@both()
def test_35_the_event_log_is_bounded(make: Make) -> None:
    window = make(budget={"window": 300}, keep_recent=2)
    fill(window, opening())
    for n in range(1200):
        fill(window, [said(f"{n} " + "words " * 20)])
        window.prepare()
    assert 0 < len(window.events) <= 1000


def rendered(make: Make, function: dict[str, object]) -> str:
    """The span in which a call with this function stands."""
    notes = Notes()
    asked = calls("odd")
    asked["tool_calls"][0]["function"] = function
    window = make(summarize=notes)
    fill(window, [*opening(), asked, result("odd"), *steps(30)])
    window.prepare()
    return notes.requests[0].span


@both(raises=KeyError)
def test_36_a_call_without_arguments_is_rendered(make: Make) -> None:
    assert "list_files" in rendered(make, {"name": "list_files"})


# Not for the naive list, which puts anything into its text.
@pytest.mark.parametrize("arguments", [None, {"n": 1}, [], ""])
def test_36_a_call_with_odd_arguments_is_rendered(arguments: object) -> None:
    assert "list_files" in rendered(ours, {"name": "list_files", "arguments": arguments})
