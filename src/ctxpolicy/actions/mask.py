"""mask: parts of old messages become short placeholders; the messages themselves, and their calls, stay."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import msgspec

from ctxpolicy.actions import Step, Swap, held
from ctxpolicy.archive.standing import left_in
from ctxpolicy.cut import count_lines
from ctxpolicy.gaps import reference_of
from ctxpolicy.intake import Reading
from ctxpolicy.items import Item, Tally
from ctxpolicy.marks import Mark
from ctxpolicy.messages import Call, Message
from ctxpolicy.policy.model import Amount
from ctxpolicy.select import Selector
from ctxpolicy.view import View
from ctxpolicy.when import Condition

ARGUMENTS_KEY = "left_out"  # masked arguments are the object {"left_out": placeholder}: valid JSON, as providers ask


class Mask(msgspec.Struct, frozen=True):
    """A compiled `mask`."""

    parts: frozenset[str]
    mark: Mark
    min_gain: Amount
    done: Condition
    batch: int


class _Masked(msgspec.Struct, frozen=True):
    swap: Swap
    gain: int


def mask(view: View, chosen: Selector, how: Mask, reading: Reading) -> Step:
    """Mask what matches, oldest first until the goal holds, in whole batches, if the pass gains enough."""
    min_gain = how.min_gain.at_least(view.load.limit)
    if how.done(view.facts):
        return Step("declined: its goal holds already", min_gain=min_gain)
    ready = list(_smaller(view, chosen, how, reading))
    if not ready:
        return Step(_why_none(view, chosen), min_gain=min_gain)
    whole = len(ready) // how.batch * how.batch
    if not whole:
        return Step(f"declined: {len(ready):,} messages wait for a batch of {how.batch:,}", min_gain=min_gain)
    taken = _until(view, ready[:whole], how)
    gain = sum(m.gain for m in taken)
    if gain < min_gain:
        return Step(f"declined: the pass would gain {gain:,} tokens", min_gain=min_gain)
    return Step(f"masked {len(taken):,} messages", swaps=[m.swap for m in taken], min_gain=min_gain)


def _why_none(view: View, chosen: Selector) -> str:
    places = view.selected(chosen)
    if not places:
        return "declined: no message matches"
    if all(map(view.is_fixed, places)):
        return "declined: all that matches is protected: " + held(view, view.protection())
    return "declined: nothing that matches would get smaller"


def _until(view: View, ready: list[_Masked], how: Mask) -> list[_Masked]:
    """The oldest of them, as many as the goal asks for."""
    taken: list[_Masked] = []
    tally = view.tally
    for masked in ready:
        taken.append(masked)
        in_tool = masked.gain if view.items[masked.swap.position].role == "tool" else 0
        tally = tally.plus(Tally(tokens=masked.gain, tool_tokens=in_tool), -1)
        if how.done(view.load.facts(tally)):
            break
    return taken


def _smaller(view: View, chosen: Selector, how: Mask, reading: Reading) -> Iterator[_Masked]:
    """Every message that is free to be masked and gets smaller by it, oldest first."""
    for position, parts in sorted(_targets(view, chosen, how).items()):
        if not view.is_fixed(position):
            item = view.items[position]
            veil = _Veil(item, how, reading)
            wire = veil.over(parts)
            if veil.tokens < item.tokens:
                yield _Masked(Swap(position, wire, veil.ref), item.tokens - veil.tokens)


def _targets(view: View, chosen: Selector, how: Mask) -> dict[int, set[str]]:
    """Which parts of which messages: arguments and reasoning of a result are those of the turn that called it."""
    targets: dict[int, set[str]] = {}
    turns: dict[int, _Turn] = {}
    for i in view.selected(chosen):
        head = view.structure.head[i]
        turn = turns.get(head) or turns.setdefault(head, _Turn.of(view, head))
        for part in how.parts:
            for j in turn.places(part, view.items[i].message.result_of) or (i,):
                targets.setdefault(j, set()).add(part)
    return targets


class _Turn(msgspec.Struct, frozen=True):
    """The assistant messages of a unit, by position, and which of them made each call."""

    assistants: list[int]
    callers: dict[str, list[int]]

    @classmethod
    def of(cls, view: View, head: int) -> _Turn:
        assistants = [i for i in view.structure.unit(head) if view.items[i].message.role == "assistant"]
        callers: dict[str, list[int]] = {}
        for i in assistants:
            for call in view.items[i].message.calls:
                callers.setdefault(call.id or "", []).append(i)
        return cls(assistants, callers)

    def places(self, part: str, answers: str | None) -> list[int]:
        """Where this part of a matching message stands, if not in itself; `answers` is the call it is the result of."""
        if part == "reasoning" or (part == "arguments" and answers is None):
            return self.assistants
        return self.callers.get(answers or "", []) if part == "arguments" else []


class _Veil:
    """One message while its parts are masked, each only where the message gets smaller by it.

    A masked part must be found again by the reference in its placeholder, so a part is left alone where the format has
    no place for one.
    """

    def __init__(self, item: Item, how: Mask, reading: Reading) -> None:
        self._item, self._how, self._reading = item, how, reading
        self.ref = reference_of([item])
        self.tokens = item.tokens
        self._seen = item.message

    def over(self, parts: set[str]) -> Any:
        """The wire message with these parts masked."""
        for part, masked in _PARTS:
            if part in parts:
                wire = masked(self)
                if wire is not None and wire is not self._seen.wire:
                    self._take(self._reading.format.read(wire, self._item.message.index))
        return self._seen.wire

    def _take(self, seen: Sequence[Message]) -> None:
        """Go on with a masked form of the message if it is one to the rules, smaller, and names its reference."""
        if len(seen) == 1 and self._is_named(seen[0]):
            tokens = self._reading.meter.message(seen[0])
            if tokens < self.tokens:
                self._seen, self.tokens = seen[0], tokens

    def _is_named(self, seen: Message) -> bool:
        needed = self.ref in self._how.mark.text(ref=self.ref)
        return not needed or self.ref in left_in(seen, self.ref)

    def _note(self, part: str, text: str, tokens: int) -> str:
        """The placeholder for a part that holds a text and costs so many tokens."""
        tool = ", ".join(self._item.tools) or self._item.role  # the role of a result is NO_TOOL
        return self._how.mark.text(
            count=1, tokens=tokens, tool=tool + part, chars=len(text), lines=count_lines(text), ref=self.ref
        )

    def results(self) -> Any:
        text = self._item.message.text
        if self._item.role != "tool" or self._is_note(text):
            return None
        return self._reading.format.with_text(self._seen.wire, self._note("", text, self._reading.meter.text(text)))

    def arguments(self) -> Any:
        calls = self._item.message.calls
        masked = [self._argument(call) for call in calls]
        if all(new == call.arguments for new, call in zip(masked, calls, strict=True)):
            return None
        return self._reading.format.with_arguments(self._seen.wire, masked)

    def _argument(self, call: Call) -> str:
        """The arguments of a call masked, or as they are where that is shorter or was done before."""
        count = self._reading.meter.text
        tokens = count(call.arguments)
        note = self._how.mark.text(
            count=1, tokens=tokens, tool=f"{call.tool} arguments", chars=len(call.arguments), lines=1, ref=self.ref
        )
        masked = json.dumps({ARGUMENTS_KEY: note}, ensure_ascii=False)
        if count(masked) >= tokens or self._is_note(_left_out(call.arguments)):
            return call.arguments
        return masked

    def media(self) -> Any:
        kinds = [kind for kind, _ in self._item.message.media]
        if not kinds:
            return None
        tokens = sum(self._reading.meter.media(kind) * pieces for kind, pieces in self._item.message.media)
        note = self._note(f" {'/'.join(sorted(kinds))}", "", tokens)
        return self._reading.format.without(self._seen.wire, frozenset(("media",)), note)

    def reasoning(self) -> Any:
        extra = self._item.message.extra
        if "reasoning" not in self._item.message.has or any(map(self._is_note, extra)):
            return None
        text = "\n".join(extra)
        note = self._note(" reasoning", text, self._reading.meter.text(text))
        return self._reading.format.without(self._seen.wire, frozenset(("reasoning",)), note)

    def _is_note(self, text: str) -> bool:
        return self._reading.marks.is_placeholder(text)


# In this order: a result's placeholder replaces its text parts, those that stand for media come after it.
_PARTS: Sequence[tuple[str, Callable[[_Veil], Any]]] = (
    ("results", _Veil.results),
    ("arguments", _Veil.arguments),
    ("reasoning", _Veil.reasoning),
    ("media", _Veil.media),
)


def _left_out(arguments: str) -> str:
    """The placeholder in masked arguments; "" for any others."""
    if ARGUMENTS_KEY not in arguments:
        return ""
    try:
        value = json.loads(arguments)
    except (ValueError, RecursionError):
        return ""
    found = value.get(ARGUMENTS_KEY) if isinstance(value, dict) and len(value) == 1 else None
    return found if isinstance(found, str) else ""
