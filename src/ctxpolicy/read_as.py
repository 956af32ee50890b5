"""`read_as`, compiled: the role by which the rules see a message, decided when it comes in.

Its matches look at one message alone, but for `oldest`: that is counted while the list is read, in order, so it never
changes later.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from msgspec.structs import replace

from ctxpolicy.items import Item
from ctxpolicy.match import Test, by_message_alone, conjunction, test
from ctxpolicy.messages import WIRE_ROLES
from ctxpolicy.policy.model import Match, ReadAs

Reader = Callable[[Item], str | None]


def reader_maker(entries: Sequence[ReadAs], limit: int) -> Callable[[], Reader] | None:
    """A maker of readers, one for each list that is read; None when the policy has no `read_as`."""
    if not entries:
        return None
    return lambda: _reader(entries, limit)


def _reader(entries: Sequence[ReadAs], limit: int) -> Reader:
    counters: list[Test] = []
    tests = [(entry.match.role, _counted(entry.match, limit, counters), entry.as_) for entry in entries]
    by_role = {wire: [(t, as_) for roles, t, as_ in tests if roles is None or wire in roles] for wire in WIRE_ROLES}

    def read(item: Item) -> str | None:
        for count in counters:  # every rank counts every message, whichever entry decides in the end
            count(item)
        for matches, as_ in by_role[item.role]:
            if matches(item):
                return as_
        return None

    return read


def _counted(match: Match, limit: int, counters: list[Test]) -> Test:
    """The match with its `oldest` counted as messages come in."""
    if by_message_alone(match):
        return test(match, limit)
    children = (match.not_, match.any_, match.all_)
    others = [test(replace(match, oldest=None, not_=None, any_=None, all_=None), limit)]
    not_, any_, all_ = children
    if not_ is not None:
        others.append(_negated(_counted(not_, limit, counters)))
    if any_ is not None:
        others.append(_either([_counted(m, limit, counters) for m in any_]))
    others += [_counted(m, limit, counters) for m in all_ or ()]
    return _ranked(match, others, limit, counters)


def _ranked(match: Match, others: list[Test], limit: int, counters: list[Test]) -> Test:
    if match.oldest is None:
        return conjunction(others)
    rank = match.oldest
    room = float(rank.count if rank.count is not None else rank.amount.of(limit) if rank.amount else 0)
    matches = conjunction(others)
    inside = False  # the answer for the message that is being read

    def count(item: Item) -> bool:
        nonlocal room, inside
        inside = matches(item)
        if inside:
            room -= 1 if rank.count is not None else item.tokens
            inside = room >= 0
            room = room if inside else -1.0  # the one that crosses the line closes it
        return inside

    counters.append(count)
    return lambda _: inside


def _negated(inner: Test) -> Test:
    return lambda item: not inner(item)


def _either(choices: list[Test]) -> Test:
    return lambda item: any(choice(item) for choice in choices)
