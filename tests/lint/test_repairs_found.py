"""Repairs of what is rare on the wire: calls that the provider runs, late results, calls without an id."""

from __future__ import annotations

import json
from typing import Any

import pytest

import ctxpolicy
from ctxpolicy.lint import level_of, lint
from ctxpolicy.lint.fix import fix

from .golden import HI, answer, asks, call, function, output, result, said, tells, text, turn, use

QUIET = "version: 1\nname: quiet\nbudget: {window: 100000}\nrules: []\n"
SEARCHED: dict[str, Any] = {"type": "tool_search_output", "call_id": None, "execution": "server", "tools": []}
REASONED: dict[str, Any] = {"type": "reasoning", "id": "rs_1", "summary": []}


def served(kind: str = "server_tool_use", call_id: str = "srvtoolu_1") -> dict[str, Any]:
    return {"type": kind, "id": call_id, "name": "code_execution", "input": {}}


def ran(call_id: str = "srvtoolu_1") -> dict[str, Any]:
    return {"type": "code_execution_tool_result", "tool_use_id": call_id, "content": []}


def search(call_id: str | None) -> dict[str, Any]:
    return {"type": "tool_search_call", "id": "tsc_1", "call_id": call_id, "execution": "server", "arguments": {}}


def errors(messages: list[Any], name: str) -> list[str]:
    return [fault.code for fault in lint(messages, name) if level_of(fault, name) == "error"]


SERVED = {
    "code that calls a client tool": ("anthropic", [
        HI, said("assistant", [served(), use("a")]), said("user", [result("a")]),
    ]),
    "code that calls two, one after the other": ("anthropic", [
        HI, said("assistant", [served(), use("a")]), said("user", [result("a")]),
        said("assistant", [use("b")]), said("user", [result("b")]),
    ]),
    "code that has called two": ("anthropic", [
        HI, said("assistant", [served(), use("a")]), said("user", [result("a")]),
        said("assistant", [use("b")]), said("user", [result("b")]), said("assistant", [ran(), text("Done")]), HI,
    ]),
    "a paused turn that the user broke off": ("anthropic", [HI, said("assistant", [text("Let me"), served()]), HI]),
    "MCP": ("anthropic", [HI, said("assistant", [served("mcp_tool_use"), use("a")]), said("user", [result("a")])]),
    "a tool search": ("openai-responses", [HI, search("s"), function("a"), output("a"), said("assistant", "Done")]),
    "a tool search without an id": ("openai-responses", [HI, search(None), SEARCHED, function("a"), output("a")]),
    "a shell of the provider": ("openai-responses", [
        HI, {"type": "shell_call", "call_id": "s", "action": {"commands": ["ls"]},
             "environment": {"type": "container_reference", "container_id": "c"}}, said("assistant", "Done"),
    ]),
}  # fmt: skip


@pytest.mark.parametrize("case", SERVED)
def test_what_the_provider_runs_is_never_answered_for_it(case: str) -> None:
    name, messages = SERVED[case]
    fixed = fix(messages, name)
    assert not fixed.repairs
    assert all(a is b for a, b in zip(fixed.messages, messages, strict=True))


def test_a_shell_of_the_client_is_answered() -> None:
    shell = {"type": "shell_call", "call_id": "s", "action": {"commands": ["ls"]}, "environment": {"type": "local"}}
    assert [repair.code for repair in fix([HI, shell, HI], "openai-responses").repairs] == ["OAR-01"]


def test_the_client_call_beside_one_of_the_server_is_answered() -> None:
    given = [HI, said("assistant", [served(), use("a"), use("b")]), said("user", [result("b")]), HI]
    fixed = fix(given, "anthropic")
    assert [block["tool_use_id"] for block in fixed.messages[2]["content"]] == ["b", "a"]
    assert not errors(fixed.messages, "anthropic")


def test_an_answer_stands_before_the_late_result_of_a_server_tool() -> None:
    late = said("assistant", [ran(), text("Done")])
    fixed = fix([HI, said("assistant", [served(), use("a"), use("b")]), said("user", [result("a")]), late, HI])
    assert [block["tool_use_id"] for block in fixed.messages[2]["content"]] == ["a", "b"]
    assert fixed.messages[3:] == [late, HI]


LATE = {
    "anthropic": [
        HI, said("assistant", [use("a"), use("b")]), said("user", [result("a")]),
        said("assistant", [text("Meanwhile")]), said("user", [result("b")]), said("assistant", "Done"), HI,
    ],
    "anthropic, after the late result of a server tool": [
        HI, said("assistant", [served(), use("a"), use("b")]), said("user", [result("a")]),
        said("assistant", [ran(), text("Meanwhile")]), said("user", [result("b")]), said("assistant", "Done"), HI,
    ],
    "gemini": [
        turn("user", {"text": "Hi"}), turn("model", asks("a"), asks("b")), turn("user", tells("a")),
        turn("model", {"text": "Meanwhile"}), turn("user", tells("b")), turn("model", {"text": "Done"}),
    ],
    "openai-responses": [
        HI, function("a"), function("b"), output("a"), REASONED, output("b"), said("assistant", "Done"), HI,
    ],
    "openai-chat": [HI, call("a", "b"), answer("a"), said("assistant", "Meanwhile"), answer("b"), HI],
}  # fmt: skip


