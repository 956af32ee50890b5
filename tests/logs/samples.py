"""A small log of each format, made up, in which each trap of the format is set at least once."""

from __future__ import annotations

import json
from typing import Any

T = "2026-11-01T10:00:0{}Z"


def lines(*values: Any) -> str:
    return "".join(json.dumps(value) + "\n" for value in values)


def claude(kind: str, uuid: str, parent: str | None, content: Any = None, **more: Any) -> dict[str, Any]:
    """A line of a Claude Code log. `id` and `usage` go into the message."""
    message = {key: more.pop(key) for key in ("id", "usage") if key in more}
    said = {"message": {"role": kind, "content": content, **message}} if content is not None else {}
    return {
        "type": kind,
        "uuid": uuid,
        "parentUuid": parent,
        "sessionId": "s",
        "timestamp": T.format(0),
        **said,
        **more,
    }


def use(call_id: str, name: str = "Read") -> dict[str, Any]:
    return {"type": "tool_use", "id": call_id, "name": name, "input": {"path": "a.py"}}


def result(call_id: str, text: str = "x=1") -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": call_id, "content": text}


USAGE = {"input_tokens": 9, "cache_read_input_tokens": 900, "cache_creation_input_tokens": 50, "output_tokens": 20}

CLAUDE_CODE = lines(
    {"type": "file-history-snapshot", "messageId": "u1", "snapshot": {}},
    claude("user", "u1", None, "fix it"),
    claude("progress", "p1", "u1", data={"type": "hook_progress"}),
    claude("user", "u9", "p1", "an attempt that was taken back"),
    claude("assistant", "a1", "p1", [{"type": "text", "text": "reading"}], id="m1", usage={"output_tokens": 1}),
    claude("assistant", "a2", "a1", [use("t1")], id="m1"),
    claude("assistant", "a3", "a2", [use("t2")], id="m1", usage=USAGE),
    claude("user", "r1", "a2", [result("t1")], toolUseResult={"file": 1}),  # hangs on its own call's line
    claude("user", "r2", "a3", [result("t2", "y=2")], toolUseResult={"file": 2}),
    claude("user", "side", None, "count the files", isSidechain=True, agentId="x"),
    claude("assistant", "side2", "side", [{"type": "text", "text": "4"}], isSidechain=True, agentId="x", id="m8"),
    claude(
        "system",
        "b1",
        None,
        logicalParentUuid="r2",
        subtype="compact_boundary",
        compactMetadata={"trigger": "auto", "preTokens": 167000},
    ),
    claude("user", "c1", "b1", "Summary of earlier work", isCompactSummary=True),
    claude("assistant", "a4", "c1", [{"type": "text", "text": "done"}], id="m2"),
)


def item(kind: str, **payload: Any) -> dict[str, Any]:
    return {"timestamp": T.format(1), "type": kind, "payload": payload}


def said(role: str, text: str) -> dict[str, Any]:
    kind = "output_text" if role == "assistant" else "input_text"
    return {"type": "message", "role": role, "content": [{"type": kind, "text": text}]}


CODEX = lines(
    item("session_meta", id="0", cwd="/w", base_instructions={"text": "You are an agent."}),
    item("response_item", **said("user", "fix it")),
    item("turn_context", model="m"),
    item("response_item", type="reasoning", summary=[], encrypted_content="gAAA"),
    item("response_item", type="custom_tool_call", call_id="c1", name="apply_patch", input="*** not JSON"),
    item("response_item", type="custom_tool_call_output", call_id="c1", output="ok"),
    item(
        "event_msg",
        type="token_count",
        info={"last_token_usage": {"input_tokens": 1200, "cached_input_tokens": 1024, "output_tokens": 30}},
    ),
    item("event_msg", type="token_count", info=None),
    item("event_msg", type="agent_message", message="again"),
    item("compacted", message="Handoff: fixed.", replacement_history=None),
    item("response_item", **said("assistant", "done")),
    item("compacted", message="", replacement_history=[said("user", "fix it"), said("user", "all is done")]),
    item("response_item", **said("assistant", "bye")),
    item("response_item", type="function_call", call_id="c2", name="shell", arguments="{}"),
)


def event(kind: str, **data: Any) -> dict[str, Any]:
    return {"type": kind, "data": data, "id": kind, "timestamp": T.format(2), "parentId": None}


