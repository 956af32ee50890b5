"""The last line of `apply`: the tokens of all that was counted, or of what changed where the rest was passed over."""

from __future__ import annotations

import pytest

from ctxpolicy.cli.account import Told

from .helpers import Run, lines, talk, write

SMALL = talk(1)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (lines(SMALL), "1 conversation, 4 messages, 104 -> 104 tokens; no rule acted\n"),
        (lines(SMALL, SMALL), "2 conversations, 8 messages, none changed; no rule acted\n"),
        (lines(talk(16), SMALL), "2 conversations, 38 messages, 1 changed: 1,424 -> 692 tokens; drop: evicted 17\n"),
        (lines(talk(16)), "1 conversation, 34 messages, 1,424 -> 692 tokens; drop: evicted 17\n"),
        (lines(talk(16), talk(16)), "2 conversations, 68 messages, 2,848 -> 1,384 tokens; drop: evicted 34\n"),
    ],
)
def test_the_last_line(run: Run, text: str, said: str) -> None:
    done = run("apply", "-p", "p.yaml", "--archive", "none", write("t.jsonl", text))
    assert done.exit_code == 0
    assert done.stderr.splitlines(keepends=True)[-1] == said


def test_troubles_are_counted_and_the_first_is_told() -> None:
    told, later = Told(), Told()
    told.add("a")
    assert str(told) == "a"
    later.add("b")
    later.add("c")
    told.add(later.first, later.count)
    assert str(told) == "a (and 2 more)"
    told.add("", 0)
    assert str(told) == "a (and 2 more)"
