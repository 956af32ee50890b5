"""One pair of a random policy and a random transcript."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import NamedTuple

from properties.chance import Chance
from properties.rounds import WAYS
from properties.scenarios import Scenario, scenario

SIZES = (8, 18, 18, 18, 30)  # moves of a transcript, at most


class Pair(NamedTuple):
    """A scenario, and how its list grows: the way in which the caller hands it over, and the lengths at which he does.

    `dump` is the length at which a window is saved and taken up again, `keep` how much of it another history keeps.
    Of the dearer checks each pair gets some; `turn` tells which.
    """

    scenario: Scenario
    way: str
    stops: Sequence[int]
    dump: int
    keep: int
    turn: int


def draw(seed: int, number: int) -> Pair:
    """Pair `number` of a seed, the same wherever it is drawn."""
    chance = Chance(Random(f"{seed}:{number}").randint)
    made = None
    while made is None:
        made = scenario(chance, chance.one(SIZES), tight=chance.once_in(2))
    lengths = range(1, len(made.messages) + 1)
    stops = sorted(chance.some(lengths, most=4))
    return Pair(made, chance.one(WAYS), stops, chance.one(lengths), chance.number(0, len(lengths)), number)


def snippet(pair: Pair) -> str:
    """The pair as Python that runs in the directory `tests`."""
    made = pair.scenario
    return "\n".join(
        (
            "from properties.scenarios import Scenario",
            "",
            f"scenario = Scenario(\n    {made.doc!r},",
            "    [",
            *(f"        {message!r}," for message in made.messages),
            "    ],",
            f"    {dict(made.meta)!r},\n    {made.script!r},\n)",
            f"way, stops, dump, keep, turn = {tuple(pair[1:])!r}",
            "result = scenario.apply()",
        )
    )
