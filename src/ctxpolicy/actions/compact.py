"""compact: the oldest free span is replaced by one summary. This module asks, judges the answer and installs it."""

from __future__ import annotations

import math
from collections.abc import Generator, Sequence
from typing import Any

import msgspec

from ctxpolicy.actions import Step
from ctxpolicy.actions.render import Pieces
from ctxpolicy.actions.span import Compact, Span, choose, what_stays
from ctxpolicy.gaps import Change, Gaps, reference_of
from ctxpolicy.intake import Reading
from ctxpolicy.items import Item
from ctxpolicy.marks import RECORD
from ctxpolicy.match import encodable
from ctxpolicy.memory import Memory
from ctxpolicy.policy.model import TOKENS_PER_WORD
from ctxpolicy.result import Spent
from ctxpolicy.summarize.gate import weigh
from ctxpolicy.summarize.reply import Note, Refused, spent
from ctxpolicy.summarize.request import SummaryRequest
from ctxpolicy.view import View

NO_SUMMARISER = "no summariser is set"
_REPLY_ROOM = 2  # the reply may take this many times the tokens of its word limit, so that it is seldom cut off


class Attempt(msgspec.Struct, frozen=True):
    """One pass: what it decided, whether a call or its reply failed, and whether another pass may follow."""

    step: Step
    failed: bool = False


def compact(
    view: View, rule: str, how: Compact, reading: Reading, memory: Memory, fresh: frozenset[str], asks: Sequence[str]
) -> Generator[SummaryRequest, Any, Attempt]:
    """One pass over the list. `asks` names the rule's summarisers.

    Yields a request for each of them in turn until one gives a note, and is sent the reply (a Failure where the call
    failed).
    """
    min_gain = how.min_gain(view.load.limit)
    if asks and memory.rests(how.declared.breaker, view.used, min_gain):
        return Attempt(_declined(f"rests after {memory.failures} failures in a row", min_gain))
    pieces = Pieces(view.items, reading, how.declared.input_tokens, _frame(view, how, reading))
    span, why = choose(view, how, reading, pieces, memory.failed)
    if span is None:
        return Attempt(_declined(why, min_gain))
    would = f"{span.count:,} messages, {span.tokens:,} tokens"
    if not asks:
        return Attempt(_declined(f"{NO_SUMMARISER}: {would} would have been summarised", min_gain))
    request = _request(view, rule, how, pieces, span)
    took, refused = Spent(), list[str]()
    for link, name in enumerate(asks):
        reply = yield msgspec.structs.replace(request, link=link)
        took = took.plus(spent(reply))
        note = weigh(reply, request, how.declared.nothing, how.declared.keep_facts)
        if isinstance(note, Note):
            step = _installed(view, how, reading, span, note, fresh)
            gain = _gain(view, reading, step)
            if gain >= min_gain:
                memory.succeed()
                return Attempt(_told(step, name, note, refused, took))
            note = Refused(f"the summary of {would} would gain {gain:,} tokens, less than min_gain")
        refused.append(note.reason if len(asks) == 1 or name in note.reason else f"{name}: {note.reason}")
    memory.fail(view.used, span.key, span.tokens)
    declined = _declined(f"{'; '.join(refused)}; the rest is {what_stays(view, how)}", min_gain)
    return Attempt(msgspec.structs.replace(declined, spent=took), failed=True)


def _told(step: Step, name: str, note: Note, refused: Sequence[str], took: Spent) -> Step:
    """The step with what asking took, who wrote the note where others failed before, and how many facts it has."""
    words = step.reason
    if note.facts is not None:
        words += f", {note.facts:.0%} of the facts kept"
    if refused:
        words += f", by {name} ({'; '.join(refused)})"
    return msgspec.structs.replace(step, reason=words, spent=took, facts=note.facts)


def _declined(why: str, min_gain: int) -> Step:
    return Step(f"declined: {why}", min_gain=min_gain)


def _frame(view: View, how: Compact, reading: Reading) -> int:
    """Tokens of the prompt without its span."""
    if how.declared.input_tokens is None:
        return 0
    return reading.meter.text(_prompt(view, how, "", len(view.items))) + 8


