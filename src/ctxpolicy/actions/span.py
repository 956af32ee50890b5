"""Finding the span of a compaction: whole free units, oldest first, until enough is taken.

A span steps over what is protected, over old markers and over dead calls; it does not step over a summary. Its first
place gets the summary, every later place it leaves gets a plain marker.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping

import msgspec

from ctxpolicy.actions import held
from ctxpolicy.actions.render import Pieces
from ctxpolicy.gaps import DEAREST_REF, Gaps, reference_of
from ctxpolicy.intake import Reading
from ctxpolicy.items import Tally
from ctxpolicy.marks import RECORD, Mark
from ctxpolicy.policy.model import TOKENS_PER_WORD
from ctxpolicy.policy.model import Compact as Declared
from ctxpolicy.select import Selector
from ctxpolicy.units import free_blocks
from ctxpolicy.view import View
from ctxpolicy.when import Condition


class Compact(msgspec.Struct, frozen=True):
    """A compiled `compact`: what was declared, and the parts of it that were compiled."""

    declared: Declared
    done: Condition
    keep: Selector | None
    mark: Mark
    label: Mark
    prompt: Mark

    def min_gain(self, limit: int) -> int:
        """The least number of tokens a compaction must gain."""
        return max(1, self.declared.min_gain.at_least(limit))


class Span(msgspec.Struct, frozen=True):
    """A span by positions: `first` is the place that gets the summary, `places` are all, in order, as (start, stop).

    `count` is how many messages it holds, `tokens` what they cost, `bare` what compacting gains with an empty note,
    `key` names the span by its first unit.
    """

    first: tuple[int, int]
    places: tuple[tuple[int, int], ...]
    count: int
    tokens: int
    bare: int
    key: str

    @property
    def stop(self) -> int:
        return self.places[-1][1]


class _Growing:
    """A span while it takes blocks, with what the list would lose by it."""

    def __init__(self, view: View, how: Compact, reading: Reading, start: int) -> None:
        self._view, self._how, self._reading = view, how, reading
        self.first = Tally()
        self.start = self.stop = start
        self.rest = Gaps(view, how.mark, reading.price)
        label = how.label.text(count=len(view.items), ref=DEAREST_REF)
        self._label_price = reading.price(f"{label}\n{RECORD}\n")
        self._note_price = math.ceil(how.declared.word_limit * TOKENS_PER_WORD)

    def take(self, start: int, stop: int) -> None:
        if start > self.stop:  # something that stays stands between
            self.rest.take(start, stop)
            return
        for item in self._view.items[start:stop]:
            self.first.add(item)
        self.stop = stop

    @property
    def count(self) -> int:
        return self.first.messages + self.rest.saved.messages

    @property
    def bare(self) -> int:
        """Tokens gained with an empty note."""
        return self.first.tokens + self.rest.saved.tokens - self._label_price

    @property
    def gain(self) -> int:
        """Tokens gained with a note of the full word limit."""
        return self.bare - self._note_price

    def enough(self) -> bool:
        """With the summary priced in, the goal holds."""
        left = self._view.tally.plus(self.first, -1).plus(self.rest.saved, -1)
        left.tokens += self._label_price + self._note_price
        return self._how.done(self._view.load.facts(left))

    def finished(self) -> Span:
        places = ((self.start, self.stop), *((run.start, run.stop) for run in self.rest.runs()))
        tokens = sum(item.tokens for a, b in places for item in self._view.items[a:b])
        unit = self._view.structure.unit(self.start)
        key = reference_of([self._view.items[i] for i in unit])
        return Span(places[0], places, self.count, tokens, self.bare, key)


def spans(view: View, how: Compact, reading: Reading, pieces: Pieces) -> Iterator[Span]:
    """Every span in turn, each beginning after the one before it."""
    blocks = _free(view, how)
    at = 0
    while at < len(blocks):
        grown, at = _grow(view, how, reading, pieces, blocks, at)
        yield grown.finished()


def _free(view: View, how: Compact) -> list[tuple[int, int]]:
    """The blocks that a span may take: nothing protected, nothing of ours, no dead call (its answer may still come)."""
    stays: list[object] = [*view.protection(how.keep)]
    for i in view.structure.dead:
        stays[i] = "dead"
    for i, item in enumerate(view.items):
        if item.ours is not None:
            stays[i] = item.ours
    return free_blocks(view.structure, stays)


def _grow(
    view: View, how: Compact, reading: Reading, pieces: Pieces, blocks: list[tuple[int, int]], first: int
) -> tuple[_Growing, int]:
    """The span that begins with block `first` of `blocks`, and the first block after it."""
    declared, min_gain = how.declared, how.min_gain(view.load.limit)
    grown = _Growing(view, how, reading, blocks[first][0])
    room = pieces.room()
    end = blocks[first][0]
    for index in range(first, len(blocks)):
        start, stop = blocks[index]
        if any(item.ours == "summary" for item in view.items[end:start]):
            return grown, index
        room -= pieces.least(end, stop)
        if index > first:
            full = declared.span_max is not None and grown.count + stop - start > declared.span_max
            if room < 0 or (full and grown.gain >= min_gain):
                return grown, index
        grown.take(start, stop)
        end = stop
        if (
            declared.until is not None
            and grown.count >= declared.span_min
            and grown.gain >= min_gain
            and grown.enough()
        ):
            return grown, index + 1
    return grown, len(blocks)


def choose(
    view: View, how: Compact, reading: Reading, pieces: Pieces, failed: Mapping[str, int]
) -> tuple[Span | None, str]:
    """The first span worth a call, or None and why there is none. `failed` maps keys to the tokens they had then."""
    min_gain = how.min_gain(view.load.limit)
    why: list[str] = []
    for span in spans(view, how, reading, pieces):
        if span.count < how.declared.span_min:
            why.append(f"a span of {span.count:,} messages is shorter than span.min {how.declared.span_min:,}")
        elif span.bare < min_gain:
            why.append(f"a span of {span.count:,} messages could gain {span.bare:,} tokens at most, under min_gain")
        elif span.key in failed and span.tokens < failed[span.key] + min_gain:
            why.append(f"the span of {span.count:,} messages failed before and has not grown by min_gain")
        else:
            return span, ""
    why = list(dict.fromkeys(why)) or ["no span is free"]
    return None, f"{'; '.join(why)}; {what_stays(view, how)}"


def what_stays(view: View, how: Compact) -> str:
    """In words, what no span may take, and what summaries take up."""
    summaries = sum(item.tokens for item in view.items if item.ours == "summary")
    also = f"; summaries take {summaries:,} tokens" if summaries else ""
    return held(view, view.protection(how.keep)) + also
