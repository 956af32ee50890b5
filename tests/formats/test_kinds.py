"""Every kind of turn under every action: what comes out is as valid as what went in, whole, and can be put back."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

import pytest

from ctxpolicy import formats
from ctxpolicy.api import Policy
from ctxpolicy.archive.restoring import restore
from ctxpolicy.lint import level_of, lint
from ctxpolicy.policy.model import Archive, Budget, Evict, Mask, Match, Rule, Spec, Truncate

from .kinds import ANTHROPIC, KINDS, RESPONSES, history
from .policies import PARTS, pressure, tiny
from .sdk import judge

ANY = Match(role=("tool", "user", "assistant"))
CASES = [(name, kind) for name, kinds in KINDS.items() for kind in kinds]
CALLS = ("OAC-13", "GEM-08")  # reasoning that the running turn must keep: only some models refuse, so a route


def one(rule: Rule, window: int = 3000) -> Policy:
    """A policy of one rule, which leaves in the list what it changed."""
    return Policy(Spec("one", Budget(window, counter="chars"), rules=(rule,), archive=Archive(None)))


POLICIES = {
    **{f"mask {part}": one(Rule("m", "send", Mask(parts=(part,)), match=ANY)) for part in PARTS},
    "mask all": one(Rule("m", "send", Mask(parts=PARTS), match=ANY)),
    "cap": one(Rule("t", "append", Truncate(max_tokens=61), match=Match(role=("tool",)))),
    "evict": one(Rule("e", "send", Evict(until=pressure(lt=0.6)), when=pressure(gt=0.9)), 1200),
    "tiny": tiny(300),
    "small": tiny(1500),
}


def refused(messages: list[Any], name: str) -> Counter[str]:
    found = lint(messages, name)
    return Counter(fault.code for fault in found if level_of(fault, name) != "route" or fault.code in CALLS)


def constructs(messages: list[Any], name: str) -> bool:
    """True where the provider's package takes the list; it does not know what is in beta or made up."""
    try:
        judge(name)(messages)
    except ValueError:
        return False
    return True


@pytest.mark.parametrize(("name", "kind"), CASES)
def test_valid_whole_and_restorable(name: str, kind: str) -> None:
    messages = history(name, kind)
    before, known, given = refused(messages, name), constructs(messages, name), json.dumps(messages)
    acted = False
    for policy in POLICIES.values():
        result = policy.apply(messages, format=name, summarize=lambda _: "A note.")
        assert json.dumps(messages) == given
        assert not refused(result.messages, name) - before
        assert constructs(result.messages, name) is known or not known
        assert not [event for event in result.events if "odd input" in event.reason or "step failed" in event.reason]
        assert restore(result.messages, result.removed) == messages
        acted = acted or bool(result.removed)
    assert acted


@pytest.mark.parametrize(("name", "kind"), CASES)
def test_unknown_fields_stay_where_a_message_stays(name: str, kind: str) -> None:
    messages = [{**message, "x_trace": n} for n, message in enumerate(history(name, kind))]
    for policy in ("mask all", "cap"):
        result = POLICIES[policy].apply(messages, format=name)
        assert [message["x_trace"] for message in result.messages] == list(range(len(messages)))


@pytest.mark.parametrize(
    ("name", "kind", "parts"),
    [
        ("anthropic", "thinking", {"reasoning", "results"}),
        ("anthropic", "redacted thinking", {"reasoning", "results"}),
        ("anthropic", "documents", {"media"}),
        ("openai-chat", "function", {"arguments", "results"}),
        ("openai-chat", "custom tool", {"arguments", "results"}),
        ("openai-chat", "reasoning", {"reasoning", "results"}),
        ("openai-responses", "parallel", {"arguments", "results"}),
        ("openai-responses", "shell", {"results"}),
        ("openai-responses", "computer", set()),  # a screenshot has no place for words
        ("gemini", "signed calls", {"arguments", "results", "reasoning"}),
        ("gemini", "signed words", {"reasoning"}),
        ("gemini", "media", {"media"}),
    ],
)
def test_what_can_be_masked(name: str, kind: str, parts: set[str]) -> None:
    messages = history(name, kind)
    acted = {part for part in PARTS if POLICIES[f"mask {part}"].apply(messages, format=name).removed}
    assert acted == parts


def test_signatures_of_calls_stay_when_thoughts_are_masked() -> None:
    """Gemini asks for those of the running turn; the thoughts themselves may go."""
    messages = history("gemini", "signed calls")
    result = POLICIES["mask reasoning"].apply(messages, format="gemini")
    assert json.dumps(result.messages).count("thoughtSignature") == json.dumps(messages).count("thoughtSignature")
    assert json.dumps(result.messages).count('"thought": true') < json.dumps(messages).count('"thought": true')


def test_the_late_results_of_two_server_tools_are_two_messages() -> None:
    asked, answered = ANTHROPIC["two server tools answered later"](0)
    view = formats.get("anthropic")
    (seen,) = view.read(asked, 0)
    parts = view.read(answered, 1)
    assert [call.id for call in seen.calls] == [part.result_of for part in parts]
    assert [part.text for part in parts] == ["", "Late."]
    assert view.join(parts) == [answered]


def test_what_a_shell_printed_is_its_text() -> None:
    output = RESPONSES["shell"](0)[1]
    output["output"].append({"stdout": "", "stderr": "no such file", "outcome": {"type": "exit", "exit_code": 2}})
    view = formats.get("openai-responses")
    (seen,) = view.read(output, 0)
    assert seen.text == output["output"][0]["stdout"] + "no such file"
    cut = view.with_text(output, "cut")
    assert [(part["stdout"], part["stderr"]) for part in cut["output"]] == [("cut", ""), ("", "")]
    assert [part["outcome"] for part in cut["output"]] == [part["outcome"] for part in output["output"]]


@pytest.mark.parametrize("kind", RESPONSES)
def test_results_made_for_calls_are_ones_that_openai_takes(kind: str) -> None:
    view = formats.get("openai-responses")
    items = [(item, part) for item in RESPONSES[kind](0) for part in view.read(item, 0)]
    made = [(item, view.result(part, call, "none")) for item, part in items for call in part.calls]
    for item, result in made:
        assert not refused([item, result], "openai-responses") - Counter(["OAR-04"])
        judge("openai-responses")([result])
    assert bool(made) is any(part.calls for _, part in items)
