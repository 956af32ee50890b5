"""Test files: what passes, what fails, and what a failure says."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml

from ctxpolicy.data import policy_test_schema_file
from ctxpolicy.formats import openai_chat
from ctxpolicy.policy.model import Budget
from ctxpolicy.policy.source import parse, source_of
from ctxpolicy.testing.given import Given, Maker, Misstated
from ctxpolicy.tokens import Meter

from .helpers import POLICY, fault, outcomes

LONG = """\
  - name: long
    given:
      - {role: user, id: task, text: Port the parser.}
      - {tool: bash, id: old, tokens: 90, repeat: 10}
      - {role: assistant, id: end, text: Done.}
"""


def expecting(expect: str) -> str:
    return LONG + f"    expect: {expect}\n"


def meter(counter: str) -> Meter:
    return Meter.of(Budget(window=1, counter=counter))


# ---- what given makes -------------------------------------------------------------------------------------------


def made(given: str, folder: Path | None = None, counter: str = "chars") -> Given:
    root, findings = parse(source_of(f"given:\n{given}", "t.yaml", Path()), f"given:\n{given}")
    assert root is not None
    assert not findings
    maker = Maker(meter(counter), folder or Path())
    maker.take(root.mapping["given"])
    return maker.given


def test_a_result_brings_the_call_that_asked_for_it() -> None:
    given = made("- {tool: bash, id: r, text: ok, arguments: {cmd: ls}}")
    call, result = given.messages
    assert call["tool_calls"][0]["function"] == {"name": "bash", "arguments": '{"cmd": "ls"}'}
    assert result == {"role": "tool", "tool_call_id": call["tool_calls"][0]["id"], "content": "ok"}
    assert given.names == {"r": [1]}


def test_calls_at_once_have_their_results_behind_them_and_some_have_none() -> None:
    given = made("- {calls: [{tool: a, id: x, text: 1}, {tool: b}, {tool: c, text: 3, error: true}], id: asked}")
    call, first, third = given.messages
    ids = [c["id"] for c in call["tool_calls"]]
    assert [first["tool_call_id"], third["tool_call_id"]] == [ids[0], ids[2]]
    assert third["is_error"] is True
    assert given.names == {"asked": [0], "x": [1]}


def test_no_two_calls_are_the_same_unless_it_is_said() -> None:
    given = made("- {tool: bash, text: ok, repeat: 3}\n- {tool: bash, text: ok, arguments: {n: 0}, repeat: 2}")
    asked = [m["tool_calls"][0]["function"]["arguments"] for m in given.messages[::2]]
    assert len(set(asked)) == 4


def test_arguments_can_be_given_as_their_size() -> None:
    (call, _) = made("- {tool: write, text: ok, arguments: 500}").messages
    arguments = call["tool_calls"][0]["function"]["arguments"]
    assert 490 <= meter("chars").text(json.loads(arguments)["text"]) <= 500
    assert json.loads(arguments)["n"] == 1


def test_a_block_is_repeated_as_a_whole() -> None:
    given = made("- {repeat: 2, messages: [{role: user, id: q, text: Hm?}, {role: assistant, text: Yes.}]}")
    assert [m["role"] for m in given.messages] == ["user", "assistant"] * 2
    assert given.names == {"q": [0, 2]}


@pytest.mark.parametrize("counter", ["chars", "estimate"])
@pytest.mark.parametrize("tokens", [20, 333, 5000])
def test_a_message_has_the_tokens_it_asks_for(counter: str, tokens: int) -> None:
    text = f"- {{role: user, text: Look., tokens: {tokens}, repeat: 3}}\n- {{tool: bash, tokens: {tokens}}}"
    given = made(text, counter=counter)
    for message in [*given.messages[:3], given.messages[-1]]:
        size = meter(counter).message(openai_chat.read(message, 0)[0])
        assert tokens - 1 <= size <= tokens
    assert given.messages[0]["content"].startswith("Look.\n")


def test_a_transcript_file_is_given_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "s.jsonl").write_text('{"role": "user", "content": "Hi"}\n{"role": "assistant", "content": "Yes?"}\n')
    given = made("  s.jsonl", tmp_path)
    assert [m["content"] for m in given.messages] == ["Hi", "Yes?"]


def test_a_message_of_any_form_can_be_written_out() -> None:
    given = made("- {id: odd, message: {role: user, content: [{type: text, text: Hi}], custom: 1}, meta: {pin: true}}")
    assert given.messages == [{"role": "user", "content": [{"type": "text", "text": "Hi"}], "custom": 1}]
    assert given.meta == [{"pin": True}]


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ("- {text: Hi}", "this message has no `role`"),
        ("- {role: user, tool: bash, text: x}", "`tool` does not go with `role: user`"),
        ("- {role: user, calls: [{tool: bash}]}", "`calls` does not go with `role: user`"),
        ("- {role: user, text: A long text that is more than that., tokens: 5}", "more than 5"),
        ("- {message: {role: user, content: x}, text: y}", "`text` does not go with `message`"),
        ("  nothing.jsonl", "nothing.jsonl: no such file"),
    ],
)
def test_what_cannot_be_made_is_said(given: str, says: str) -> None:
    with pytest.raises(Misstated, match=says):
        made(given)


# ---- what expect compares ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "expect",
    [
        "{messages: [{id: task, fate: pinned, by: task}]}",
        "{messages: [{index: 0, fate: [pinned, live]}, {index: -1, fate: kept}]}",
        "{messages: [{id: old, index: [0, 1], fate: evicted, by: drop, tokens: 0}]}",
        "{messages: [{id: old, index: 0, says: earlier turns left out, lacks: lorem}]}",
        "{counts: {evicted: {gte: 6}, masked: 0}}",
        "{events: [{rule: drop, fired: true, why: evicted, messages: {gte: 6}, gain: {gt: 100}, failed: false}]}",
        "{events: [{rule: shrink, fired: false, why: [DECLINED, no summariser]}]}",
        "{usage: {fits: true, pressure: {lt: 0.7}, tokens: {lt: 700}, before: {gt: 900}}}",
        "{sent: {unchanged: false, contains: [Port the parser.], lacks: NOTHING, messages: {lt: 22}}}",
        "{asked: {times: 0}}",
        "{restore: exact}",
    ],
)
def test_what_holds_passes(tmp_path: Path, expect: str) -> None:
    assert fault(tmp_path, expecting(expect)) == ""


@pytest.mark.parametrize(
    ("expect", "says"),
    [
        ("{messages: [{id: task, fate: evicted}]}", "message 0 (`task`) is pinned, not evicted"),
        ("{messages: [{id: task, by: marked}]}", "message 0 (`task`) was decided by task, not marked"),
        ("{messages: [{id: old, fate: kept}]}", "message 2 (`old`) is evicted, not kept; so are"),
        ("{messages: [{index: 0, tokens: {gt: 50}}]}", "message 0 (`task`) has tokens 8, not > 50"),
        ("{messages: [{index: 99, fate: kept}]}", "there is no message 99 among 22; the first is 0"),
        ("{messages: [{id: old, index: 0, says: lorem}]}", "'lorem' does not stand in place of message 2; there is '["),
        ("{messages: [{id: task, lacks: parser}]}", "'parser' stands in place of message 0"),
        ("{counts: {evicted: 0}}", "messages evicted: "),
        ("{events: [{rule: drop, fired: false}]}", "drop acted: evicted"),
        ("{events: [{rule: cap, fired: true}]}", "cap did not act: it has no event"),
        ("{events: [{rule: drop, why: for lack of room}]}", "drop does not say 'for lack of room': evicted"),
        ("{events: [{rule: drop, messages: 1}]}", "messages of drop: "),
        ("{events: [{rule: drop, failed: true}]}", "drop: nothing went wrong"),
        ("{usage: {fits: false}}", "the list fits: "),
        ("{usage: {pressure: {gt: 0.9}}}", "not > 0.9"),
        ("{sent: {unchanged: true}}", "the list is sent changed by drop"),
        ("{sent: {contains: NOTHING}}", "'NOTHING' does not stand in the list that is sent"),
        ("{sent: {messages: 5}}", "messages sent: "),
        ("{asked: {times: 1}}", "requests to the summariser: 0, not 1"),
        ("{asked: {contains: x}}", "the summariser was not asked"),
        ("{refused: {by: too-big}}", "no message was refused"),
    ],
)
def test_what_does_not_hold_is_said_at_its_line(tmp_path: Path, expect: str, says: str) -> None:
    told = fault(tmp_path, expecting(expect))
    assert says in told
    assert told.startswith("p.test.yaml:8: ")


def test_a_failure_explains_the_message_it_is_about(tmp_path: Path) -> None:
    told = fault(tmp_path, expecting("{messages: [{id: task, fate: evicted}]}"))
    assert "task: protects it  (p.yaml:5)" in told
    assert "yes match oldest 1: number 1 from the oldest of 1 that match" in told


def test_a_failure_explains_the_rule_it_is_about(tmp_path: Path) -> None:
    told = fault(tmp_path, expecting("{events: [{rule: cap, fired: true}]}"))
    assert "tokens > 200: 0 of 10 messages" in told


def test_every_miss_is_told_and_each_thing_explained_once(tmp_path: Path) -> None:
    told = fault(tmp_path, expecting("{messages: [{id: task, fate: kept, by: marked}], usage: {fits: false}}"))
    assert told.count("p.test.yaml:8: ") == 3
    assert told.count("message 0: user") == 1


@pytest.mark.parametrize(
    ("expect", "says"),
    [
        ("{messages: [{id: tsk, fate: kept}]}", "there is no message `tsk`"),
        ("{messages: [{id: task, by: taks}]}", "did you mean `task`?"),
        ("{events: [{rule: task, fired: true}]}", "there is no rule `task`"),
        ("{refused: {by: to-big}}", "did you mean `too-big`?"),
        ("{message: [{id: task, fate: kept}]}", "did you mean `messages`?"),
        ("{messages: [{id: task, fate: evict}]}", "did you mean `evicted`?"),
        ("{usage: {fits: yes}}", "write `true`"),
    ],
)
def test_what_is_unknown_is_an_error_with_its_place(tmp_path: Path, expect: str, says: str) -> None:
    told = fault(tmp_path, expecting(expect))
    assert says in told
    assert "p.test.yaml:8:" in told
    assert "^" in told


@pytest.mark.parametrize("expect", ["{}", "{messages: [{id: task}]}"])
def test_a_case_that_asks_nothing_fails(tmp_path: Path, expect: str) -> None:
    assert "asks nothing" in fault(tmp_path, expecting(expect)) or "no assertion" in fault(tmp_path, expecting(expect))
    assert "this case has no assertion" in fault(tmp_path, LONG)


def test_two_cases_of_one_name(tmp_path: Path) -> None:
    (outcome,) = outcomes(tmp_path, expecting("{restore: exact}") * 2)
    assert "two cases are named `long`: the other stands in line 3" in outcome.faults[0]


# ---- summarisers, archives, steps, refusals ---------------------------------------------------------------------


def test_replies_come_in_turn_and_then_fail(tmp_path: Path) -> None:
    cases = LONG + "    summaries: [All is read.]\n    expect: {asked: {times: 1}, sent: {contains: All is read.}}\n"
    assert fault(tmp_path, cases) == ""
    cases = (
        LONG + "    summaries: []\n    expect: {events: [{rule: shrink, failed: true, why: no reply left after 0}]}\n"
    )
    assert fault(tmp_path, cases) == ""


@pytest.mark.parametrize(
    ("reply", "why"),
    [
        ("{text: All is, finish_reason: length}", "cut off"),
        ("{fails: no network}", "no network"),
        ("''", "blank"),
    ],
)
def test_a_reply_that_goes_wrong(tmp_path: Path, reply: str, why: str) -> None:
    events = f"[{{rule: shrink, fired: false, failed: true, why: {why}}}]"
    assert fault(tmp_path, LONG + f"    summaries: [{reply}]\n    expect: {{events: {events}}}\n") == ""


def test_extract_needs_no_replies(tmp_path: Path) -> None:
    assert fault(tmp_path, LONG + "    summaries: extract\n    expect: {asked: {times: {gte: 1}}}\n") == ""


def test_an_archive_that_cannot_be_written(tmp_path: Path) -> None:
    assert fault(tmp_path, LONG + "    archive: fails\n    expect: {sent: {unchanged: true}, restore: exact}\n") == ""


def test_steps_carry_the_state_on(tmp_path: Path) -> None:
    cases = """\
  - name: steps
    summaries: [All is read.]
    steps:
      - given:
          - {role: user, text: Port it.}
          - {tool: bash, id: old, tokens: 90, repeat: 8}
          - {role: assistant, text: Yes.}
        expect: {asked: {times: 1}, messages: [{id: old, index: 0, fate: compacted}]}
      - given: [{role: user, id: now, text: Go on.}]
        expect:
          asked: {times: 0}
          messages: [{id: old, index: 0, fate: compacted}, {id: now, fate: live}]
          restore: exact