COPILOT_CLI = lines(
    event("session.start", sessionId="s"),
    event("system.message", role="system", content="You are Copilot."),
    event("user.message", content="fix it", transformedContent="<now>10:00</now>\nfix it"),
    event(
        "assistant.message",
        content="",
        reasoningText="hm",
        reasoningOpaque="zz",
        toolRequests=[{"toolCallId": "c1", "name": "bash", "arguments": {"command": "ls"}}],
    ),
    event("tool.execution_start", toolCallId="c1"),
    event("assistant.message", content="a sub-agent", toolRequests=[], parentToolCallId="c1"),
    event("tool.execution_complete", toolCallId="c1", success=False, error={"message": "no shell"}),
    event("session.compaction_complete", success=True, preCompactionTokens=90000, summaryContent="So far: nothing."),
    event("assistant.message", content="sorry", toolRequests=[]),
)

GEMINI_TURN = {
    "id": "m2",
    "timestamp": T.format(3),
    "type": "gemini",
    "content": "reading",
    "model": "g",
    "thoughts": [{"subject": "Plan", "description": "read it"}],
    "toolCalls": [
        {
            "id": "c1",
            "name": "read_file",
            "args": {"path": "a.py"},
            "status": "success",
            "result": [{"functionResponse": {"id": "c1", "name": "read_file", "response": {"output": "x=1"}}}],
        }
    ],
    "tokens": {"input": 900, "output": 20, "cached": 512, "thoughts": 7, "total": 927},
}
GEMINI_HEAD = {"sessionId": "s1", "projectHash": "ab", "startTime": T.format(3)}

GEMINI_CLI = lines(
    GEMINI_HEAD,
    {"id": "m1", "timestamp": T.format(3), "type": "user", "content": [{"text": "fix"}]},
    {"id": "m1", "timestamp": T.format(3), "type": "user", "content": [{"text": "fix it"}]},  # replaces the first
    {"id": "i1", "type": "info", "content": "update available"},
    GEMINI_TURN,
    {"id": "m3", "type": "user", "content": "never mind"},
    {"id": "m4", "type": "gemini", "content": "ok"},
    {"$rewindTo": "m3"},
    {"id": "m5", "type": "user", "content": "go on"},
    {"$set": {"messages": [{"id": "m6", "type": "user", "content": "Summary: go on"}]}},
    {"id": "m7", "type": "gemini", "content": "done"},
)


def pi(kind: str, **more: Any) -> dict[str, Any]:
    return {"type": kind, "timestamp": T.format(4), **more}


PI = lines(
    pi("session", id="s", cwd="/w", version=1),
    pi("message", message={"role": "user", "content": [{"type": "text", "text": "fix it"}]}),
    pi("model_change", modelId="m"),
    pi(
        "message",
        message={
            "role": "assistant",
            "content": [
                {"type": "thinking", "thinking": "hm", "thinkingSignature": "sig"},
                {"type": "toolCall", "id": "t1", "name": "bash", "arguments": {"command": "ls"}},
            ],
            "usage": {"input": 10, "cacheRead": 900, "cacheWrite": 90, "output": 5},
        },
    ),
    pi(
        "message",
        message={
            "role": "toolResult",
            "toolCallId": "t1",
            "content": [{"type": "text", "text": "no"}],
            "isError": True,
        },
    ),
    pi("message", message={"role": "bashExecution", "command": "pwd", "output": "/w"}),
    pi("compaction", summary="It was ls.", firstKeptEntryIndex=5, tokensBefore=175004),
    pi("message", message={"role": "assistant", "content": [{"type": "text", "text": "done"}]}),
)

PI_TREE = lines(
    {"type": "session", "version": 3, "id": "s", "cwd": "/w"},
    {"type": "message", "id": "1", "parentId": None, "message": {"role": "user", "content": "fix it"}},
    {"type": "message", "id": "2", "parentId": "1", "message": {"role": "assistant", "content": "which?"}},
    {"type": "message", "id": "3", "parentId": "1", "message": {"role": "assistant", "content": "done"}},
)

CLINE = json.dumps(
    {
        "version": 1,
        "updated_at": T.format(5),
        "agent": "lead",
        "sessionId": "s",
        "system_prompt": "You are Cline.",
        "messages": [
            {
                "id": "1",
                "role": "user",
                "ts": 1783376868634,
                "content": [{"type": "file", "path": "a.py", "content": "x=1"}, {"type": "text", "text": "fix it"}],
            },
            {
                "id": "2",
                "role": "assistant",
                "ts": 1783376868635,
                "content": [use("t1")],
                "metrics": {"inputTokens": 1000, "outputTokens": 9, "cacheReadTokens": 700},
            },
            {"id": "3", "role": "user", "ts": 1783376868636, "content": [result("t1")]},
        ],
    }
)

