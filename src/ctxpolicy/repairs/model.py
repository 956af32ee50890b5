"""What repairs work on and give: the places of a list, and what was done to them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import msgspec

from ctxpolicy.archive.standing import digests
from ctxpolicy.formats import Format
from ctxpolicy.result import Removed
from ctxpolicy.values import reference

Note = Callable[[str, int, str], None]  # the code of a provider's rule, the message of the given list, what was done


class Repair(msgspec.Struct, frozen=True):
    """What was done to message `index` (of the list as it was given), and the rule that asked for it."""

    code: str
    index: int
    says: str

    def __str__(self) -> str:
        return f"message {self.index}: {self.code}: {self.says}"


class Place(msgspec.Struct, frozen=True, gc=False):
    """A message of the repaired list, and the messages of the given list that it is or has parts of (new: none)."""

    wire: Any
    of: tuple[int, ...]


class Repaired(msgspec.Struct, frozen=True):
    """The repaired list, place by place, and what was done, in the order of the given list.

    `refused` is true for a list of which nothing would be left: it is as it was, and none of it is settled.
    """

    given: Sequence[Any]
    places: list[Place]
    repairs: list[Repair]
    refused: bool = False

    @property
    def messages(self) -> list[Any]:
        """The repaired list; a message that needed no repair is the given object."""
        return [place.wire for place in self.places]

    def is_given(self, place: Place) -> bool:
        """True for a message of the given list, as it was."""
        return len(place.of) == 1 and place.wire is self.given[place.of[0]]

    def changed(self) -> Iterator[tuple[tuple[int, ...], int | None]]:
        """Messages of the given list with the number of the place that stands for them now; None where none does.

        None also for a message of which several hold parts, and where the order is another: by what stands there now
        `restore` could not tell what stood there before.
        """
        if not self.repairs:
            return
        held = [0] * len(self.given)
        for place in self.places:
            for n in place.of:
                held[n] += 1
        told = bytearray(len(self.given))
        for at, place in enumerate(self.places):
            span = tuple(range(place.of[0], place.of[-1] + 1)) if place.of else ()  # with what left in between
            if self.is_given(place):
                told[place.of[0]] = 1
            elif sorted(place.of) == list(place.of) and all(held[n] == (n in place.of) for n in span):
                yield span, at
                for n in span:
                    told[n] = 1
        for n, done in enumerate(told):
            if not done:
                yield (n,), None

    def removed(self) -> Iterator[Removed]:
        """What the repairs took out or changed, as records of an archive."""
        lefts = list(digests(self.messages)) if self.repairs else []
        for gone, at in self.changed():
            yield record([self.given[n] for n in gone], "" if at is None else lefts[at])

    def settled(self, format: Format) -> Repaired | None:
        """The beginning that stays as it is whatever comes after the list: up to the last turn that a user opens.

        None where there is none.
        """
        for k in range(len(self.places) - 1, 0, -1) if not self.refused else ():
            start = self.places[k].of[0] if self.places[k].of else 0
            if start and _opens_a_turn(format, self.places[k - 1].wire, self.places[k].wire):
                if self.repairs and not all(max(place.of, default=0) < start for place in self.places[:k]):
                    return None
                repairs = [repair for repair in self.repairs if repair.index < start]
                return Repaired(self.given[:start], self.places[:k], repairs)
        return None


def _opens_a_turn(format: Format, before: Any, wire: Any) -> bool:
    """True for a user's words after what is not a user's: nothing that belongs together stands on both sides."""
    if wire.get("role") != "user" or before.get("role") in ("user", "system", "developer"):
        return False
    return format.read(wire, 0)[0].role == "user"


def record(gone: list[Any], left: str) -> Removed:
    """The record of messages for which another one stands now: `left` is the digest of the repaired list up to it.

    Where none stands for them, it is "", and only the reference leads to them.
    """
    return Removed(reference(gone), tuple(gone), left)