"""
    assert fault(tmp_path, cases) == ""


def test_a_refused_message(tmp_path: Path) -> None:
    cases = """\
  - name: refused
    given: [{role: user, text: Port it.}, {role: user, id: big, tokens: 1000}]
    expect: {refused: {id: big, by: too-big, says: cannot be sent}}
"""
    assert fault(tmp_path, cases) == ""
    wrong = cases.replace("id: big, by", "index: 0, by")
    assert "message 1 was refused, not 0" in fault(tmp_path, wrong)
    unexpected = cases.replace("{refused: {id: big, by: too-big, says: cannot be sent}}", "{restore: exact}")
    assert "rule too-big refused a message" in fault(tmp_path, unexpected)


def test_a_window_of_its_own(tmp_path: Path) -> None:
    assert fault(tmp_path, LONG + "    window: 9000\n    expect: {sent: {unchanged: true}}\n") == ""
    tools = LONG.replace("repeat: 10", "repeat: 2") + "    tools_tokens: 980\n    expect: {usage: {fits: false}}\n"
    assert fault(tmp_path, tools) == ""


def test_the_policys_own_summariser_is_never_called(tmp_path: Path) -> None:
    policy = POLICY + "summarizer: 'command:false'\n"
    events = "[{rule: shrink, fired: false, why: no summariser is set}]"
    assert fault(tmp_path, LONG + f"    expect: {{events: {events}}}\n", policy) == ""


def test_an_invalid_policy_fails_the_file_with_its_report(tmp_path: Path) -> None:
    told = fault(tmp_path, expecting("{restore: exact}"), POLICY.replace("evict:", "evikt:"))
    assert "unknown key `evikt`" in told


# ---- the schema -------------------------------------------------------------------------------------------------


def test_the_schema_is_one_and_closed() -> None:
    from jsonschema import Draft7Validator

    schema = json.loads(policy_test_schema_file().read_text())
    Draft7Validator.check_schema(schema)
    objects = [schema, *schema["definitions"].values()]
    assert all(body.get("additionalProperties") is False for body in objects if "properties" in body)
    assert all(
        "description" in part for body in objects for part in body.get("properties", {}).values() if "$ref" not in part
    )


def test_the_default_policys_tests_are_valid_by_any_reader() -> None:
    from jsonschema import Draft7Validator

    schema = json.loads(policy_test_schema_file().read_text())
    file = policy_test_schema_file().parents[1] / "policies" / "default.test.yaml"
    Draft7Validator(schema).validate(yaml.safe_load(file.read_text()))
