"""The span as the summariser reads it. Content is indented, so that nothing in it can pass for a label line."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ctxpolicy.cut import cut
from ctxpolicy.intake import Reading
from ctxpolicy.items import Item
from ctxpolicy.match import encodable
from ctxpolicy.messages import Message
from ctxpolicy.policy.model import Truncate

_LEAST_RESULT = 200  # tokens to which results are shortened before a span stops growing


class Pieces:
    """The messages of a list as texts for the summariser, made when asked, and what they cost its input."""

    def __init__(self, items: Sequence[Item], reading: Reading, input_tokens: int | None, frame: int) -> None:
        self._items, self._reading = items, reading
        self._input_tokens, self._frame = input_tokens, frame
        self._costs: dict[int, int] = {}

    def room(self) -> float:
        """Tokens of rendered messages that fit beside the prompt's own text."""
        return float("inf") if self._input_tokens is None else self._input_tokens - self._frame

    def least(self, start: int, stop: int) -> int:
        """What these messages cost the input when their results are shortened as far as they may be."""
        if self._input_tokens is None:
            return 0
        costs = ((self._items[i], self._cost(i)) for i in range(start, stop))
        return sum(min(cost, _LEAST_RESULT) if item.role == "tool" else cost for item, cost in costs)

    def text(self, positions: Sequence[int], kept: frozenset[int]) -> str:
        """The rendered span: every position, those in `kept` marked as staying, shortened where it would not fit."""
        caps = self._caps(positions)
        return "\n".join(
            _piece(n, self._items[i], i in kept, self._reading, caps.get(i)) for n, i in enumerate(positions, 1)
        )

    def _cost(self, position: int) -> int:
        if position not in self._costs:
            piece = _piece(position, self._items[position], True, self._reading, None)
            self._costs[position] = self._reading.meter.text(piece) + 1
        return self._costs[position]

    def _caps(self, positions: Sequence[int]) -> dict[int, int]:
        """How far to shorten which messages: the largest results first, anything else only if that is not enough."""
        if self._input_tokens is None:
            return {}
        room = self.room()
        costs = {i: self._cost(i) for i in positions}
        results = {i: cost for i, cost in costs.items() if self._items[i].role == "tool"}
        caps = _level(results, room - (sum(costs.values()) - sum(results.values())), _LEAST_RESULT)
        short = sum(min(cost, caps.get(i, cost)) for i, cost in costs.items())
        return caps if short <= room else _level(costs, room, 0)


def _level(costs: dict[int, int], room: float, least: int) -> dict[int, int]:
    """The caps that bring `costs` into `room` by lowering the largest to one level, not below `least`."""
    level, rest = room, sorted(costs.values())
    if sum(rest) <= room:
        return {}
    for n, cost in enumerate(rest):
        level = room / (len(rest) - n)
        if cost > level:
            break
        room -= cost
    level = max(level, least)
    return {i: int(level) for i, cost in costs.items() if cost > level}


def _piece(number: int, item: Item, kept: bool, reading: Reading, cap: int | None) -> str:
    """One message: a label line, then its content, each line of it indented."""
    label = f"[{number}] {_label(item)}{' (stays in the list)' if kept else ''}:"
    pieces = [label]
    for text in (item.message.text, *_notes(item.message)):
        if text and not text.isspace():
            pieces.append(f"  {_indented(_short(text, reading, cap, label))}")
    return "\n".join(pieces)


def _label(item: Item) -> str:
    """Who speaks: the role as read, the tool of a result, the name of a speaker."""
    message = item.message
    tools = ", ".join(item.tools)
    label = f"tool result of {tools}" if item.role == "tool" and tools else "tool result" if item.role == "tool" else ""
    label = label or (f"{message.role} (put in by the harness)" if item.role == "injected" else item.role)
    if message.name and item.role != "tool":
        label += f" {_indented(encodable(message.name))[:60]}"
    return label


def _notes(message: Message) -> Iterator[str]:
    """What is shown of a message beside its text."""
    for call in message.calls:
        yield f"calls {call.tool} {call.arguments}"
    for kind, count in message.media:
        yield f"[{count} {kind}{'s' if count > 1 else ''} not shown]"


def _short(text: str, reading: Reading, cap: int | None, label: str) -> str:
    text = encodable(text)
    if cap is None:
        return text
    room = max(8, cap - reading.meter.text(label) - 2)
    caps = Truncate(max_tokens=room, json="text")
    return (
        cut(text, caps, reading.meter.text, "", lambda **v: f"\n[... {v['chars']} characters not shown ...]\n") or text
    )


def _indented(text: str) -> str:
    """Every line after the first indented; `splitlines` knows whatever some reader may take for the end of a line."""
    return "  ".join(text.strip("\n").splitlines(keepends=True))
