"""For each rule one list in which it does not hold, with the place that must be named; the list without that fault is
sound. `code: (format, messages, (index, path), the request around them)`."""

from __future__ import annotations

from typing import Any

U, A = "user", "assistant"


def said(role: str, content: Any) -> dict[str, Any]:
    return {"role": role, "content": content}


def call(*ids: str, arguments: Any = "{}", name: str = "look") -> dict[str, Any]:
    made = [{"id": i, "type": "function", "function": {"name": name, "arguments": arguments}} for i in ids]
    return {"role": A, "content": None, "tool_calls": made}


def answer(call_id: str, content: Any = "fine") -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": call_id, "content": content}


def use(call_id: str, given: Any = None) -> dict[str, Any]:
    return {"type": "tool_use", "id": call_id, "name": "look", "input": {} if given is None else given}


def result(call_id: str, content: Any = "fine") -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": call_id, "content": content}


def text(words: str, **more: Any) -> dict[str, Any]:
    return {"type": "text", "text": words, **more}


def thinking(signature: str | None = "sig", words: str = "weigh") -> dict[str, Any]:
    return {"type": "thinking", "thinking": words, **({"signature": signature} if signature else {})}


def function(call_id: str, **more: Any) -> dict[str, Any]:
    return {"type": "function_call", "call_id": call_id, "name": "look", "arguments": "{}", **more}


def output(call_id: str) -> dict[str, Any]:
    return {"type": "function_call_output", "call_id": call_id, "output": "fine"}


def turn(role: str, *parts: Any) -> dict[str, Any]:
    return {"role": role, "parts": list(parts)}


def asks(name: str = "look", **more: Any) -> dict[str, Any]:
    return {"functionCall": {"name": name, "args": {}}, **more}


def tells(name: str = "look", response: Any = None) -> dict[str, Any]:
    return {"functionResponse": {"name": name, "response": {"result": "fine"} if response is None else response}}


HI = said(U, "Hi")
MARK = {"cache_control": {"type": "ephemeral"}}
HOUR = {"cache_control": {"type": "ephemeral", "ttl": "1h"}}
PARTS = {"text": "Hi"}
REASON = {"type": "reasoning", "id": "rs_1", "summary": []}
MCP = {"type": "mcp_approval_request", "id": "mcpr_1", "name": "x", "arguments": "{}", "server_label": "s"}
PAGES = {"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": "Grass is green."}}
CITED = text("Green.", citations=[{"type": "char_location", "cited_text": "Grass is green.", "document_index": 1}])
TOKEN = "gAAAAAB" + "q" * 91 + "=="  # as long as the shortest that OpenAI makes
IMAGE = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo=é"}}

Golden = tuple[str, list[Any], tuple[int, str], dict[str, Any]]

