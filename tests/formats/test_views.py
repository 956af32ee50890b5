"""What the rules see of a wire message, format by format, and the changed copies that a format writes."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings

from ctxpolicy import MessageTooLarge, formats
from ctxpolicy.api import Policy
from ctxpolicy.archive.restoring import restore
from ctxpolicy.formats.detect import detect
from ctxpolicy.messages import Call, Message
from ctxpolicy.policy.model import Archive, Budget, Compare, Match, Refuse, Rule, Spec

from .histories import FORMATS, histories, write
from .policies import tiny

anthropic, gemini, responses = (formats.get(name) for name in ("anthropic", "gemini", "openai-responses"))
RESULT_A = {"type": "tool_result", "tool_use_id": "a", "content": "first"}
RESULT_B = {
    "type": "tool_result",
    "tool_use_id": "b",
    "content": [{"type": "text", "text": "second"}],
    "is_error": True,
}
WORDS = {"type": "text", "text": "and now?", "cache_control": {"type": "ephemeral"}}
MIXED = {"role": "user", "content": [RESULT_A, RESULT_B, WORDS]}


@pytest.mark.parametrize("name", FORMATS)
@settings(max_examples=50, deadline=None)
@given(histories())
def test_reading_and_joining_gives_the_same_objects(name: str, turns: list[Any]) -> None:
    messages = write(turns, name)
    view = formats.get(name)
    seen = [part for index, wire in enumerate(messages) for part in view.read(wire, index)]
    assert all(a is b for a, b in zip(view.join(seen), messages, strict=True))
    assert detect(messages) in (name, "openai-chat")


class TestAnthropic:
    def test_results_and_words_of_one_message_are_several(self) -> None:
        a, b, words = anthropic.read(MIXED, 4)
        assert [(m.role, m.text, m.result_of, m.part, m.parts, m.index) for m in (a, b, words)] == [
            ("tool", "first", "a", 0, 3, 4),
            ("tool", "second", "b", 1, 3, 4),
            ("user", "and now?", None, 2, 3, 4),
        ]
        assert "error" in b.has
        assert a.origin is MIXED
        assert anthropic.join([a, b]) == [{"role": "user", "content": [RESULT_A, RESULT_B]}]
        assert anthropic.join([words]) == [{"role": "user", "content": [WORDS]}]

    def test_the_same_object_twice_is_two_messages(self) -> None:
        seen = [*anthropic.read(MIXED, 0), *anthropic.read(MIXED, 1)]
        assert anthropic.join(seen) == [MIXED, MIXED]

    def test_calls_thinking_and_what_is_not_known(self) -> None:
        blocks = [
            {"type": "thinking", "thinking": "hm", "signature": "sig"},
            {"type": "text", "text": "Look."},
            {"type": "tool_use", "id": "a", "name": "look", "input": {"n": 1}},
            {"type": "hologram", "data": "x" * 40},
        ]
        (seen,) = anthropic.read({"role": "assistant", "content": blocks}, 0)
        assert seen.text == "Look."
        assert seen.calls == (Call("a", "look", '{"n":1}'),)
        assert seen.has == {"reasoning", "signed", "tool_call"}
        assert "x" * 40 in seen.extra[-1]

    def test_a_server_tool_waits_only_for_what_is_not_there(self) -> None:
        use = {"type": "server_tool_use", "id": "s", "name": "web_search", "input": {}}
        result = {"type": "web_search_tool_result", "tool_use_id": "s", "content": []}
        (both,) = anthropic.read({"role": "assistant", "content": [use, result]}, 0)
        assert (both.calls, both.result_of) == ((), None)
        (asked,), (answered,) = (anthropic.read({"role": "assistant", "content": [b]}, 0) for b in (use, result))
        assert [call.id for call in asked.calls] == ["s"]
        assert answered.result_of == "s"

    def test_a_document_of_text_counts_as_text_a_picture_at_its_flat_cost(self) -> None:
        document = {"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": "word " * 100}}
        image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "A" * 4000}}
        (seen,) = anthropic.read({"role": "user", "content": [document, image]}, 0)
        assert seen.media == (("image", 1),)
        assert len(seen.extra[0]) > 500
        assert not any("AAAA" in text for text in seen.extra)

    def test_changed_copies(self) -> None:
        (result,) = anthropic.read({"role": "user", "content": [RESULT_B]}, 0)
        assert anthropic.with_text(result.wire, "cut")["content"] == [
            {**RESULT_B, "content": [{"type": "text", "text": "cut"}]}
        ]
        call = {"type": "tool_use", "id": "a", "name": "look", "input": {"n": 1}, "caller": {"type": "direct"}}
        server = {"type": "server_tool_use", "id": "s", "name": "x", "input": {"q": 1}}
        masked = anthropic.with_arguments({"role": "assistant", "content": [server, call]}, ['{"left_out": "x"}', ""])
        assert masked["content"] == [server, {**call, "input": {"left_out": "x"}}]
        thought = {"type": "redacted_thinking", "data": "x"}
        only = {"role": "assistant", "content": [thought]}
        assert anthropic.without(only, frozenset(["reasoning"]), "") is only


class TestResponses:
    def test_one_turn_is_several_items(self) -> None:
        items = [
            {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "gAAA"},
            {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Look."}]},
            {"type": "custom_tool_call", "call_id": "k", "name": "shell", "input": "ls"},
            {"type": "local_shell_call", "id": "l", "call_id": "m", "action": {"command": ["ls"]}},
        ]
        seen = [message for n, item in enumerate(items) for message in responses.read(item, n)]
        assert [m.role for m in seen] == ["assistant"] * 4
        assert all(message.follows for message in seen)
        assert seen[0].has == {"reasoning"}
        assert seen[2].calls == (Call("k", "shell", "ls"),)
        assert seen[3].calls == (Call("m", "local_shell", '{"command":["ls"]}'),)

    def test_outputs_and_what_is_not_known(self) -> None:
        (output,) = responses.read({"type": "function_call_output", "call_id": "k", "output": "fine"}, 0)
        assert (output.role, output.text, output.result_of) == ("tool", "fine", "k")
        (shell,) = responses.read({"type": "shell_call_output", "call_id": "k", "output": [{"stdout": "x"}]}, 0)
        assert responses.with_text(shell.wire, "cut") is shell.wire
        (other,) = responses.read({"type": "hologram", "data": "x" * 40}, 0)
        assert "x" * 40 in other.extra[0]
        (stored,) = responses.read({"type": "compaction", "encrypted_content": "x"}, 0)
        assert not stored.follows


class TestGemini:
    def test_a_response_is_an_object_before_and_after(self) -> None:
        for response, text in (({"output": "one"}, "one"), ({"a": 1, "b": 2}, '{"a":1,"b":2}')):
            wire = {"role": "user", "parts": [{"functionResponse": {"name": "look", "id": "7", "response": response}}]}
            (seen,) = gemini.read(wire, 0)
            assert (seen.role, seen.text, seen.result_of, seen.name) == ("tool", text, "look", "look")
            cut = gemini.with_text(wire, "cut")["parts"][0]["functionResponse"]
            assert cut["id"] == "7"
            assert isinstance(cut["response"], dict)
            assert gemini.read(gemini.with_text(wire, "cut"), 0)[0].text == "cut"

    def test_snake_case_of_the_sdk(self) -> None:
        part = {"function_call": {"name": "look", "args": {"n": 1}}, "thought_signature": "c2ln"}
        (seen,) = gemini.read({"role": "model", "parts": [part]}, 0)
        assert seen.calls == (Call("look", "look", '{"n":1}'),)
        (seen,) = gemini.read({"parts": [{"inline_data": {"mime_type": "audio/wav", "data": "x"}}]}, 0)
        assert seen.media == (("audio", 1),)

    def test_two_calls_of_a_name_in_two_contents_are_one_turn(self) -> None:
        call = {"role": "model", "parts": [{"functionCall": {"name": "look", "args": {}}}]}
        result = {"functionResponse": {"name": "look", "response": {"result": "steady " * 200}}}
        step = [call, call, {"role": "user", "parts": [result, result]}]
        messages = [{"role": "user", "parts": [{"text": "Go."}]}, *step * 4]
        made = tiny(300, 100_000).apply(messages, format="gemini")
        assert not [event for event in made.events if "odd" in event.reason]
        assert (len(made.messages) - 2) % 3 == 0
        assert restore(made.messages, made.removed) == messages


def _refusing() -> Policy:
    big = Match(role=("tool",), tokens=Compare(gt=50))
    return Policy(
        Spec("r", Budget(1000, counter="chars"), rules=(Rule("big", "append", Refuse(), big),), archive=Archive(None))
    )


def test_the_replacement_of_a_refused_result_keeps_what_stood_beside_it() -> None:
    window = _refusing().window(format="anthropic", archive=False)
    calls = [{"type": "tool_use", "id": i, "name": "look", "input": {}} for i in ("a", "b")]
    window.append({"role": "user", "content": "Go."})
    window.append({"role": "assistant", "content": calls})
    big = {"role": "user", "content": [{**RESULT_A, "content": "x" * 900}, RESULT_B, WORDS]}
    with pytest.raises(MessageTooLarge) as refused:
        window.append(big)
    instead = refused.value.replacement
    assert instead["content"][1:] == [RESULT_B, WORDS]
    assert instead["content"][0]["tool_use_id"] == "a"
    window.append(instead)
    assert len(window.prepare()) == 3


@pytest.mark.parametrize("name", FORMATS)
def test_results_for_calls_answer_them(name: str) -> None:
    view = formats.get(name)
    messages = write([], name)
    call = {
        "openai-chat": {"role": "assistant", "tool_calls": [{"id": "k", "function": {"name": "f", "arguments": "{}"}}]},
        "anthropic": {"role": "assistant", "content": [{"type": "tool_use", "id": "k", "name": "f", "input": {}}]},
        "openai-responses": {"type": "custom_tool_call", "call_id": "k", "name": "f", "input": ""},
        "gemini": {"role": "model", "parts": [{"functionCall": {"id": "k", "name": "f", "args": {}}}]},
    }[name]
    (asked,) = view.read(call, 0)
    (told,) = view.read(view.result(asked, asked.calls[0], "none"), 1)
    assert isinstance(told, Message)
    assert (told.role, told.text, told.result_of) == ("tool", "none", asked.calls[0].id)
    assert messages == []


def test_a_system_text_beside_the_list_is_counted() -> None:
    plain = tiny(1000).apply([{"role": "user", "content": "Go."}], format="anthropic")
    more = tiny(1000).apply([{"role": "user", "content": "Go."}], format="anthropic", system="Be kind. " * 40)
    assert more.usage.before["total"] - plain.usage.before["total"] == 90
    assert more.usage.before["system"] == 90
    assert more.usage.tools == 0
