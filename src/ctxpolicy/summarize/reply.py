"""What a summariser's answer is: a note, the word for nothing, or a refusal with its reason."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import msgspec

from ctxpolicy.errors import CtxPolicyError
from ctxpolicy.result import Spent
from ctxpolicy.summarize.request import SummaryReply

_CUT_OFF = frozenset(("length", "max_tokens", "max_output_tokens", "incomplete", "model_length"))
_CALLS = frozenset(("tool_calls", "tool_use", "function_call"))
_NO_TEXT = frozenset(("content_filter", "safety", "refusal", "error"))
_CALL_MARKUP = re.compile(
    r"\s*(?:<\W*(?:tool_call|function_call|invoke|function=|antml|\|tool)|\[TOOL_CALLS\]"
    r"|\{\s*\"(?:tool_calls|function_call)\")",
    re.I,
)
_DECORATION = " \t\r\n\"'`*_.#>-!()[]«»“”„’‘。"

# What providers call the two figures; of each the first group that is there. Cached input is input.
_INPUT = (
    ("prompt_tokens",),  # OpenAI Chat
    ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens"),  # Anthropic, OpenAI Responses
    ("promptTokenCount",),  # Gemini
)
_OUTPUT = (("completion_tokens",), ("output_tokens",), ("candidatesTokenCount", "thoughtsTokenCount"))


class Failure(msgspec.Struct, frozen=True):
    """A call that did not come back with a reply."""

    error: BaseException

    def __str__(self) -> str:
        """The error in words; what we raise ourselves needs no class to be understood."""
        if isinstance(self.error, CtxPolicyError):
            return str(self.error)
        return f"{type(self.error).__name__}: {self.error}"


class Refused(msgspec.Struct, frozen=True):
    """A reply that is no note, and why."""

    reason: str


class Note(msgspec.Struct, frozen=True):
    """An accepted reply. `text` is None for the word that means nothing is worth keeping.

    `facts` is the share of the span's facts that the reply had, where `keep_facts` asks for it.
    """

    text: str | None
    facts: float | None = None


def judge(reply: Any, nothing: str) -> Note | Refused:
    """A reply is accepted only if it is text, not blank, not cut off, not a tool call and not an error."""
    if isinstance(reply, Failure):
        return Refused(f"the summariser failed: {reply}")
    given = SummaryReply(reply) if isinstance(reply, str) else reply
    if not isinstance(given, SummaryReply):
        return Refused(f"the summariser returned a {type(reply).__name__}, not text")
    finish = (given.finish_reason or "").lower()
    if given.tool_calls or finish in _CALLS:
        return Refused("the reply is a tool call, not a note")
    if finish in _CUT_OFF:
        return Refused(f"the reply was cut off (finish_reason {given.finish_reason})")
    if finish in _NO_TEXT:
        return Refused(f"the reply ended with finish_reason {given.finish_reason}")
    if not isinstance(given.text, str) or not given.text.strip():
        return Refused("the reply is blank")
    if _CALL_MARKUP.match(given.text):
        return Refused("the reply is the markup of a tool call, not a note")
    if given.text.strip(_DECORATION).casefold() == nothing.strip(_DECORATION).casefold():
        return Note(None)
    return Note(given.text.strip())


def spent(reply: Any) -> Spent:
    """What a call took, in the words of whichever provider; 0 tokens where the reply does not say."""
    usage = reply.usage if isinstance(reply, SummaryReply) and reply.usage else {}
    return Spent(1, _sum(usage, _INPUT), _sum(usage, _OUTPUT))


def _sum(usage: Mapping[str, Any], groups: tuple[tuple[str, ...], ...]) -> int:
    found = ([usage[name] for name in names if isinstance(usage.get(name), int)] for names in groups)
    return sum(next(filter(None, found), ()))
