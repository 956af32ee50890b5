"""Pins: what never leaves, and what must not stay for ever."""

from __future__ import annotations

from typing import Any

import pytest

from ctxpolicy import CtxPolicyError
from support import Notes, filler, is_mark, opening, policy, said, steps, system, user

from .both import Make, both, fill, play

ORDINARY = [
    "It cannot be opened here, and let us note the annotation. " + filler(30),
    "Do not worry, thanks: the volcano, the domino, all is fine. " + filler(30),
]
CORRECTIONS = [
    "No! Use staging",
    "No. Use staging",
    "Don't touch prod",
    "Stop.",
    "いいえ、本番ではなく",
    "Nein, nicht so",
]


@both()
@pytest.mark.parametrize("text", ORDINARY, ids=["cannot, note", "do not, volcano"])
def test_07_ordinary_words_do_not_fill_the_budget(make: Make, text: str) -> None:
    window = make()
    out = play(window, [*opening(), *(m for n in range(120) for m in (user(f"{n} {text}"), said("yes")))])
    assert window.pressure() <= 0.9
    assert len(out) < 240


@both()
@pytest.mark.parametrize("words", CORRECTIONS)
def test_08_corrections_stay_in_any_language(make: Make, words: str) -> None:
    notes = Notes()
    window = make(summarize=notes)
    out = play(window, [*opening(), *steps(3), user(words), *steps(60)])
    assert len(notes.requests) > 1
    assert out.count(user(words)) == 1


@both()
def test_09_summaries_are_never_pinned_and_do_not_pile_up(make: Make) -> None:
    notes = Notes("The user wants staging instead of prod; the wrong host is not used.")
    window = make(summarize=notes)
    out = play(window, [*opening(), *steps(400)])
    assert len(notes.requests) > 20
    assert sum("staging instead" in (m["content"] or "") for m in out) <= 8


@both()
def test_10_an_explicit_pin_holds_its_message_after_removals(make: Make) -> None:
    notes = Notes()
    window = make(summarize=notes)
    fill(window, [*opening(), *steps(10)])
    window.append(user("The invoice number is 4711. " + filler(60)), meta={"pin": True})
    out = play(window, steps(80))
    assert len(notes.requests) > 2
    assert [m for m in out if "4711" in (m["content"] or "")] == [user("The invoice number is 4711. " + filler(60))]


# Not for the naive list: it takes metadata only message by message.
@pytest.mark.parametrize("index", [2, -1, 99])
def test_10_a_pin_out_of_range_is_an_error(index: int) -> None:
    with pytest.raises(CtxPolicyError, match=f"{index}"):
        policy().apply(opening(), meta={index: {"pin": True}})


@both()
def test_11_developer_orders_are_pinned(make: Make) -> None:
    orders = {"role": "developer", "content": "Never push to main."}
    out = play(make(), [orders, user("The task: port the parser."), *steps(60)])
    assert out[0] == orders
    assert any(is_mark(m) for m in out)


@both()
def test_11_system_reminders_do_not_pile_up(make: Make) -> None:
    reminders = [m for n in range(60) for m in (*steps(1, start=n), system(f"Reminder {n}: " + filler(60)))]
    window = make()
    out = play(window, [*opening(), *reminders, said("ok")])
    assert window.pressure() <= 0.9
    assert sum(m["role"] == "system" for m in out) < 40


READ_AS = [
    {"match": {"field": {"is_demo": True}}, "as": "injected"},
    {"match": {"role": "user", "regex": r"^\s*<system-reminder>(?s:.*?)</system-reminder>\s*$"}, "as": "injected"},
]


@both()
@pytest.mark.parametrize(
    "before",
    [
        [{**user("An example: add 2 and 2."), "is_demo": True}, said("4")],
        [user("<system-reminder>" + filler(20) + "</system-reminder>"), said("Noted.")],
    ],
    ids=["few-shot example", "injected text"],
)
def test_12_the_task_is_the_first_thing_a_person_said(make: Make, before: list[dict[str, Any]]) -> None:
    task = user("The task: port the parser. " + filler(60))
    window = make(changes={"read_as": READ_AS, "pins": {"opening": None}})
    out = play(window, [system(), *before, task, *steps(60)])
    assert task in out
    assert before[0] not in out


@both()
def test_13_the_question_being_asked_stays_without_any_pin(make: Make) -> None:
    question = user(filler(1900, "Which lexer?"))
    window = make(keep_recent=0, pin_task=False)
    fill(window, [system(filler(2000)), question])
    assert window.prepare()[-1] == question


@both()
def test_13_the_question_stays_while_the_model_works_on_it(make: Make) -> None:
    question = user("Which lexer? " + filler(60))
    out = play(make(keep_recent=0), [*opening(), *steps(10), said("Ported."), question, *steps(60)])
    assert len(out) < 100
    assert question in out


@both()
def test_14_everything_pinned_and_over_budget_is_told(make: Make) -> None:
    window = make(keep_recent=1000)
    fill(window, [*opening(), *steps(50)])
    out = window.prepare()
    assert out == [*opening(), *steps(50)]
    assert window.pressure() > 1
    assert "recent" in "\n".join(map(str, window.events))
