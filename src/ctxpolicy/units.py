"""What belongs together: units, the blocks that must leave whole, calls without results, and the live tail."""

from __future__ import annotations

from bisect import bisect
from collections.abc import Mapping, Sequence

import msgspec

from ctxpolicy.items import Item


class Structure(msgspec.Struct, frozen=True):
    """The units of a list, by position.

    `head[i]` is the first message of the unit that message i belongs to, `members` lists the positions of units that
    hold results, by head. `reach[i]` is the last position of the unit that begins
    at i. `blocks` are (start, stop) ranges that partition the list: a unit, with whatever stands between its call and
    its last result. `outstanding` and `dead`
    are the heads of units with unanswered calls; `orphans` results without an earlier call; `doubles` second results
    of one call; `crossed` positions that stand between a call and its result without belonging there.
    """

    head: list[int]
    members: dict[int, list[int]]
    reach: list[int]
    blocks: list[tuple[int, int]]
    outstanding: list[int]
    dead: list[int]
    orphans: list[int]
    doubles: list[int]
    crossed: list[int]
    last_assistant: int

    def unit(self, position: int) -> Sequence[int]:
        """Positions of the unit that holds this position."""
        return self.members.get(self.head[position]) or (position,)

    def splits(self, start: int, stop: int) -> bool:
        """True when taking out positions `start` to `stop` would part some unit."""
        return any(self.head[i] < start or self.reach[self.head[i]] >= stop for i in range(start, stop))


def segment(items: Sequence[Item]) -> Structure:
    """The structure of a list, in one pass. A result belongs to the nearest earlier call with its id."""
    size = len(items)
    head = list(range(size))
    reach = head.copy()
    callers: dict[str, int] = {}
    members: dict[int, list[int]] = {}
    orphans: list[int] = []
    doubles: list[int] = []
    waiting: dict[int, dict[str, int]] = {}  # how many calls without a result yet, by head
    last_assistant = -1
    for i, item in enumerate(items):
        message = item.message
        answers, turn = message.result_of, i
        if message.role == "assistant":
            last_assistant = i
            if answers is not None or message.follows:
                turn = _turn(items, head, i, callers)
        elif answers is not None:
            turn = callers.get(answers, -1)
            if turn < 0:
                orphans.append(i)
                continue
        if turn != i:
            head[i] = turn
            reach[turn] = i
            if turn in members:
                members[turn].append(i)
            else:
                members[turn] = [turn, i]
            if answers is not None and not _answer(waiting, turn, answers) and message.role != "assistant":
                doubles.append(i)
        if message.calls and message.role == "assistant":
            calls = waiting.setdefault(turn, {})
            for call in message.calls:
                call_id = call.id or ""
                callers[call_id] = turn
                calls[call_id] = calls.get(call_id, 0) + 1
    unanswered = list(waiting)
    newest = head[last_assistant] if last_assistant >= 0 else -1
    outstanding = [i for i in unanswered if i == newest or _pending(items[i])]
    dead = [i for i in unanswered if i != newest and not _pending(items[i])]
    blocks, crossed = _blocks(head, reach)
    return Structure(head, members, reach, blocks, outstanding, dead, orphans, doubles, crossed, last_assistant)


def _answer(waiting: dict[int, dict[str, int]], turn: int, call_id: str) -> bool:
    """Take off one call of this id that waits in a turn; False where none does."""
    calls = waiting.get(turn)
    if calls is None or call_id not in calls:
        return False
    calls[call_id] -= 1
    if not calls[call_id]:
        del calls[call_id]
        if not calls:
            del waiting[turn]
    return True


def _turn(items: Sequence[Item], head: Sequence[int], position: int, callers: Mapping[str, int]) -> int:
    """The head of the turn that an assistant message belongs to: its own where it goes on with no earlier one."""
    message = items[position].message
    if message.follows and position and items[position - 1].message.role == "assistant":
        return head[position - 1]
    return position if message.result_of is None else callers.get(message.result_of, position)


def free_blocks(structure: Structure, protected: Sequence[object]) -> list[tuple[int, int]]:
    """The ranges that may leave, each whole, when the positions with a true entry in `protected` must stay.

    What overlaps leaves together or not at all: a unit with something protected inside its range stays. What stands
    inside the range of a unit that stays is free by itself, but a result without a call stays with it: providers take
    it for one of that unit's, and a marker there would part the unit's call from its results.
    """
    if not structure.crossed:
        return [(a, b) for a, b in structure.blocks if not any(protected[a:b])]
    stays = bytearray(map(bool, protected))
    leaving = sorted(structure.members)
    before = -1
    while len(leaving) != before:
        before = len(leaving)
        for order in (leaving, leaving[::-1]):  # both ways, so that a chain of overlapping units is settled at once
            for head in order:
                if stays.find(1, head, structure.reach[head] + 1) >= 0:
                    inside = slice(bisect(structure.orphans, head), bisect(structure.orphans, structure.reach[head]))
                    for i in (*structure.members[head], *structure.orphans[inside]):
                        stays[i] = 1
        leaving = [head for head in leaving if not stays[head]]
    free: list[tuple[int, int]] = []
    at, size = 0, len(stays)
    while at < size:
        if stays[at]:
            at += 1
            continue
        end, i = structure.reach[at], at + 1
        while i <= end:
            end = max(end, structure.reach[i])
            i += 1
        free.append((at, end + 1))
        at = end + 1
    return free


def _pending(item: Item) -> bool:
    return item.meta is not None and item.meta.get("pending") is True


def _blocks(head: list[int], reach: list[int]) -> tuple[list[tuple[int, int]], list[int]]:
    """Ranges that leave whole, and the positions caught in a unit they do not belong to."""
    blocks: list[tuple[int, int]] = []
    crossed: list[int] = []
    start, size = 0, len(head)
    while start < size:
        end, i = reach[start], start + 1
        while i <= end:
            if reach[i] > end:
                end = reach[i]
            if head[i] != start:
                crossed.append(i)
            i += 1
        blocks.append((start, end + 1))
        start = end + 1
    return blocks, crossed


def live_tail(items: Sequence[Item], structure: Structure) -> bytearray:
    """1 for every position the model has not answered yet.

    Everything after the last assistant message; that message's whole unit if it has calls; every unit with an
    outstanding result. Without an assistant message: everything but system messages, and behind the first marker or
    summary of ours those as well, for it stands for the answers that have left.
    """
    last = structure.last_assistant
    if last < 0:
        ours = min((i for i, item in enumerate(items) if item.ours is not None), default=len(items))
        return bytearray(i > ours or item.role not in ("system", "developer") for i, item in enumerate(items))
    live = bytearray(len(items))
    for i in range(last + 1, len(items)):
        live[i] = 1
    turn = structure.head[last]
    calls = any(items[i].message.calls for i in structure.unit(last))
    for head in {*([turn] if calls else []), *structure.outstanding}:
        for i in structure.unit(head):
            live[i] = 1
    return live
