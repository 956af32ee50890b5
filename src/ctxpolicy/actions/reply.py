"""What a summariser's answer is worth: a note, the word for nothing, or a refusal with its reason."""

from __future__ import annotations

import re
from typing import Any

import msgspec

from ctxpolicy.summarize.request import SummaryReply

_CUT_OFF = frozenset(("length", "max_tokens", "max_output_tokens", "incomplete", "model_length"))
_NO_TEXT = frozenset(("tool_calls", "tool_use", "function_call", "content_filter", "safety", "refusal", "error"))
_CALL_MARKUP = re.compile(r"^\s*(?:<\W*(?:tool_call|function_call|invoke|function=|antml|\|tool)|\[TOOL_CALLS\]|\{\s*\"(?:tool_calls|function_call)\")", re.I)
_DECORATION = " \t\r\n\"'`*_.#>-!()[]«»“”„’‘。"


class Failure(msgspec.Struct, frozen=True):
    """A call that did not come back with a reply."""

    error: BaseException

    def __str__(self) -> str:
        return f"{type(self.error).__name__}: {self.error}"


class Refused(msgspec.Struct, frozen=True):
    """A reply that is no note, and why."""

    reason: str


class Note(msgspec.Struct, frozen=True):
    """An accepted reply. `text` is None for the word that means nothing is worth keeping."""

    text: str | None


def judge(reply: Any, nothing: str) -> Note | Refused:
    """A reply is accepted only if it is text, not blank, not cut off, not a tool call and not an error."""
    if isinstance(reply, Failure):
        return Refused(f"the summariser failed: {reply}")
    given = SummaryReply(reply) if isinstance(reply, str) else reply
    if not isinstance(given, SummaryReply):
        return Refused(f"the summariser returned a {type(reply).__name__}, not text")
    finish = (given.finish_reason or "").lower()
    if given.tool_calls or finish in ("tool_calls", "tool_use", "function_call"):
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
