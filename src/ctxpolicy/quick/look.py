"""A quick look at a conversation as it stands in a file: proof, without running the policy, that it stays as it is.

What a policy does begins at thresholds: a message so large, a list so full. A look bounds the tokens of a plain
conversation from above (`ceilings`); where no rule could act even on a list of that size (`possible`), the policy would
return it object for object. Whatever is not plain, or not surely below every threshold, has to be read and run.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import msgspec

from ctxpolicy.items import Facts, Tally
from ctxpolicy.messages import WIRE_ROLES
from ctxpolicy.quick.ceilings import ceiling
from ctxpolicy.quick.possible import may_act_on_arrival, may_hold, roles_of
from ctxpolicy.rules import Pipeline
from ctxpolicy.tokens import Counter

FORMAT = "openai-chat"  # the one whose conversations are plain
_Role = Literal["system", "developer", "user", "assistant", "tool"]


class _Shape(msgspec.Struct, forbid_unknown_fields=True, gc=False):
    """A piece of a plain message. What it does not name might be priced or read otherwise: then nothing is proved."""


class _Text(_Shape):
    type: Literal["text"]
    text: str


class _Function(_Shape):
    name: str
    arguments: str


class _Call(_Shape):
    function: _Function
    id: str | None = None
    type: Literal["function"] | None = None
    index: int | None = None


class _Message(_Shape):
    """A message in which every text that is sent, and nothing else that is, has a field with content."""

    role: _Role
    content: str | list[_Text] | None = None
    name: str | None = None
    tool_calls: list[_Call] | None = None
    tool_call_id: str | None = None
    function_call: None = None
    refusal: None = None
    audio: None = None


class _Line(msgspec.Struct, gc=False):
    """A conversation with what may stand around it; other keys are passed over. Those that are None must be null."""

    messages: list[_Message]
    tools: list[Any] | None = None
    functions: None = None
    system: None = None
    systemInstruction: None = None
    system_instruction: None = None
    instructions: None = None
    answer_generation: None = None  # ToolBench: a line with several conversations


_decode = msgspec.json.Decoder(_Line | list[_Message]).decode


class QuickLook:
    """The looks of one policy, compiled for OpenAI Chat; `tools` are sent along in place of the conversation's own."""

    def __init__(self, pipeline: Pipeline, tools: Sequence[Any] | None = None) -> None:
        spec = pipeline.spec
        self._pipeline, self._tools = pipeline, tools
        prices = (ceiling(spec.budget.counter), pipeline.reading.meter.text)  # the second costs more time
        self._prices = tuple(dict.fromkeys(prices))
        self._roles = {wire: roles_of(wire, spec.read_as) for wire in WIRE_ROLES}
        self._append = [rule for rule in spec.rules if rule.at == "append"]
        self._conditions = [rule.when for rule in spec.rules if rule.at == "send"]

    def untouched(self, data: bytes) -> int | None:
        """The number of messages of the conversation in a JSON text that the policy surely leaves as it is, and has
        nothing to tell about; None where that is not sure.

        An integer of over 4,300 digits beside the messages, which Python would not read, passes.
        """
        try:
            data.decode()  # msgspec does not look into texts that it passes over
            line = _decode(data)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            return None
        messages, tools = (line.messages, line.tools) if isinstance(line, _Line) else (line, None)
        quiet = messages and any(self._is_quiet(messages, tools, price) for price in self._prices)
        return len(messages) if quiet else None

    def _is_quiet(self, messages: Sequence[_Message], tools: list[Any] | None, price: Counter) -> bool:
        total, largest = self._most(messages, price)
        count = len(messages)
        load = self._pipeline.load(tools or None if self._tools is None else self._tools)
        most = load.facts(Tally(total, 0, total, count, count, count))
        return most.used <= most.limit and not self._may_act(largest, most)

    def _may_act(self, largest: dict[str, int], most: Facts) -> bool:
        return any(may_hold(when, most) for when in self._conditions) or any(
            may_act_on_arrival(rule, self._roles[wire], tokens, most.limit)
            for rule in self._append
            for wire, tokens in largest.items()
        )

    def _most(self, messages: Sequence[_Message], price: Counter) -> tuple[int, dict[str, int]]:
        """At most how many tokens the messages have together, and the largest of each wire role."""
        overhead = self._pipeline.reading.meter.MESSAGE_OVERHEAD
        total = 0
        largest: dict[str, int] = {}
        for message in messages:
            content = message.content
            tokens = overhead + price(content if isinstance(content, str) else _joined(content))
            if message.name:
                tokens += price(message.name)
            for call in message.tool_calls or ():
                tokens += price(call.function.name) + price(call.function.arguments)
            total += tokens
            if tokens > largest.get(message.role, 0):
                largest[message.role] = tokens
        return total, largest


def _joined(parts: Sequence[_Text] | None) -> str:
    return "".join(part.text for part in parts or ())