ROO = json.dumps(
    [
        {"role": "user", "content": "fix it", "ts": 1, "condenseParent": "c9"},
        {"role": "assistant", "content": "done", "ts": 2, "condenseParent": "c9"},
        {"role": "user", "content": "Summary: it is fixed", "isSummary": True, "condenseId": "c9", "ts": 3},
        {"role": "user", "content": [{"type": "text", "text": "now test it"}], "ts": 4},
    ]
)

SWE_AGENT = json.dumps(
    {
        "environment": "e",
        "trajectory": [{"action": "ls", "observation": "a.py", "query": [{"role": "user", "content": "x"}]}],
        "history": [
            {"role": "system", "content": "s", "message_type": "system_prompt", "agent": "main"},
            {"role": "user", "content": "demo", "agent": "main", "is_demo": True, "message_type": "demonstration"},
            {
                "role": "assistant",
                "content": "look",
                "message_type": "action",
                "action": "ls",
                "agent": "main",
                "tool_calls": [
                    {"id": "c1", "type": "function", "function": {"name": "bash", "arguments": '{"command": "ls"}'}}
                ],
            },
            {
                "role": "tool",
                "content": "a.py",
                "message_type": "observation",
                "tool_call_ids": ["c1"],
                "agent": "main",
            },
        ],
        "info": {"exit_status": "submitted"},
    }
)

CHAT = [
    {"role": "system", "content": "s"},
    {"role": "user", "content": "fix it"},
    {
        "role": "assistant",
        "content": "ls",
        "extra": {"response": {"usage": {"prompt_tokens": 50, "completion_tokens": 5}}},
    },
    {"role": "user", "content": "<returncode>0</returncode>"},
]
MINI_SWE_AGENT = json.dumps(
    {"info": {"mini_version": "1"}, "messages": CHAT, "trajectory_format": "mini-swe-agent-1"}, indent=2
)

TAU_BENCH = json.dumps(
    [{"task_id": n, "reward": 0.0, "info": {}, "traj": CHAT[:2], "trial": 0} for n in range(2)], indent=4
)

TOOLBENCH = json.dumps(
    {"win": True, "answer_generation": {"train_messages": [CHAT[:2], CHAT[:3]], "query": "fix it"}}, indent=2
)


def sdk(kind: str, name: str, **more: Any) -> dict[str, Any]:
    return {"kind": kind, "id": name, "timestamp": "2026-11-01T10:00:00", "source": "agent", **more}


def action(name: str, call_id: str) -> dict[str, Any]:
    call = {"id": call_id, "name": "terminal", "arguments": '{"command": "ls"}'}
    return sdk(
        "ActionEvent",
        name,
        tool_name="terminal",
        tool_call_id=call_id,
        tool_call=call,
        thought=[{"type": "text", "text": "look"}],
        llm_response_id="r1",
    )


def seen(name: str, call_id: str) -> dict[str, Any]:
    return sdk(
        "ObservationEvent",
        name,
        source="environment",
        tool_name="terminal",
        tool_call_id=call_id,
        observation={"content": [{"type": "text", "text": "a.py"}]},
    )


OPENHANDS_EVENTS: list[dict[str, Any]] = [
    sdk(
        "SystemPromptEvent",
        "e0",
        system_prompt={"type": "text", "text": "You are OpenHands."},
        tools=[{"type": "function"}],
    ),
    sdk(
        "MessageEvent",
        "e1",
        source="user",
        llm_message={"role": "user", "content": [{"type": "text", "text": "fix it"}]},
    ),
    action("e2", "c1"),
    action("e3", "c2"),  # the same reply: a parallel call
    seen("e4", "c1"),
    sdk("AgentErrorEvent", "e5", tool_call_id="c2", tool_name="terminal", error="no such tool"),
    sdk("ConversationStateUpdateEvent", "e6", key="status"),
    sdk("Condensation", "e7", forgotten_event_ids=["e2", "e3", "e4", "e5"], summary="It was ls.", summary_offset=2),
    sdk("MessageEvent", "e8", llm_message={"role": "assistant", "content": [{"type": "text", "text": "done"}]}),
]
OPENHANDS = lines(*OPENHANDS_EVENTS)

