"""Make a failing pair smaller: leave things out as long as it fails."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from fuzz.pairs import Pair
from properties.scenarios import Scenario, is_valid

_NEEDED = {"version", "name", "id", "at", "match", "window", "rules", "pins", "max_tokens"}


def shrunk(pair: Pair, fails: Callable[[Pair], bool]) -> Pair:
    """A smaller pair that fails too; no single thing can be left out of it."""
    smaller = next((p for p in _smaller(pair) if is_valid(p.scenario.doc) and fails(p)), None)
    while smaller is not None:
        pair = smaller
        smaller = next((p for p in _smaller(pair) if is_valid(p.scenario.doc) and fails(p)), None)
    return pair


def _smaller(pair: Pair) -> Iterator[Pair]:
    made = pair.scenario
    for size in (8, 4, 2, 1):
        for start in range(0, len(made.messages), size):
            if size < len(made.messages):
                yield _without_messages(pair, start, start + size)
    for doc in _less(made.doc):
        yield pair._replace(scenario=replace(made, doc=doc))
    if made.meta:
        yield pair._replace(scenario=replace(made, meta={}))
    if len(made.script) > 1:
        for word in made.script:
            yield pair._replace(scenario=replace(made, script=(word,)))
    for stop in pair.stops:
        yield pair._replace(stops=[s for s in pair.stops if s != stop])


def _without_messages(pair: Pair, start: int, stop: int) -> Pair:
    def moved(length: int) -> int:
        return length - max(0, min(length, stop) - start)

    made = pair.scenario
    messages = [*made.messages[:start], *made.messages[stop:]]
    meta = {moved(i): m for i, m in made.meta.items() if not start <= i < stop}
    stops = sorted({moved(s) for s in pair.stops} - {0})
    scenario = Scenario(made.doc, messages, meta, made.script)
    return pair._replace(scenario=scenario, stops=stops, dump=max(1, moved(pair.dump)))


def _less(value: Any) -> Iterator[Any]:
    """The document with one entry left out, at any depth."""
    if isinstance(value, dict):
        for key, inner in value.items():
            if key not in _NEEDED:
                yield {k: v for k, v in value.items() if k != key}
            yield from ({**value, key: less} for less in _less(inner))
    elif isinstance(value, list):
        for n, inner in enumerate(value):
            yield [*value[:n], *value[n + 1 :]]
            yield from ([*value[:n], less, *value[n + 1 :]] for less in _less(inner))
