"""What a run began with, and the figures of what it came to."""

from __future__ import annotations

import msgspec

from ctxpolicy.arrivals import Arrival
from ctxpolicy.items import Item, by_role
from ctxpolicy.memory import Memory
from ctxpolicy.result import Spent, Usage
from ctxpolicy.view import View
from ctxpolicy.working import Outcome


class Begun(msgspec.Struct, frozen=True):
    """What a run began with. `original` is the caller's list where it is not what `items` were read from."""

    items: list[Item]
    arrivals: tuple[Arrival, ...]
    roles: dict[str, int]
    memories: dict[str, Memory]
    original: list[Item] | None

    def given(self) -> list[Item]:
        """The messages as they came in, before append rules cut them."""
        if self.original is not None:
            return self.original
        given = list(self.items)
        for cut in self.arrivals:
            given[cut.position] = cut.whole
        return given

    def given_roles(self) -> dict[str, int]:
        """Tokens of the same by role."""
        if self.original is not None:
            return by_role(self.original)
        cut = by_role((self.items[cut.position] for cut in self.arrivals), self.roles, -1)
        return by_role((cut.whole for cut in self.arrivals), cut)


def figures(begun: Begun, outcome: Outcome, end: View, handed: list[Item]) -> Usage:
    """The figures of a run: tokens by role before and in the list handed out, and what its summaries took."""
    load, summaries = end.load, Spent()
    for event in outcome.events:
        if event.spent is not None:
            summaries = summaries.plus(event.spent)
    after = begun.roles if handed is begun.items else by_role(handed)
    pressure = end.facts.pressure if handed is outcome.items else load.used_by(after) * load.factor / load.limit
    return Usage(
        load.by_role(begun.given_roles()),
        load.by_role(after),
        load.tools,
        load.limit,
        pressure,
        pressure <= 1.0,
        summaries,
    )