REPLY = {
    "id": "r1",
    "usage": {"prompt_tokens": 80, "completion_tokens": 8},
    "choices": [
        {
            "message": {
                "role": "assistant",
                "content": None,
                "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "bash", "arguments": "{}"}}],
            }
        }
    ],
}
ABOUT = {"tool_call_id": "c1", "function_name": "bash", "model_response": REPLY}


def old(number: int, **more: Any) -> dict[str, Any]:
    return {"id": number, "timestamp": "2025-10-10T06:10:15", "source": "agent", "message": "m", **more}


OPENHANDS_0 = json.dumps(
    [
        old(0, action="system", args={"content": "You are OpenHands.", "tools": [{"type": "function"}]}),
        old(1, source="user", action="message", args={"content": "fix it"}),
        old(2, source="environment", observation="agent_state_changed", content=""),
        old(3, action="run", args={"command": "ls"}, tool_call_metadata=ABOUT),
        old(4, observation="run", content="a.py", tool_call_metadata=ABOUT),
    ]
)
STEPS = json.dumps(
    [
        {"step": 0, "user_message": "fix it", "agent": {"thought": "look", "action": "ls"}, "environment": "a.py"},
        {"step": 1, "user_message": None, "agent": {"thought": "done", "action": None}, "environment": None},
    ]
)
OPENHANDS_COMPLETIONS = json.dumps(
    {
        "messages": CHAT[:2],
        "response": REPLY,
        "kwargs": {"tools": [{"type": "function"}]},
        "cost": 0.1,
        "timestamp": 1757015046.7,
    }
)

INSPECT_SAMPLE: dict[str, Any] = {
    "id": 1,
    "epoch": 1,
    "input": "fix",
    "target": "",
    "messages": [
        {"id": "a", "role": "user", "content": "attachment://h1"},
        {
            "id": "b",
            "role": "assistant",
            "content": [{"type": "reasoning", "reasoning": "hm", "signature": "s"}, {"type": "text", "text": "look"}],
            "tool_calls": [{"id": "c1", "function": "bash", "arguments": {"cmd": "ls"}, "type": "function"}],
        },
        {
            "id": "c",
            "role": "tool",
            "content": "",
            "tool_call_id": "c1",
            "function": "bash",
            "error": {"type": "timeout", "message": "too slow"},
        },
        {"id": "d", "role": "user", "content": [{"type": "image", "image": "data:image/png;base64,AA"}]},
    ],
    "attachments": {"h1": "a long task"},
    "events": [
        {
            "event": "model",
            "output": {
                "choices": [{"message": {"id": "b"}}],
                "usage": {"input_tokens": 61, "output_tokens": 17, "input_tokens_cache_read": 60},
            },
        },
        {"event": "state"},
        {"event": "compaction", "type": "summary", "tokens_before": 5000, "tokens_after": 900},
    ],
}
INSPECT = json.dumps({"version": 2, "status": "success", "eval": {"task": "t"}, "samples": [INSPECT_SAMPLE]})

ATIF = json.dumps(
    {
        "schema_version": "ATIF-v1.8",
        "session_id": "s",
        "agent": {"name": "x", "version": "1", "extra": {"continuation_index": 1}},
        "steps": [
            {"step_id": 1, "source": "user", "message": "fix it", "is_copied_context": True},
            {
                "step_id": 2,
                "source": "agent",
                "message": "",
                "reasoning_content": "hm",
                "tool_calls": [{"tool_call_id": "c1", "function_name": "bash", "arguments": {"cmd": "ls"}}],
                "observation": {"results": [{"content": "a.py"}]},  # names no call: it can only be this one
                "metrics": {"prompt_tokens": 900, "cached_tokens": 512, "completion_tokens": 20},
            },
            {"step_id": 3, "source": "agent", "message": "look", "observation": {"results": [{"content": "screen"}]}},
        ],
        "subagent_trajectories": [
            {"schema_version": "ATIF-v1.8", "steps": [{"step_id": 1, "source": "user", "message": "count"}]}
        ],
    }
)

LANGCHAIN = json.dumps(
    {
        "values": {
            "messages": [
                {"type": "human", "content": [{"type": "text", "text": "fix it"}], "id": "1"},
                {
                    "type": "ai",
                    "id": "2",
                    "content": [
                        {"type": "text", "text": "look"},
                        {"type": "tool_use", "id": "c1", "name": "bash", "input": {}},
                    ],
                    "tool_calls": [{"name": "bash", "args": {"cmd": "ls"}, "id": "c1", "type": "tool_call"}],
                    "invalid_tool_calls": [{"name": "bash", "args": "{cut", "id": "c2"}],
                    "additional_kwargs": {"reasoning_content": "hm"},
                    "usage_metadata": {
                        "input_tokens": 100,
                        "output_tokens": 9,
                        "input_token_details": {"cache_read": 64},
                    },
                },
                {"type": "tool", "content": "a.py", "tool_call_id": "c1", "status": "error"},
            ]
        },
        "next": [],
    }
)


