"""An account of a run says of every message what its decision says, and names the pin or rule that decided."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result
from hypothesis import assume, event, given, settings
from hypothesis import strategies as st

from ctxpolicy import CtxPolicyError, MessageTooLarge, Policy
from ctxpolicy.review.explain import Account
from ctxpolicy.review.explain_text import message_lines, overview_lines, rule_lines
from ctxpolicy.review.stages import Stages
from support import Notes, calls, filler, policy, result, said, step, steps, system, user, without_pins

_LEFT = ("compacted", "evicted")
_MASK = {"at": "send", "match": {"role": "tool", "all_but_newest": 3}, "mask": {"min_gain": {"tokens": 50}}}


def account(made: Policy, messages: list[Any], **keys: Any) -> Account:
    return Account(made.spec, Stages(made, messages, **keys))


POLICIES = [
    policy(),
    policy(pins=without_pins(recent={"newest": 2})),
    policy(rules={"mask": _MASK}),
    policy(rules={"compact": None, "evict": {"evict": {"until": {"pressure": {"lt": 0.3}}, "keep": {"newest": 3}}}}),
]


@st.composite
def conversations(draw: st.DrawFn) -> list[Any]:
    messages: list[Any] = [system(), user("The task: port the parser.")] if draw(st.booleans()) else []
    for n in range(draw(st.integers(1, 30))):
        tokens = draw(st.sampled_from([5, 60, 150, 400]))
        kind = draw(st.sampled_from(["step", "parallel", "user", "said"]))
        if kind == "step":
            messages += step(n, tokens)
        elif kind == "parallel":
            ids = [f"p{n}a", f"p{n}b"]
            messages += [calls(*ids), *(result(i, filler(tokens)) for i in ids)]
        else:
            messages.append((user if kind == "user" else said)(filler(tokens, str(n))))
    return messages


@settings(max_examples=40, deadline=None)
@given(conversations(), st.sampled_from(POLICIES), st.booleans())
def test_every_account_agrees_with_the_decision(messages: list[Any], made: Policy, notes: bool) -> None:
    try:
        told = account(made, messages, summarize=Notes() if notes else None)
    except MessageTooLarge:
        assume(False)
    rules = [rule.id for rule in made.spec.rules]
    event(f"acted: {any(e.acted for e in told.result.events)}")
    for decision in told.result.decisions:
        said_of = told.message(decision.index)
        verdicts = [*said_of.arrival, *said_of.rules]
        assert all(all(c.holds for c in v.match) == v.matches for v in verdicts if v.match)
        if decision.fate == "pinned":
            assert [pin.id for pin in said_of.pins if pin.acted] == [decision.by]
            assert next(pin.id for pin in said_of.pins if pin.outcome.startswith("protects it")) == decision.by
        elif decision.fate == "kept":
            assert not any(pin.outcome.startswith("protects it") for pin in said_of.pins)
        elif decision.by in rules:
            assert [v.id for v in verdicts if v.acted][-1] == decision.by
        if decision.fate in _LEFT:
            after = said_of.rules[[v.id for v in said_of.rules].index(str(decision.by)) + 1 :]
            assert all(v.outcome.startswith("no longer in the list") for v in after)


def test_each_append_rule_is_judged_on_what_it_saw() -> None:
    """The cap comes first: what it has cut is small to the rule behind it."""
    told = account(policy(), [*system_and_task(), *step(0, 5000)]).message(3)
    assert [(v.id, v.matches, v.acted) for v in told.arrival] == [("cap", True, True), ("refuse", False, False)]


@settings(max_examples=30, deadline=None)
@given(conversations(), st.sampled_from(POLICIES))
def test_a_rule_acted_where_its_events_say_so(messages: list[Any], made: Policy) -> None:
    try:
        told = account(made, messages, summarize=Notes())
    except MessageTooLarge:
        assume(False)
    for rule in made.spec.rules:
        found = told.rule(rule.id)
        acted = any(e.acted for e in told.result.events if e.rule == rule.id)
        assert found.acted is acted
        if acted and found.matched is not None:
            assert found.free > 0
        if acted:
            assert all(clause.holds for clause in found.when)


def test_the_summariser_is_asked_once_however_many_rules_are_explained() -> None:
    notes = Notes("The parser was read.")
    told = account(policy(), [*system_and_task(), *steps(30)], summarize=notes)
    asked = len(notes.requests)
    assert asked > 0
    for index in range(len(told.result.decisions)):
        told.message(index)
    told.rule("evict")
    assert len(notes.requests) == asked


def system_and_task() -> list[Any]:
    return [system(), user("The task: port the parser.")]


def test_a_failing_summariser_fails_the_same_way_in_every_stage() -> None:
    told = account(policy(), [*system_and_task(), *steps(34)], summarize=Notes(RuntimeError("down"), "A note."))
    assert "down" in "; ".join(event.reason for event in told.rule("compact").events)


def test_what_protects_and_what_is_free_is_counted() -> None:
    told = account(policy(rules={"compact": None}), [*system_and_task(), *steps(40)])
    found = told.rule("evict")
    assert found.acted
    assert {"opening", "recent"} <= set(found.held)
    assert found.free + sum(count for count, _ in found.held.values()) == 82


def test_the_list_is_named_by_places_of_the_caller() -> None:
    messages = [*system_and_task(), *steps(30)]
    told = account(policy(), messages, summarize=Notes())
    assert told.message(-1).index == len(messages) - 1
    assert told.message(3).unit == (2, 3)
    with pytest.raises(CtxPolicyError, match=r"there is no message 62: the list has 62, numbered from 0"):
        told.message(62)
    with pytest.raises(CtxPolicyError, match=r"there is no rule `evit`"):
        told.rule("evit")


def test_the_entry_that_set_a_role_is_named() -> None:
    made = policy(
        read_as=[
            {"match": {"role": "user", "regex": "^<note>"}, "as": "injected"},
            {"match": {"role": "user", "not": {"role": "user", "oldest": 1}}, "as": "tool"},
        ]
    )
    told = account(made, [user("task"), said("ls"), user("<note>x"), said("ls"), user("a.py b.py")])
    assert [told.message(i).read_as for i in range(5)] == [None, None, ("read_as", 0), None, ("read_as", 1)]
    assert (told.message(4).role, told.message(4).wire_role) == ("tool", "user")


def test_a_message_that_an_earlier_run_took_is_said_to_be_gone() -> None:
    made, messages = policy(), [*system_and_task(), *steps(30)]
    state = made.apply(messages, summarize=Notes()).state
    told = account(made, [*messages, *steps(1, start=30)], state=state)
    gone = next(d.index for d in told.result.decisions if d.fate == "compacted")
    assert {v.outcome for v in told.message(gone).rules} == {"no longer in the list: an earlier run took it"}


def test_the_text_names_clause_number_and_line() -> None:
    told = account(policy(), [*system_and_task(), *steps(3, 300)])
    text = "\n".join(line.text for line in message_lines(told.message(3), lambda path: f"p.yaml:{path[1]}"))
    assert "truncated by cap, 304 -> " in text
    assert "cap: cut it  (p.yaml:0)" in text
    assert "yes match tokens > 200: 304" in text
    assert "no  when pressure > 0.7: 0." in text
    rule = "\n".join(line.text for line in rule_lines(told.rule("cap"), lambda path: "p.yaml:9"))
    assert "role tool: 3 of 8 messages" in rule
    assert "tokens > 200: 3 of 3 messages" in rule
    assert len(list(overview_lines(told))) > 8


# ---- the command ------------------------------------------------------------------------------------------------

Run = Callable[..., Result]


@pytest.fixture
def session(tmp_path: Path) -> str:
    messages = [user("Port the parser."), *steps(6, 150)]
    path = tmp_path / "s.jsonl"
    path.write_text("".join(json.dumps(message) + "\n" for message in messages))
    return str(path)


def test_the_command_explains_a_message(run: Run, session: str) -> None:
    done = run("explain", "--policy", "p.yaml", "--message", "2", session)
    assert done.exit_code == 0, done.output
    assert done.stdout.startswith(f"{session}:3: message 2: tool result of bash\n")
    assert "(p.yaml:5)" in done.stdout


def test_the_command_explains_a_rule(run: Run, session: str) -> None:
    done = run("explain", "--policy", "p.yaml", "--rule", "drop", "--summarizer", "none", session)
    assert done.exit_code == 0, done.output
    assert "rule drop: evict, before a call  (p.yaml:14)" in done.stdout


def test_json_has_the_place_of_every_clause(run: Run, session: str) -> None:
    done = run("explain", "--policy", "p.yaml", "-m", "2", "--format", "json", session)
    told = json.loads(done.stdout)
    assert told["decision"]["index"] == 2
    assert told["pins"][0]["match"][0]["where"] == "p.yaml:5"


def test_without_either_every_message_and_rule_has_a_line(run: Run, session: str) -> None:
    done = run("explain", "--policy", "p.yaml", session)
    assert done.stdout.count("message ") == 13
    assert "rules" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["-m", "99"], "there is no message 99"),
        (["-r", "shrnk"], "there is no rule `shrnk`"),
        (["-m", "1", "-r", "drop"], "give --message or --rule, not both"),
    ],
)
def test_a_question_that_cannot_be_answered(run: Run, session: str, arguments: list[str], says: str) -> None:
    done = run("explain", "--policy", "p.yaml", *arguments, session)
    assert done.exit_code == 2
    assert says in done.stderr


def test_a_folder_is_explained_conversation_by_conversation(run: Run, session: str, tmp_path: Path) -> None:
    (tmp_path / "other.jsonl").write_text(Path(session).read_text(encoding="utf-8"), encoding="utf-8")
    done = run("explain", "--message", "0", str(tmp_path))
    assert done.exit_code == 0
    assert done.stdout.count(": message 0: ") == 2
