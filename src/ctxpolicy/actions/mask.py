"""mask: parts of old messages become short placeholders; the messages themselves, and their calls, stay."""

from __future__ import annotations

import json
from collections.abc import Iterator

import msgspec

from ctxpolicy.actions import Step, Swap, held
from ctxpolicy.gaps import reference_of
from ctxpolicy.intake import Reading
from ctxpolicy.items import Item, Tally
from ctxpolicy.marks import Mark
from ctxpolicy.match import Selector
from ctxpolicy.policy.model import Amount
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
    min_gain = int(how.min_gain.of(view.load.limit))
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
    if all(view.pinned[i] is not None or view.live[i] for i in places):
        return "declined: all that matches is protected: " + held(view, view.protection())
    return "declined: nothing that matches would get smaller"


def _until(view: View, ready: list[_Masked], how: Mask) -> list[_Masked]:
    """The oldest of them, as many as the goal asks for."""
    taken: list[_Masked] = []
    tally = view.tally
    for masked in ready:
        taken.append(masked)
        role = view.items[masked.swap.position].role
        tally = tally.plus(Tally({role: masked.gain}, masked.gain), -1)
        if how.done(view.load.facts(tally)):
            break
    return taken


def _smaller(
    view: View, chosen: Selector, how: Mask, reading: Reading
) -> Iterator[_Masked]:
    """Every message that is free to be masked and gets smaller by it, oldest first."""
    for position, parts in sorted(_targets(view, chosen, how).items()):
        if view.pinned[position] is not None or view.live[position] or position == len(view.items) - 1:
            continue
        item = view.items[position]
        ref = reference_of([item])
        wire = item.message.wire
        for part in sorted(parts):
            wire = _without(part, wire, position, item, ref, how, reading)
        if wire is not item.message.wire:
            gain = item.tokens - reading.meter.message(reading.format.read(wire, position)[0])
            if gain > 0:
                yield _Masked(Swap(position, wire, ref), gain)


def _targets(view: View, chosen: Selector, how: Mask) -> dict[int, set[str]]:
    """Which parts of which messages: arguments and reasoning of a result are those of the message that called it."""
    targets: dict[int, set[str]] = {}
    for i in view.selected(chosen):
        head = view.structure.head[i]
        for part in how.parts:
            targets.setdefault(head if part in ("arguments", "reasoning") else i, set()).add(part)
    return targets


def _without(
    part: str, wire: dict[str, object], position: int, item: Item, ref: str, how: Mask, reading: Reading
) -> dict[str, object]:
    """The wire message with one part masked; the same object where there is nothing to mask or it would not shrink."""
    message = item.message
    if part == "results":
        if item.role != "tool" or reading.marks.is_placeholder(message.text):
            return wire
        return reading.format.with_text(wire, _placeholder(item, "", reading.meter.text(message.text), ref, how))
    if part == "arguments":
        return _without_arguments(wire, item, ref, how, reading)
    kinds = message.has & {"image", "audio", "file"} if part == "media" else message.has & {"reasoning"}
    if not kinds:
        return wire
    return reading.format.without(wire, frozenset((part,)), _placeholder(item, f" {'/'.join(sorted(kinds))}", item.tokens, ref, how))


def _without_arguments(
    wire: dict[str, object], item: Item, ref: str, how: Mask, reading: Reading
) -> dict[str, object]:
    arguments = []
    for call in item.message.calls:
        tokens = reading.meter.text(call.arguments)
        note = how.mark.text(tokens=tokens, tool=f"{call.tool} arguments", chars=len(call.arguments), ref=ref)
        masked = json.dumps({ARGUMENTS_KEY: note}, ensure_ascii=False)
        arguments.append(masked if reading.meter.text(masked) < tokens else call.arguments)
    if all(a == c.arguments for a, c in zip(arguments, item.message.calls, strict=True)):
        return wire
    return reading.format.with_arguments(wire, arguments)


def _placeholder(item: Item, what: str, tokens: int, ref: str, how: Mask) -> str:
    tool = (", ".join(item.tools) or item.role) + what
    text = item.message.text
    return how.mark.text(count=1, tokens=tokens, tool=tool, chars=len(text), lines=text.count("\n") + 1, ref=ref)