def lc(kind: str, **kwargs: Any) -> dict[str, Any]:
    return {"lc": 1, "type": "constructor", "id": ["langchain", "schema", "messages", kind], "kwargs": kwargs}


LANGSMITH = lines(
    {
        "id": "r2",
        "run_type": "llm",
        "dotted_order": "2",
        "inputs": {
            "messages": [
                [
                    lc("HumanMessage", content="fix it"),
                    lc("AIMessage", content="which?"),
                    lc("HumanMessage", content="a.py"),
                ]
            ]
        },
        "outputs": {"generations": [[{"message": lc("AIMessage", content="done")}]]},
    },
    {"id": "r0", "run_type": "chain", "dotted_order": "0", "inputs": {}, "outputs": {}},
    {
        "id": "r1",
        "run_type": "llm",
        "dotted_order": "1",
        "inputs": {"messages": [[lc("HumanMessage", content="fix it")]]},
        "outputs": {
            "generations": [
                [{"message": lc("AIMessage", content="which?", usage_metadata={"input_tokens": 5, "output_tokens": 2})}]
            ]
        },
    },
)

GOOGLE_ADK = json.dumps(
    {
        "id": "s",
        "app_name": "shop",
        "events": [
            {"invocation_id": "i", "author": "model", "actions": {}, "timestamp": 1743873320.0},
            {
                "invocation_id": "i",
                "author": "user",
                "content": {"role": "user", "parts": [{"text": "fix it", "thought": None}]},
                "timestamp": 1743873321.0,
            },
            {
                "invocation_id": "i",
                "author": "agent",
                "content": {"role": "model", "parts": [{"function_call": {"id": "c1", "name": "ls", "args": {}}}]},
            },
            {
                "invocation_id": "i",
                "author": "agent",
                "content": {
                    "role": "user",
                    "parts": [{"function_response": {"id": "c1", "name": "ls", "response": {"result": "a.py"}}}],
                },
            },
            {
                "invocation_id": "i",
                "author": "agent",
                "partial": True,
                "content": {"role": "model", "parts": [{"text": "do"}]},
            },
            {"invocation_id": "i", "author": "agent", "content": {"role": "model", "parts": [{"text": "done"}]}},
        ],
    }
)

AUTOGEN = json.dumps(
    [
        {
            "mode": "create",
            "messages": [
                {"type": "SystemMessage", "content": "s"},
                {"type": "UserMessage", "content": ["fix it"], "source": "the user"},
            ],
            "response": {
                "content": [{"id": "c1", "name": "ls", "arguments": "{}"}],
                "thought": "look",
                "usage": {"prompt_tokens": 5, "completion_tokens": 2},
            },
        },
        {
            "mode": "create",
            "messages": [
                {"type": "SystemMessage", "content": "s"},
                {"type": "UserMessage", "content": ["fix it"], "source": "the user"},
                {
                    "type": "AssistantMessage",
                    "content": [{"id": "c1", "name": "ls", "arguments": "{}"}],
                    "thought": "look",
                    "source": "coder",
                },
                {
                    "type": "FunctionExecutionResultMessage",
                    "content": [{"call_id": "c1", "content": "a.py", "name": "ls", "is_error": False}],
                },
            ],
            "response": {"content": "done", "usage": {"prompt_tokens": 9, "completion_tokens": 1}},
        },
    ]
)

MULTI_AGENT = json.dumps(
    {
        "question": "fix it",
        "mistake_agent": "WebSurfer",
        "history": [
            {"role": "human", "content": "fix it"},
            {"role": "Orchestrator (-> WebSurfer)", "content": "look"},
            {"role": "WebSurfer", "content": "found"},
            {"role": "user", "name": "Computer_terminal", "content": "ok"},
        ],
    }
)


def span(start: int, **facts: Any) -> dict[str, Any]:
    attributes = [
        {"key": key.replace("__", "."), "value": {"intValue": str(v)} if isinstance(v, int) else {"stringValue": v}}
        for key, v in facts.items()
    ]
    return {"name": "chat", "startTimeUnixNano": str(start), "attributes": attributes}


