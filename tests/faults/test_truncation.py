"""Truncation: smaller than before, inside the cap, in one piece; and nothing gets past it."""

from __future__ import annotations

import json
import re

import pytest

from ctxpolicy import MessageTooLarge
from ctxpolicy.tokens import chars
from support import Message, calls, filler, opening, result, steps

from .both import Make, both, fill


def cut(make: Make, text: str, cap: int) -> str:
    """What becomes of a tool result with this text."""
    window = make(cap=cap)
    fill(window, [*opening(), calls("c1"), result("c1", text)])
    content: str = window.prepare()[-1]["content"]
    return content


@both()
@pytest.mark.parametrize("over", [1, 4, 7])
def test_26_slightly_over_the_cap_never_comes_out_longer(make: Make, over: int) -> None:
    text = filler(100) + "x" * 4 * over
    out = cut(make, text, cap=100)
    assert len(out) < len(text)


@both()
@pytest.mark.parametrize("size", [500, 2000, 40_000])
def test_26_the_marker_is_part_of_the_cap(make: Make, size: int) -> None:
    out = cut(make, filler(size), cap=100)
    assert chars(out) <= 100
    assert "dropped" in out


@both()
@pytest.mark.parametrize("cap", [26, 30, 40])
def test_26_a_tiny_cap_does_not_keep_everything(make: Make, cap: int) -> None:
    text = "y" * 4000
    assert chars(cut(make, text, cap=cap)) <= cap


@both()
def test_26_the_marker_says_what_is_missing(make: Make) -> None:
    text = "".join(f"line {n} äöü\n" for n in range(2000))
    out = cut(make, text, cap=100)
    said = re.search(r"\[([\d,]+) chars dropped, ([\d,]+) lines, ref [0-9a-f]{12}\.\]", out)
    assert said
    head, tail = out[: said.start()].removesuffix("\n... "), out[said.end() :].removeprefix(" ...\n")
    assert text.startswith(head)
    assert text.endswith(tail)
    missing = text[len(head) : len(text) - len(tail)]
    assert int(said[1].replace(",", "")) == len(missing)
    assert int(said[2].replace(",", "")) in (missing.count("\n"), missing.count("\n") + 1)


@both(raises=(AssertionError, json.JSONDecodeError))  # type: ignore[arg-type]
def test_27_json_still_parses(make: Make) -> None:
    text = json.dumps({"rows": [{"id": n, "name": f"row {n}", "tags": ["a", "b"]} for n in range(200)], "total": 200})
    out = cut(make, text, cap=100)
    assert len(out) < len(text)
    assert json.loads(out)["total"] == 200


@both()
@pytest.mark.parametrize(
    "cluster", ["👩‍👩‍👧‍👦", "e\u0301\u0302", "🇩🇪", "👍🏽"], ids=["family", "accents", "flag", "skin tone"]
)
def test_27_what_is_read_as_one_character_is_not_split(make: Make, cluster: str) -> None:
    out = cut(make, "x" + cluster * 1000, cap=100)
    head, _, tail = re.split(r"(\n\.\.\. \[.*?\] \.\.\.\n)", out)
    assert len(head) > 1
    assert head.removeprefix("x").replace(cluster, "") == ""
    assert tail.replace(cluster, "") == ""


@both()
def test_28_messages_of_a_resumed_session_are_cut_too(make: Make) -> None:
    given: list[Message] = [*opening(), calls("c1"), result("c1", filler(3000))]
    window = make(messages=given)
    assert chars(window.prepare()[-1]["content"]) <= 200


@both(raises=pytest.fail.Exception)
def test_28_messages_of_a_resumed_session_are_checked_for_size(make: Make) -> None:
    with pytest.raises(ValueError, match="cannot be sent"):
        make(messages=[*opening(filler(5000)), *steps(1)])


# Not for the naive list, which has no such error: it says which message.
def test_28_the_error_names_the_message() -> None:
    from .both import ours

    with pytest.raises(MessageTooLarge) as caught:
        ours(messages=opening(filler(5000)))
    assert caught.value.index == 1
