"""Recorded HTTP exchanges of each provider's API: bodies, streams, packed bodies, and what is no model call."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from ctxpolicy.logs import Session, Usage
from ctxpolicy.logs.bedrock import block

from .reading import everything, pairs, roles
from .samples import exchange, stream

USER = {"role": "user", "content": "fix it"}
CALL = {"id": "c1", "type": "function", "function": {"name": "ls", "arguments": "{}"}}
OPENAI = "https://api.openai.com/v1/chat/completions"


def session_of(tmp_path: Path, *exchanges: Any) -> Session:
    (session,) = sessions_of(tmp_path, *exchanges)
    return session


def sessions_of(tmp_path: Path, *exchanges: Any) -> list[Session]:
    path = tmp_path / "c.yaml"
    path.write_text(yaml.safe_dump({"interactions": list(exchanges), "version": 1}))
    return everything(path)[1]


def test_growing_requests_are_one_conversation(tmp_path: Path) -> None:
    first = {"role": "assistant", "content": None, "tool_calls": [CALL]}
    second = [USER, first, {"role": "tool", "tool_call_id": "c1", "content": "a.py"}]
    usage = {"prompt_tokens": 10, "completion_tokens": 3, "prompt_tokens_details": {"cached_tokens": 4}}
    session = session_of(
        tmp_path,
        exchange(
            OPENAI,
            {"messages": [USER], "tools": [{"type": "function"}]},
            {"choices": [{"message": first}], "usage": usage},
        ),
        exchange(OPENAI, {"messages": second}, {"choices": [{"message": {"role": "assistant", "content": "done"}}]}),
    )
    assert session.format == "openai-chat"
    assert roles(session) == ["user", "assistant", "tool", "assistant"]
    assert session.usage == [Usage(1, 10, 3, 4)]


def test_equal_requests_stay_apart_unless_the_first_got_no_answer(tmp_path: Path) -> None:
    failed = exchange(OPENAI, {"messages": [USER]}, {"error": {"code": 429}})
    answered = exchange(OPENAI, {"messages": [USER]}, {"choices": [{"message": {"role": "assistant", "content": "a"}}]})
    assert [len(s.messages) for s in sessions_of(tmp_path, answered, answered)] == [2, 2]
    assert [len(s.messages) for s in sessions_of(tmp_path, failed, answered)] == [2]


def test_chat_stream(tmp_path: Path) -> None:
    def piece(**delta: Any) -> dict[str, Any]:
        return {"choices": [{"delta": delta}]}

    body = stream(
        piece(role="assistant", content="lo"),
        piece(content="ok", tool_calls=[{"index": 0, "id": "c1", "function": {"name": "ls", "arguments": '{"a"'}}]),
        piece(tool_calls=[{"index": 0, "function": {"arguments": ": 1}"}}]),
        {"choices": [], "usage": {"prompt_tokens": 7, "completion_tokens": 2}},
    )
    session = session_of(tmp_path, exchange(OPENAI, {"messages": [USER]}, body))
    called = {"id": "c1", "type": "function", "function": {"name": "ls", "arguments": '{"a": 1}'}}
    assert session.messages[1] == {"role": "assistant", "content": "look", "tool_calls": [called]}
    assert session.usage == [Usage(1, 7, 2)]


def test_anthropic_stream(tmp_path: Path) -> None:
    body = stream(
        {
            "type": "message_start",
            "message": {"usage": {"input_tokens": 5, "cache_read_input_tokens": 90, "output_tokens": 1}},
        },
        {"type": "content_block_start", "index": 0, "content_block": {"type": "thinking", "thinking": ""}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "thinking_delta", "thinking": "hm"}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "signature_delta", "signature": "sig"}},
        {
            "type": "content_block_start",
            "index": 1,
            "content_block": {"type": "tool_use", "id": "c1", "name": "ls", "input": {}},
        },
        {"type": "content_block_delta", "index": 1, "delta": {"type": "input_json_delta", "partial_json": '{"a":'}},
        {"type": "content_block_delta", "index": 1, "delta": {"type": "input_json_delta", "partial_json": "1}"}},
        {"type": "message_delta", "usage": {"output_tokens": 22}},
    )
    sent = {"system": "Be brief.", "messages": [USER], "tools": [{"name": "ls"}]}
    session = session_of(tmp_path, exchange("https://api.anthropic.com/v1/messages?beta=true", sent, body))
    assert session.format == "anthropic"
    assert (session.system, session.tools) == ("Be brief.", [{"name": "ls"}])
    assert session.messages[1]["content"] == [
        {"type": "thinking", "thinking": "hm", "signature": "sig"},
        {"type": "tool_use", "id": "c1", "name": "ls", "input": {"a": 1}},
    ]
    assert session.usage == [Usage(1, 95, 22, 90)]


def test_responses_that_name_the_one_before(tmp_path: Path) -> None:
    address = "https://api.openai.com/v1/responses"
    call = {"type": "function_call", "call_id": "c1", "name": "ls", "arguments": "{}"}
    output = {"type": "function_call_output", "call_id": "c1", "output": "a.py"}
    done = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "done"}]}
    session = session_of(
        tmp_path,
        exchange(
            address,
            {"input": "fix it", "instructions": "s"},
            {"id": "r1", "output": [call], "usage": {"input_tokens": 5, "output_tokens": 1}},
        ),
        exchange(
            address,
            {"input": [output], "previous_response_id": "r1"},
            stream({"type": "response.completed", "response": {"output": [done]}}),
        ),
    )
    assert session.format == "openai-responses"
    assert roles(session) == ["user", "assistant", "tool", "assistant"]
    assert pairs(session) == (["c1"], ["c1"])
    assert session.usage == [Usage(1, 5, 1)]


def test_gemini_stream(tmp_path: Path) -> None:
    def chunk(text: str, **more: Any) -> dict[str, Any]:
        return {"candidates": [{"content": {"role": "model", "parts": [{"text": text}]}}], **more}

    sent = {
        "contents": [{"role": "user", "parts": [{"text": "fix it"}]}],
        "systemInstruction": {"parts": [{"text": "s"}]},
    }
    body = stream(
        chunk("do"),
        chunk("ne", usageMetadata={"promptTokenCount": 9, "candidatesTokenCount": 2, "thoughtsTokenCount": 3}),
    )
    address = "https://generativelanguage.googleapis.com/v1beta/models/g:streamGenerateContent"
    session = session_of(tmp_path, exchange(address, sent, body))
    assert session.format == "gemini"
    assert session.messages[1]["parts"] == [{"text": "do"}, {"text": "ne"}]
    assert session.usage == [Usage(1, 9, 5)]


def test_bedrock_is_read_as_anthropic(tmp_path: Path) -> None:
    sent = {
        "messages": [
            {"role": "user", "content": [{"text": "fix it"}]},
            {"role": "assistant", "content": [{"toolUse": {"toolUseId": "c1", "name": "ls", "input": {}}}]},
            {
                "role": "user",
                "content": [{"toolResult": {"toolUseId": "c1", "content": [{"json": {"a": 1}}], "status": "error"}}],
            },
        ],
        "system": [{"text": "s"}],
        "toolConfig": {"tools": [{"toolSpec": {"name": "ls", "inputSchema": {"json": {"type": "object"}}}}]},
    }
    got = {
        "output": {"message": {"role": "assistant", "content": [{"text": "done"}]}},
        "usage": {"inputTokens": 8, "outputTokens": 1},
    }
    session = session_of(
        tmp_path, exchange("https://bedrock-runtime.us-east-1.amazonaws.com/model/m/converse", sent, got)
    )
    assert session.format == "anthropic"
    assert pairs(session) == (["c1"], ["c1"])
    assert session.messages[2]["content"][0]["is_error"] is True
    assert session.tools == [{"name": "ls", "input_schema": {"type": "object"}}]
    assert session.usage == [Usage(3, 8, 1)]


@pytest.mark.parametrize(
    ("wire", "made"),
    [
        (
            {"image": {"format": "png", "source": {"bytes": "AA"}}},
            {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AA"}},
        ),
        (
            {"reasoningContent": {"reasoningText": {"text": "hm", "signature": "s"}}},
            {"type": "thinking", "thinking": "hm", "signature": "s"},
        ),
        ({"reasoningContent": {"redactedContent": "zz"}}, {"type": "redacted_thinking", "data": "zz"}),
        ({"cachePoint": {"kind": "default"}}, {"type": "cachePoint", "kind": "default"}),
    ],
)
def test_bedrock_blocks(wire: Any, made: Any) -> None:
    assert block(wire) == made


def test_packed_bodies_and_parsed_bodies(tmp_path: Path) -> None:
    answer = {"choices": [{"message": {"role": "assistant", "content": "done"}}]}
    packed = exchange(OPENAI, {"messages": [USER]}, gzip.compress(json.dumps(answer).encode()))
    parsed = {"request": {"uri": OPENAI, "parsed_body": {"messages": [USER]}}, "response": {"parsed_body": answer}}
    for one in (packed, parsed):
        assert roles(session_of(tmp_path, one)) == ["user", "assistant"]


def test_what_is_no_model_call_is_counted(tmp_path: Path) -> None:
    path = tmp_path / "c.json"
    exchanges = [
        exchange("https://api.openai.com/v1/embeddings", {"input": "x"}, {}),
        exchange(OPENAI, {"messages": [USER]}, {}),
    ]
    path.write_text(json.dumps({"interactions": exchanges}))
    log, sessions = everything(path)
    assert len(sessions) == 1
    assert log.skipped == {"exchange:POST api.openai.com/v1/embeddings": 1}


def test_har(tmp_path: Path) -> None:
    sent = {"url": OPENAI, "method": "POST", "postData": {"text": json.dumps({"messages": [USER]})}}
    answer = json.dumps({"choices": [{"message": {"role": "assistant", "content": "done"}}]})
    path = tmp_path / "c.har"
    path.write_text(json.dumps({"log": {"entries": [{"request": sent, "response": {"content": {"text": answer}}}]}}))
    assert roles(everything(path)[1][0]) == ["user", "assistant"]