def otlp(*spans: dict[str, Any]) -> dict[str, Any]:
    return {"resourceSpans": [{"scopeSpans": [{"spans": list(spans)}]}]}


ASKED = [{"role": "user", "parts": [{"type": "text", "content": "fix it"}]}]
CALLED = [
    {
        "role": "assistant",
        "parts": [
            {"type": "reasoning", "content": "hm"},
            {"type": "tool_call", "id": "c1", "name": "ls", "arguments": {"path": "."}},
        ],
    }
]
ANSWERED = [{"role": "tool", "parts": [{"type": "tool_call_response", "id": "c1", "response": {"files": ["a.py"]}}]}]
DONE = [{"role": "assistant", "parts": [{"type": "text", "content": "done"}], "finish_reason": "stop"}]

OTEL = lines(  # the second call first: spans are written when they end
    otlp(
        span(
            2,
            gen_ai__input__messages=json.dumps([*ASKED, *CALLED, *ANSWERED]),
            gen_ai__output__messages=json.dumps(DONE),
            gen_ai__system_instructions='[{"type": "text", "content": "s"}]',
            gen_ai__usage__input_tokens=71,
        ),
        span(3, gen_ai__operation__name="invoke_agent", gen_ai__input__messages=json.dumps(ASKED)),
    ),
    otlp(
        span(
            1,
            gen_ai__input__messages=json.dumps(ASKED),
            gen_ai__output__messages=json.dumps(CALLED),
            gen_ai__system_instructions='[{"type": "text", "content": "s"}]',
            gen_ai__usage__input_tokens=61,
        )
    ),
)

OPENINFERENCE = json.dumps(
    otlp(
        span(
            1,
            openinference__span__kind="LLM",
            llm__input_messages__0__message__role="user",
            llm__input_messages__0__message__content="fix it",
            llm__output_messages__0__message__role="assistant",
            llm__output_messages__0__message__tool_calls__0__tool_call__id="c1",
            llm__output_messages__0__message__tool_calls__0__tool_call__function__name="ls",
            llm__output_messages__0__message__tool_calls__0__tool_call__function__arguments="{}",
            llm__token_count__prompt=30,
        ),
        span(2, openinference__span__kind="TOOL"),
    )
)


def exchange(uri: str, sent: Any, got: Any) -> dict[str, Any]:
    body = {"string": got} if isinstance(got, (str, bytes)) else {"string": json.dumps(got)}
    return {"request": {"method": "POST", "uri": uri, "body": json.dumps(sent)}, "response": {"body": body}}


def stream(*events: Any) -> str:
    return "".join(f"event: x\ndata: {json.dumps(event)}\n\n" for event in events) + "data: [DONE]\n\n"


# name -> file name and text; each is read by the format of that name (before the first dot)
LOGS: dict[str, tuple[str, str]] = {
    "claude-code": ("s.jsonl", CLAUDE_CODE),
    "codex": ("rollout.jsonl", CODEX),
    "copilot-cli": ("events.jsonl", COPILOT_CLI),
    "gemini-cli": ("session.jsonl", GEMINI_CLI),
    "gemini-cli.document": ("session.json", json.dumps({**GEMINI_HEAD, "messages": [GEMINI_TURN]}, indent=2)),
    "pi": ("pi.jsonl", PI),
    "pi.tree": ("pi.jsonl", PI_TREE),
    "cline": ("s.messages.json", CLINE),
    "cline.roo": ("api_conversation_history.json", ROO),
    "swe-agent": ("i.traj", SWE_AGENT),
    "mini-swe-agent": ("i.traj.json", MINI_SWE_AGENT),
    "openhands": ("events.jsonl", OPENHANDS),
    "openhands.version-0": ("events.json", OPENHANDS_0),
    "openhands.steps": ("steps.json", STEPS),
    "openhands-completions": ("completion.json", OPENHANDS_COMPLETIONS),
    "inspect": ("log.json", INSPECT),
    "atif": ("trajectory.json", ATIF),
    "langchain": ("thread.json", LANGCHAIN),
    "langchain.langsmith": ("runs.jsonl", LANGSMITH),
    "google-adk": ("s.session.json", GOOGLE_ADK),
    "autogen": ("s.session.json", AUTOGEN),
    "multi-agent": ("1.json", MULTI_AGENT),
    "otel": ("traces.jsonl", OTEL),
    "otel.openinference": ("traces.json", OPENINFERENCE),
    "tau-bench": ("results.json", TAU_BENCH),
    "toolbench": ("answer.json", TOOLBENCH),
}