def _prompt(view: View, how: Compact, span: str, count: int) -> str:
    task = next((item.message.text for item in view.items if item.role == "user"), "")
    return how.prompt.render(
        span=span,
        word_limit=how.declared.word_limit,
        nothing=how.declared.nothing,
        count=count,
        previous=encodable(_previous(view, how) or ""),
        task=encodable(task),
    )


def _previous(view: View, how: Compact) -> str | None:
    """The text of the newest summary, under `summaries: merge`."""
    position = _merged(view, how)
    return None if position is None else view.items[position].message.text


def _merged(view: View, how: Compact) -> int | None:
    if how.declared.summaries != "merge":
        return None
    return max(_may_leave(view), default=None)


def _may_leave(view: View) -> list[int]:
    """Earlier summaries; one in the live tail stays, as everything there does."""
    return [i for i, item in enumerate(view.items) if item.ours == "summary" and not view.live[i]]


def _request(view: View, rule: str, how: Compact, pieces: Pieces, span: Span) -> SummaryRequest:
    taken = {i for a, b in span.places for i in range(a, b)}
    positions = [i for i in range(span.first[0], span.stop) if view.items[i].ours is None]
    text = pieces.text(positions, frozenset(i for i in positions if i not in taken))
    return SummaryRequest(
        prompt=_prompt(view, how, text, span.count),
        span=text,
        word_limit=how.declared.word_limit,
        rule=rule,
        max_tokens=math.ceil(how.declared.word_limit * TOKENS_PER_WORD * _REPLY_ROOM),
        messages=[view.items[i].message.wire for i in positions],
        previous=_previous(view, how),
    )


def _installed(view: View, how: Compact, reading: Reading, span: Span, note: Note, fresh: frozenset[str]) -> Step:
    """The changes that put the summary at the span's first place and a marker at every other place it leaves."""
    gaps = Gaps(view, how.mark, reading.price)
    changes: list[Change] = []
    if note.text is None:
        gaps.take(*span.first)
        words = f"removed {span.count:,} messages: the summariser found nothing worth keeping"
    else:
        changes.append(_summary(view, how, span, note.text))
        words = f"compacted {span.count:,} messages into a summary"
    for place in span.places[1:]:
        for start, stop in _without_markers(view, place):
            gaps.take(start, stop)
    dropped = _summaries_to_drop(view, how, note, fresh)
    for position in dropped:
        gaps.take(position, position + 1)
    if dropped:
        words += f"; {len(dropped):,} earlier {'summary' if len(dropped) == 1 else 'summaries'} left"
    changes += gaps.changes()
    return Step(words, sorted(changes, key=lambda c: c.start), min_gain=how.min_gain(view.load.limit))


def _without_markers(view: View, place: tuple[int, int]) -> list[tuple[int, int]]:
    """A place without the old markers in it; `Gaps` takes those in by itself."""
    ours = [i for i in range(*place) if view.items[i].ours == "gap"]
    edges = [place[0], *(e for i in ours for e in (i, i + 1)), place[1]]
    return [(a, b) for a, b in zip(edges[::2], edges[1::2], strict=True) if a < b]


def _summary(view: View, how: Compact, span: Span, text: str) -> Change:
    ref = reference_of(view.items[slice(*span.first)])
    label = how.label.text(count=span.count, tokens=span.tokens, tool="messages", ref=ref)
    return Change(*span.first, f"{label}\n{RECORD}\n{encodable(text)}", ref)


def _summaries_to_drop(view: View, how: Compact, note: Note, fresh: frozenset[str]) -> list[int]:
    """Summaries that become gaps: the one merged into the new note, and the first beyond `max_summaries`."""
    if note.text is None:
        return []
    drop = {i for i in (_merged(view, how),) if i is not None}
    old = [i for i in _may_leave(view) if not _is_fresh(view.items[i], fresh) and i not in drop]
    over = sum(item.ours == "summary" for item in view.items) - len(drop) + 1 - how.declared.max_summaries
    return sorted({*drop, *old[: max(0, over)]})


def _is_fresh(item: Item, fresh: frozenset[str]) -> bool:
    return item.edit is not None and item.edit.ref in fresh


def _gain(view: View, reading: Reading, step: Step) -> int:
    """Tokens the list gets smaller by."""
    out = sum(item.tokens for c in step.changes for item in view.items[c.start : c.stop])
    return out - sum(reading.price(c.text) for c in step.changes)
