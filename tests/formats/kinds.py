"""Turns of every kind that a provider's list may hold, each by name: `(n) -> the wire messages of one turn`.

`n` makes the ids of a turn its own, so that a turn may stand in a list more than once.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

Wire = dict[str, Any]
Turn = Callable[[int], list[Wire]]

LONG = "The gauge was read and found steady; the valve stood open and nothing else was seen. " * 12
PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
SEALED = "gAAAAAB" + "q" * 91 + "=="
U, A = "user", "assistant"


def said(role: str, content: Any, **more: Any) -> Wire:
    return {"role": role, "content": content, **more}


def text(words: str, **more: Any) -> Wire:
    return {"type": "text", "text": words, **more}


def block(kind: str, **more: Any) -> Wire:
    return {"type": kind, **more}


def call(n: int | str, arguments: str = '{"hall": 1}') -> Wire:
    return {"id": f"call_{n}", "type": "function", "function": {"name": "look", "arguments": arguments}}


def told(n: int | str, content: Any = LONG) -> Wire:
    return {"role": "tool", "tool_call_id": f"call_{n}", "content": content}


def use(n: int | str, **more: Any) -> Wire:
    return block("tool_use", id=f"toolu_{n}", name="look", input={"hall": 1}, **more)


def got(n: int | str, content: Any = LONG, **more: Any) -> Wire:
    return block("tool_result", tool_use_id=f"toolu_{n}", content=content, **more)


def part(role: str, *parts: Wire) -> Wire:
    return {"role": role, "parts": list(parts)}


def asks(name: str = "look", call_id: str | None = None, **more: Any) -> Wire:
    own = {"id": call_id} if call_id else {}
    return {"functionCall": {**own, "name": name, "args": {"note": LONG}}, **more}


def tells(name: str = "look", call_id: str | None = None, response: Any = None) -> Wire:
    own = {"id": call_id} if call_id else {}
    return {"functionResponse": {**own, "name": name, "response": {"result": LONG} if response is None else response}}


THOUGHT = block("thinking", thinking=LONG, signature="EqQB" * 40)
HIDDEN = block("redacted_thinking", data="EmwK" * 40)
MARK = {"cache_control": {"type": "ephemeral"}}
IMAGE = block("image", source={"type": "base64", "media_type": "image/png", "data": PNG})
PAGES = block(
    "document", source={"type": "text", "media_type": "text/plain", "data": LONG}, title="log",
    citations={"enabled": True}, context="of the harbour",
)  # fmt: skip
SIGNATURE = {"thoughtSignature": "c2lnbmVkIGJ5IHRoZSBtb2RlbA=="}


def _searched(n: int) -> list[Wire]:
    hit = {"type": "web_search_result", "url": "https://example.org", "title": "x", "encrypted_content": "Eo" * 300}
    place = {"type": "web_search_result_location", "url": "https://example.org", "title": "x", "cited_text": "y"}
    return [
        block("server_tool_use", id=f"srvtoolu_{n}", name="web_search", input={"query": "ferry"}),
        block("web_search_tool_result", tool_use_id=f"srvtoolu_{n}", content=[hit]),
        text("Late.", citations=[{**place, "encrypted_index": "Eo8B"}]),
    ]


ANTHROPIC: dict[str, Turn] = {
    "parallel": lambda n: [said(A, [use(n), use(f"{n}b")]), said(U, [got(n), got(f"{n}b", is_error=True)])],
    "results and words": lambda n: [said(A, [text(LONG), use(n)]), said(U, [got(n), text(f"And hall {n}?")])],
    "result with picture": lambda n: [said(A, [use(n)]), said(U, [got(n, [text(LONG), IMAGE])])],
    "result with references": lambda n: [
        said(A, [use(n)]), said(U, [got(n, [block("tool_reference", tool_name="look")])]), said(A, "Found."),
    ],
    "result with search results": lambda n: [
        said(A, [use(n)]),
        said(U, [got(n, [block("search_result", source="log", title="x", content=[text(LONG)])])]),
    ],
    "result without content": lambda n: [said(A, [use(n)]), said(U, [block("tool_result", tool_use_id=f"toolu_{n}")])],
    "thinking": lambda n: [said(A, [THOUGHT, text("Look."), use(n)]), said(U, [got(n)])],
    "redacted thinking": lambda n: [said(A, [HIDDEN, THOUGHT, use(n)]), said(U, [got(n)])],
    "interleaved thinking": lambda n: [
        said(A, [THOUGHT, use(n)]), said(U, [got(n)]), said(A, [THOUGHT, use(f"{n}b")]), said(U, [got(f"{n}b")]),
        said(A, [THOUGHT, text(LONG)]),
    ],
    "web search": lambda n: [said(U, f"Why {n}? {LONG}"), said(A, _searched(n))],
    "web search in two messages": lambda n: [said(A, _searched(n)[:1]), said(A, _searched(n)[1:])],
    "two server tools answered later": lambda n: [
        said(A, [_searched(n)[0], _searched(n + 500)[0]]),
        said(A, [_searched(n)[1], _searched(n + 500)[1], text("Late.")]),
    ],
    "server tool beside a call": lambda n: [said(A, [*_searched(n), use(n)]), said(U, [got(n)])],
    "code execution": lambda n: [
        said(A, [
            block("server_tool_use", id=f"srvtoolu_{n}", name="bash_code_execution", input={"command": "ls"}),
            block("bash_code_execution_tool_result", tool_use_id=f"srvtoolu_{n}", content={
                "type": "bash_code_execution_result", "stdout": LONG, "stderr": "", "return_code": 0,
                "content": [{"type": "bash_code_execution_output", "file_id": "file_1"}],
            }),
            text("Done."),
        ]),
        said(U, "Go on."),
    ],
    "mcp": lambda n: [
        said(A, [
            block("mcp_tool_use", id=f"mcptoolu_{n}", name="echo", server_name="s", input={"note": LONG}),
            block("mcp_tool_result", tool_use_id=f"mcptoolu_{n}", is_error=False, content=[text(LONG)]),
            text("Done."),
        ]),
        said(U, "Go on."),
    ],
    "container upload": lambda n: [said(U, [block("container_upload", file_id=f"file_{n}"), text(LONG)]), said(A, "x")],
    "documents": lambda n: [said(U, [PAGES, IMAGE, text(f"What of {n}?", **MARK)]), said(A, LONG)],
    "compaction": lambda n: [said(A, [block("compaction", content=LONG, signature="Eo")]), said(U, "Go on.")],
    "unknown": lambda n: [said(A, [text(LONG), block("hologram", data={"n": n})]), said(U, [block("smell", n=n)])],
}  # fmt: skip

CHAT: dict[str, Turn] = {
    "parallel": lambda n: [said(A, None, tool_calls=[call(n), call(f"{n}b")]), told(n), told(f"{n}b")],
    "custom tool": lambda n: [
        said(A, None, tool_calls=[{"id": f"call_{n}", "type": "custom", "custom": {"name": "sh", "input": LONG}}]),
        told(n),
    ],
    "function": lambda n: [
        said(A, None, function_call={"name": "look", "arguments": json.dumps({"n": LONG})}),
        {"role": "function", "name": "look", "content": LONG},
    ],
    "developer": lambda n: [said("developer", f"Rule {n}: {LONG}"), said(U, "Go on.")],
    "refusal": lambda n: [said(U, LONG), said(A, None, refusal=LONG)],
    "refusal in parts": lambda n: [said(U, LONG), said(A, [{"type": "refusal", "refusal": LONG}])],
    "audio": lambda n: [
        said(U, [{"type": "input_audio", "input_audio": {"data": PNG, "format": "wav"}}, text(LONG)]),
        said(A, None, audio={"id": f"audio_{n}"}),
    ],
    "reasoning": lambda n: [said(A, None, reasoning_content=LONG, tool_calls=[call(n)]), told(n), said(A, LONG)],
    "reasoning details": lambda n: [
        said(A, "x", tool_calls=[call(n)], reasoning=LONG, reasoning_details=[
            {"type": "reasoning.encrypted", "data": "Eo8B" * 40, "format": "anthropic-claude-v1", "index": 0},
        ]),
        told(n),
    ],
    "files": lambda n: [
        said(U, [{"type": "file", "file": {"file_id": f"file-{n}"}}, text(LONG),
                 {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PNG}", "detail": "low"}}]),
        said(A, LONG),
    ],
    "result in parts": lambda n: [said(A, None, tool_calls=[call(n)]), told(n, [text(LONG), text("end")])],
    "unknown": lambda n: [said(U, [{"type": "hologram", "n": n}, text(LONG)], mood="calm"), said(A, LONG, mood="calm")],
}  # fmt: skip


def _item(kind: str, n: int, **more: Any) -> Wire:
    return {"type": kind, "call_id": f"call_{n}", **more}


def _reasons(n: int) -> Wire:
    summary = [{"type": "summary_text", "text": LONG}]
    return {"type": "reasoning", "id": f"rs_{n}", "summary": summary, "encrypted_content": SEALED}


def _calls(n: int | str) -> Wire:
    arguments = json.dumps({"note": LONG})
    return {"type": "function_call", "id": f"fc_{n}", "call_id": f"call_{n}", "name": "look", "arguments": arguments}


def _out(n: int | str, output: Any = LONG) -> Wire:
    return {"type": "function_call_output", "call_id": f"call_{n}", "output": output}


def _says(n: int, *parts: Wire) -> Wire:
    own = list(parts) or [{"type": "output_text", "text": LONG, "annotations": []}]
    return {"type": "message", "role": A, "id": f"msg_{n}", "status": "completed", "content": own}


_SHOT = {"type": "computer_screenshot", "image_url": f"data:image/png;base64,{PNG}"}
_CLICK = {"type": "click", "x": 1, "y": 2, "button": "left"}
_RAN = {"stdout": LONG, "stderr": "", "outcome": {"type": "exit", "exit_code": 0}}

RESPONSES: dict[str, Turn] = {
    "parallel": lambda n: [_reasons(n), _calls(n), _calls(f"{n}b"), _out(n), _out(f"{n}b")],
    "outputs between calls": lambda n: [_reasons(n), _calls(n), _out(n), _calls(f"{n}b"), _out(f"{n}b"), _says(n)],
    "encrypted reasoning": lambda n: [_reasons(n), _says(n)],
    "output in parts": lambda n: [
        _calls(n),
        _out(n, [{"type": "input_text", "text": LONG}, {"type": "input_image", "image_url": _SHOT["image_url"]}]),
    ],
    "custom tool": lambda n: [
        _item("custom_tool_call", n, id=f"ctc_{n}", name="sh", input=LONG),
        _item("custom_tool_call_output", n, output=LONG),
    ],
    "shell": lambda n: [
        _item("shell_call", n, id=f"sh_{n}", action={"commands": ["ls"], "timeout_ms": 1, "max_output_length": 9},
              status="completed"),
        _item("shell_call_output", n, output=[_RAN], max_output_length=9),
    ],
    "local shell": lambda n: [
        _item("local_shell_call", n, id=f"lsh_{n}", status="completed",
              action={"type": "exec", "command": ["ls"], "env": {}}),
        {"type": "local_shell_call_output", "id": f"call_{n}", "call_id": f"call_{n}", "output": LONG},
    ],
    "apply patch": lambda n: [
        _item("apply_patch_call", n, id=f"apc_{n}", status="completed",
              operation={"type": "delete_file", "path": "a"}),
        _item("apply_patch_call_output", n, status="completed", output=LONG),
    ],
    "computer": lambda n: [
        _reasons(n),
        _item("computer_call", n, id=f"cu_{n}", action=_CLICK, pending_safety_checks=[], status="completed"),
        _item("computer_call_output", n, output=_SHOT),
    ],
    "web search": lambda n: [
        {"type": "web_search_call", "id": f"ws_{n}", "status": "completed", "action": {"type": "search", "query": "x"}},
        _says(n),
    ],
    "file search": lambda n: [
        {"type": "file_search_call", "id": f"fs_{n}", "status": "completed", "queries": ["x"],
         "results": [{"text": LONG}]},
        _says(n),
    ],
    "image generation": lambda n: [
        {"type": "image_generation_call", "id": f"ig_{n}", "status": "completed", "result": PNG}, _says(n),
    ],
    "code interpreter": lambda n: [
        {"type": "code_interpreter_call", "id": f"ci_{n}", "status": "completed", "code": LONG, "container_id": "c",
         "outputs": [{"type": "logs", "logs": LONG}]},
        _says(n),
    ],
    "mcp": lambda n: [
        {"type": "mcp_list_tools", "id": f"mcpl_{n}", "server_label": "s",
         "tools": [{"name": "echo", "input_schema": {"type": "object"}}]},
        {"type": "mcp_approval_request", "id": f"mcpr_{n}", "server_label": "s", "name": "echo", "arguments": "{}"},
        {"type": "mcp_approval_response", "approval_request_id": f"mcpr_{n}", "approve": True},
        {"type": "mcp_call", "id": f"mcp_{n}", "server_label": "s", "name": "echo", "arguments": "{}", "output": LONG},
        _says(n),
    ],
    "tool search": lambda n: [
        _item("tool_search_call", n, id=f"tsc_{n}", execution="client", arguments={"q": "x"}, status="completed"),
        _item("tool_search_output", n, execution="client", status="completed", tools=[]),
        _says(n),
    ],
    "references": lambda n: [{"type": "item_reference", "id": f"msg_x{n}"}, said(U, LONG)],
    "annotations": lambda n: [
        _says(n, {"type": "output_text", "text": LONG, "annotations": [
            {"type": "url_citation", "url": "https://example.org", "title": "x", "start_index": 0, "end_index": 9},
        ]}),
        said(U, "Go on."),
    ],
    "refusal": lambda n: [_says(n, {"type": "refusal", "refusal": LONG}), said(U, "Go on.")],
    "unknown": lambda n: [{"type": "hologram", "id": f"holo_{n}", "data": LONG}, said(U, "Go on.")],
}  # fmt: skip

GEMINI: dict[str, Turn] = {
    "parallel of one name": lambda n: [
        part("model", asks(), asks(), asks("peek")), part(U, tells(), tells(), tells("peek")),
    ],
    "ids": lambda n: [
        part("model", asks(call_id=f"a{n}"), asks(call_id=f"b{n}")),
        part(U, tells(call_id=f"b{n}"), tells(call_id=f"a{n}")),
    ],
    "signed calls": lambda n: [
        part("model", {"text": LONG, "thought": True}, asks(**SIGNATURE), asks("peek")),
        part(U, tells(), tells("peek")), part("model", asks(**SIGNATURE)), part(U, tells()),
    ],
    "signed words": lambda n: [
        part("model", {"text": LONG, "thought": True}, {"text": LONG, **SIGNATURE}), part(U, {"text": "Go on."}),
    ],
    "a signature alone": lambda n: [part("model", {"text": LONG}, {"text": "", **SIGNATURE}), part(U, {"text": "On."})],
    "code": lambda n: [
        part("model", {"executableCode": {"language": "PYTHON", "code": LONG}},
             {"codeExecutionResult": {"outcome": "OUTCOME_OK", "output": LONG}}, {"text": "Done."}),
        part(U, {"text": "Go on."}),
    ],
    "media": lambda n: [
        part(U, {"inlineData": {"mimeType": "image/png", "data": PNG}}, {"text": LONG},
             {"fileData": {"mimeType": "application/pdf", "fileUri": "gs://x/y"}, "videoMetadata": {"fps": 1}}),
        part("model", {"text": LONG}, {"inlineData": {"mimeType": "image/png", "data": PNG}}),
    ],
    "response with media": lambda n: [
        part("model", asks()),
        part(U, {"functionResponse": {"name": "look", "response": {"result": LONG},
                                      "parts": [{"inlineData": {"mimeType": "image/png", "data": PNG}}]}}),
    ],
    "structured response": lambda n: [
        part("model", asks()), part(U, tells(response={"rows": [{"hall": i} for i in range(80)], "ok": True})),
    ],
    "responses and words": lambda n: [part("model", {"text": LONG}, asks()), part(U, tells(), {"text": "And now?"})],
    "the role function": lambda n: [part("model", asks()), part("function", tells())],
    "snake case": lambda n: [
        part("model", {"function_call": {"name": "look", "args": {"note": LONG}}, "thought_signature": "c2ln"}),
        part(U, {"function_response": {"name": "look", "response": {"result": LONG}}}),
    ],
    "unknown": lambda n: [
        part("model", {"text": LONG, "mood": "calm"}), part(U, {"text": "On."}, {"hologram": {"n": n}}),
    ],
}  # fmt: skip

KINDS: dict[str, dict[str, Turn]] = {
    "anthropic": ANTHROPIC, "openai-chat": CHAT, "openai-responses": RESPONSES, "gemini": GEMINI,
}  # fmt: skip


def say(name: str, role: str, words: str) -> Wire:
    """A plain message of a format."""
    return part("model" if role == A else U, {"text": words}) if name == "gemini" else said(role, words)


def history(name: str, kind: str) -> list[Wire]:
    """A task, then the turn of that kind four times with plain talk between: the last one is the running turn."""
    turn = KINDS[name][kind]
    talk = [say(name, A, f"I see. {LONG}"), say(name, U, f"Go on. {LONG}")]
    past = [message for n in range(3) for message in (*turn(n), *talk)]
    return [say(name, U, "Find out why the ferry is late."), *past, *turn(3)]