@pytest.mark.parametrize("case", LATE)
def test_a_late_result_moves_to_its_call(case: str) -> None:
    name, given = case.partition(",")[0], LATE[case]
    fixed = fix(given, name)
    at = next(n for n, message in enumerate(given) if "Meanwhile" in json.dumps(message) or message is REASONED)
    assert [repair.index for repair in fixed.repairs] == [at + 1]
    assert fixed.messages == [*given[:at], given[at + 1], given[at], *given[at + 2 :]]
    assert not errors(fixed.messages, name)
    assert not fix(fixed.messages, name).repairs


@pytest.mark.parametrize("case", LATE)
def test_a_late_result_moves_whatever_else_is_broken(case: str) -> None:
    """A window looks at the end of a list alone, a first run and a resumed window at all of it."""
    name = case.partition(",")[0]
    orphan = {
        "anthropic": said("user", [result("zz")]), "gemini": turn("user", tells("zz")),
        "openai-responses": output("zz"), "openai-chat": answer("zz"),
    }[name]  # fmt: skip
    hello = turn("model", {"text": "Hello"}) if name == "gemini" else said("assistant", "Hello")
    given = [LATE[case][0], orphan, hello, *LATE[case]]
    policy = ctxpolicy.loads(QUIET)
    window = policy.window(format=name, repair=name, archive=False)
    for message in given:
        window.append(message)
        window.prepare()
    expected = [LATE[case][0], hello, *fix(LATE[case], name).messages]
    assert window.prepare() == expected
    assert policy.apply(given, format=name, repair=name).messages == expected
    resumed = policy.resume(window.dump(), format=name, repair=name, archive=False)
    assert resumed.prepare() == expected


NAMELESS = {
    "anthropic": [said("assistant", [use("a")]), said("user", [result("a")])],
    "openai-chat": [call("a"), answer("a")],
    "openai-responses": [function("a"), output("a")],
    "gemini": [turn("model", asks("a")), turn("user", tells("a"))],
}


PAIRS = [  # a Chat result with a null id is one of a legacy function
    (name, asked, answered)
    for name in NAMELESS
    for asked in (None, "")
    for answered in (None, "")
    if (name, answered) != ("openai-chat", None)
]


@pytest.mark.parametrize(("name", "asked", "answered"), PAIRS)
def test_calls_without_an_id_are_paired_in_any_writing(name: str, asked: str | None, answered: str | None) -> None:
    made, came = (
        json.loads(json.dumps(message).replace('"a"', json.dumps(call_id)))
        for message, call_id in zip(NAMELESS[name], (asked, answered), strict=True)
    )
    hi = turn("user", {"text": "Hi"}) if name == "gemini" else HI
    assert not fix([hi, made, came], name).repairs
    assert fix([hi, made, hi, came], name).messages == [hi, made, came, hi]
    assert fix([hi, made, hi], name).messages == [hi, made, hi]  # an id is never invented


def test_a_search_of_the_server_without_an_id_has_its_output_behind_it() -> None:
    given = [HI, search(None), HI, SEARCHED]
    assert fix(given, "openai-responses").messages == [HI, given[1], SEARCHED, HI]


@pytest.mark.parametrize("content", [5, {"type": "text", "text": "x"}, True])
def test_what_is_no_content_is_merged_with_nothing(content: Any) -> None:
    odd = said("user", content)
    for given in ([odd, said("user", [text("x")])], [HI, odd]):
        assert fix(given, "anthropic", strict=True).messages == given


def test_a_call_beside_the_late_result_of_a_server_tool_is_in_flight() -> None:
    given = [HI, said("assistant", [served(), use("a")]), said("user", [result("a")])]
    given += [said("assistant", [ran(), use("b")])]
    assert fix(given, "anthropic", strict=True).messages == given


def test_a_call_before_late_results_in_one_message_is_in_flight() -> None:
    given = [HI, said("assistant", [served(), served(call_id="srvtoolu_2"), use("a")]), said("user", [result("a")])]
    given += [said("assistant", [ran(), use("b"), ran("srvtoolu_2")])]
    assert fix(given, "anthropic", strict=True).messages == given


def test_what_waits_beside_a_call_in_flight_is_answered() -> None:
    given = [HI, said("assistant", [served(), use("a"), use("b")]), said("user", [result("a")])]
    given += [said("assistant", [ran(), use("c")])]
    fixed = fix(given, "anthropic").messages
    assert [block["tool_use_id"] for block in fixed[2]["content"]] == ["a", "b"]
    assert fixed[3:] == given[3:]