GOLDEN: dict[str, Golden] = {
    # every provider
    "X-00": ("openai-chat", [HI, {"role": "critic", "content": "x"}], (1, ""), {}),
    "X-01": ("openai-responses", [HI, function("k"), output("k"), function("k"), output("k")], (3, "call_id"), {}),
    "X-06": ("openai-responses", [said(A, "Hello"), HI], (0, ""), {}),
    "X-07": ("openai-responses", [HI, said(A, "Hello")], (1, ""), {}),
    "X-08": ("openai-responses", [HI, said(A, " "), HI], (1, "content"), {}),
    "X-09": ("anthropic", [HI, said(A, [use("t", "x")])], (1, "content[0].input"), {}),
    "X-10": ("openai-chat", [said(U, "\ud83d")], (0, "content"), {}),
    "X-12": ("anthropic", [said(U, [IMAGE])], (0, "content[0].source.data"), {}),
    # Anthropic
    "ANT-01": ("anthropic", [HI, said(A, [use("t")]), HI], (1, "content[0]"), {}),
    "ANT-02": ("anthropic", [HI, said(A, "Hm"), said(U, [result("t")])], (2, "content[0]"), {}),
    "ANT-03": ("anthropic", [HI, said(A, [use("t")]), said(U, [result("t"), result("t")])], (2, "content[0]"), {}),
    "ANT-04": ("anthropic", [HI, said(A, [use("t")]), said(U, [text("a"), result("t")])], (2, "content[1]"), {}),
    "ANT-05": ("anthropic", [HI, *[said(A, [use("t")]), said(U, [result("t")])] * 2], (3, "content[0]"), {}),
    "ANT-06": ("anthropic", [HI, said(A, [use("t.1")])], (1, "content[0].id"), {}),
    "ANT-07": (
        "anthropic", [HI, said(A, [{"type": "web_search_tool_result", "tool_use_id": "s", "content": []}, text("x")])],
        (1, "content[0]"), {},
    ),
    "ANT-08": (
        "anthropic", [HI, said(A, [use("t")]), said(U, [result("t")])], (1, "content[0]"),
        {"thinking": {"type": "enabled"}},
    ),
    "ANT-10": ("anthropic", [HI, said(A, [thinking(None), text("x")])], (1, "content[0]"), {}),
    "ANT-12": (
        "anthropic", [HI, said(A, [thinking(), text("x")])], (1, "content[0]"), {"thinking": {"type": "disabled"}},
    ),
    "ANT-13": ("anthropic", [HI, said(A, [text("x"), thinking()])], (1, "content[1]"), {}),
    "ANT-14": ("anthropic", [HI, said(A, [thinking(None, ""), text("x")])], (1, "content[0]"), {}),
    "ANT-15": ("anthropic", [said(U, [text("a"), text(" ")])], (0, "content[1]"), {}),
    "ANT-16": ("anthropic", [said(U, []), HI], (0, "content"), {}),
    "ANT-17": ("anthropic", [HI, said(A, "Hello")], (1, "role"), {}),
    "ANT-18": ("anthropic", [HI, said(A, "Hello ")], (1, "content"), {"model": "x"}),
    "ANT-19": ("anthropic", [said(A, "Hello"), HI], (0, "role"), {}),
    "ANT-20": ("anthropic", [HI, HI], (1, "role"), {}),
    "ANT-21": ("anthropic", [said(U, [text(str(n), **MARK) for n in range(5)])], (0, "content[4]"), {}),
    "ANT-22": ("anthropic", [said(U, [text("a", **MARK), text("b", **HOUR)])], (0, "content[1]"), {}),
    "ANT-23": ("anthropic", [said(U, [text("a"), {"type": "compaction", "content": "x"}])], (0, "content[1]"), {}),
    "ANT-24": ("anthropic", [HI], (0, ""), {"compaction": {"enabled": True}, "context_management": {"edits": []}}),
    "ANT-25": ("anthropic", [HI, said(A, [use("t")])], (0, ""), {"model": "x"}),
    "ANT-27": ("anthropic", [HI, said(A, "Hm")] * 50_001, (100_000, ""), {}),
    "ANT-29": ("anthropic", [said(U, [PAGES, text("?")]), said(A, [CITED]), HI], (1, "content[0].citations[0]"), {}),
    "ANT-30": ("anthropic", [said("system", "Be kind."), HI], (0, "role"), {}),
    "ANT-31": (
        "anthropic", [HI, said(A, [use("t")]), said(U, [result("t", [use("u")])])], (2, "content[0].content[0]"), {},
    ),
    # OpenAI Chat
    "OAC-01": ("openai-chat", [HI, call("a"), HI], (1, "tool_calls[0]"), {}),
    "OAC-02": ("openai-chat", [HI, answer("a")], (1, "tool_call_id"), {}),
    "OAC-03": ("openai-chat", [HI, call("a" * 41)], (1, "tool_calls[0].id"), {}),
    "OAC-04": ("openai-chat", [HI, {"role": A, "content": "x", "tool_calls": []}], (1, "tool_calls"), {}),
    "OAC-05": ("openai-chat", [HI, said(A, None)], (1, "content"), {}),
    "OAC-06": ("openai-chat", [HI, call("a", arguments={})], (1, "tool_calls[0].function.arguments"), {}),
    "OAC-07": ("openai-chat", [HI, call("a", name="a b")], (1, "tool_calls[0].function.name"), {}),
    "OAC-08": ("openai-chat", [HI, call("a"), answer("a", [{"type": "image_url"}])], (2, "content[0]"), {}),
    "OAC-09": ("openai-chat", [HI, HI], (1, "role"), {}),
    "OAC-10": ("openai-chat", [HI, said("system", "x"), HI], (1, "role"), {}),
    "OAC-11": ("openai-chat", [HI, call("a"), answer("a"), HI], (3, "role"), {}),
    "OAC-12": ("openai-chat", [HI, call("a")], (1, "tool_calls[0].id"), {}),
    "OAC-13": (
        "openai-chat", [HI, {**call("a"), "reasoning_content": "r"}, answer("a"), call("b"), answer("b")],
        (3, "reasoning_content"), {},
    ),
    "OAC-14": ("openai-chat", [said(U, " ")], (0, "content"), {}),
    "OAC-16": ("openai-chat", [HI, {"role": "function", "name": "f", "content": "x"}], (1, "name"), {}),
    "OAC-17": ("openai-chat", [said("system", "x"), said("developer", "y"), HI], (1, "role"), {}),
    # OpenAI Responses
    "OAR-01": ("openai-responses", [HI, function("k"), HI], (1, "call_id"), {}),
    "OAR-02": ("openai-responses", [HI, output("k")], (1, "call_id"), {}),
    "OAR-03": ("openai-responses", [HI, MCP, HI], (1, "call_id"), {}),
    "OAR-04": ("openai-responses", [HI, REASON, HI], (1, ""), {}),
    "OAR-06": ("openai-responses", [HI, function("k", id="custom"), output("k")], (1, "id"), {}),
    "OAR-07": ("openai-responses", [HI, {"type": "reasoning"}, said(A, "x")], (1, "summary"), {}),
    "OAR-08": ("openai-responses", [HI, REASON, said(A, "x")], (1, "encrypted_content"), {"store": False}),
    "OAR-09": (
        "openai-responses", [HI, {**REASON, "encrypted_content": TOKEN[:-2]}, said(A, "x")],
        (1, "encrypted_content"), {},
    ),
    "OAR-10": ("openai-responses", [HI, REASON, said(A, "x"), HI, REASON, said(A, "y")], (4, "id"), {}),
    "OAR-11": ("openai-responses", [HI] * 131_073, (131_072, ""), {}),
    "OAR-13": (
        "openai-responses", [HI, function("k"), output("k"), {"type": "compaction", "encrypted_content": TOKEN}, HI],
        (1, ""), {},
    ),
    "OAR-15": ("openai-responses", [HI, function("k"), HI, output("k")], (3, ""), {}),
    "OAR-16": ("openai-responses", [HI, function("k" * 65)], (1, "call_id"), {}),
    # Gemini
    "GEM-01": ("gemini", [turn("model", asks()), turn(U, tells())], (0, "parts[0]"), {}),
    "GEM-02": ("gemini", [turn(U, tells())], (0, "parts[0]"), {}),
    "GEM-03": ("gemini", [turn(U, PARTS), turn("model", asks(), asks()), turn(U, tells())], (2, "parts"), {}),
    "GEM-04": ("gemini", [turn(U, PARTS), turn("model", asks()), turn(U, tells(), PARTS)], (2, "parts[1]"), {}),
    "GEM-05": ("gemini", [turn("system", PARTS), turn(U, PARTS)], (0, "role"), {}),
    "GEM-06": ("gemini", [turn("model", PARTS), turn(U, PARTS)], (0, "role"), {}),
    "GEM-07": ("gemini", [turn(U)], (0, "parts"), {}),
    "GEM-08": (
        "gemini",
        [turn(U, PARTS), turn("model", asks(thoughtSignature="c2lnbg==")), turn(U, tells()), turn("model", asks())],
        (3, "parts[0]"), {},
    ),
    "GEM-09": (
        "gemini", [turn(U, PARTS), turn("model", asks(thoughtSignature="c2lnb")), turn(U, tells())],
        (1, "parts[0].thoughtSignature"), {},
    ),
    "GEM-10": (
        "gemini",
        [turn(U, PARTS), turn("model", asks(thoughtSignature="skip_thought_signature_validator")), turn(U, tells())],
        (1, "parts[0].thoughtSignature"), {},
    ),
    "GEM-11": ("gemini", [turn(U, PARTS), turn("model", asks("f")), turn(U, tells("g"))], (2, "parts"), {}),
    "GEM-12": ("gemini", [{**turn(U, PARTS), "_at": 1}], (0, "_at"), {}),
    "GEM-13": ("gemini", [turn(U, PARTS)], (0, ""), {"cachedContent": "c", "tools": [{}]}),
}  # fmt: skip
