"""The log formats that are read: one entry and one module each. A new format is added here."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from typing import Protocol, cast

import msgspec

from ctxpolicy.logs.model import Session
from ctxpolicy.logs.source import Source


class Reader(Protocol):
    """What a format's module has."""

    def recognises(self, source: Source) -> bool:
        """Whether the content of the file is in this format."""

    def read(self, source: Source) -> Iterator[Session]:
        """The conversations of the file. Raises TranscriptInvalid where nothing of it can be read."""


class LogFormat(msgspec.Struct, frozen=True):
    """A log format: its name, what writes it, where it lies (an example), the wire formats its messages come out in,
    and the module that reads it. `in_place` is true where a changed conversation keeps the file's own shape."""

    name: str
    writer: str
    example: str
    messages: tuple[str, ...]
    module: str
    in_place: bool = False

    @property
    def reader(self) -> Reader:
        """The module that reads this format."""
        return cast(Reader, import_module(f"ctxpolicy.logs.{self.module}"))


_CHAT, _ANTHROPIC, _RESPONSES, _GEMINI = "openai-chat", "anthropic", "openai-responses", "gemini"

# In the order in which they are asked: what is told by one sure sign first.
LOG_FORMATS = (
    LogFormat("claude-code", "Claude Code", "~/.claude/projects/<project>/<id>.jsonl", (_ANTHROPIC,), "claude_code"),
    LogFormat("codex", "Codex CLI", "~/.codex/sessions/2026/11/01/rollout-<time>-<id>.jsonl", (_RESPONSES,), "codex"),
    LogFormat("copilot-cli", "GitHub Copilot CLI", "~/.copilot/session-state/<id>.jsonl", (_CHAT,), "copilot_cli"),
    LogFormat("gemini-cli", "Gemini CLI", "~/.gemini/tmp/<project>/chats/session-<id>.jsonl", (_GEMINI,), "gemini_cli"),
    LogFormat("pi", "pi", "~/.pi/agent/sessions/<project>/<time>_<id>.jsonl", (_ANTHROPIC,), "pi"),
    LogFormat("cline", "Cline, Roo Code", "~/.cline/data/sessions/<id>/<id>.messages.json", (_ANTHROPIC,), "cline"),
    LogFormat("swe-agent", "SWE-agent", "trajectories/<run>/<instance>.traj", (_CHAT,), "swe_agent"),
    LogFormat("mini-swe-agent", "mini-swe-agent", "<instance>.traj.json", (_CHAT,), "mini_swe_agent", True),
    LogFormat("openhands", "OpenHands, events", "<id>/events/event-00000-<id>.json", (_CHAT,), "openhands"),
    LogFormat(
        "openhands-completions", "OpenHands, model calls", "logs/completions/<model>-<time>.json", (_CHAT,),
        "openhands_completions",
    ),
    LogFormat("inspect", "Inspect", "logs/<time>_<task>_<id>.eval", (_CHAT,), "inspect_eval"),
    LogFormat("atif", "Harbor (ATIF)", "agent/trajectory.json", (_CHAT,), "atif"),
    LogFormat("langchain", "LangChain, LangGraph, LangSmith", "thread.json", (_CHAT,), "langchain"),
    LogFormat("google-adk", "Google ADK", "<session>.session.json", (_GEMINI,), "google_adk"),
    LogFormat("autogen", "AutoGen, recorded model calls", "<name>.session.json", (_CHAT,), "autogen"),
    LogFormat("multi-agent", "AutoGen and others, who said what", "history.json", (_CHAT,), "multi_agent"),
    LogFormat("otel", "OpenTelemetry GenAI spans", "traces.jsonl", (_CHAT,), "otel"),
    LogFormat(
        "http", "VCR and HAR, HTTP exchanges", "cassettes/<test>.yaml", (_CHAT, _ANTHROPIC, _RESPONSES, _GEMINI), "http"
    ),
    LogFormat("tau-bench", "tau-bench, docent", "results/<model>-<domain>.json", (_CHAT,), "tau_bench", True),
    LogFormat("toolbench", "ToolBench", "answer/<query>_<method>.json", (_CHAT,), "toolbench", True),
)  # fmt: skip


def detect(source: Source) -> LogFormat | None:
    """The format of a log, told by its content; None where it is none of these."""
    return next((entry for entry in LOG_FORMATS if entry.reader.recognises(source)), None)
