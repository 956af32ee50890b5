"""Repairs: a list made one that its provider accepts, in the order in which harnesses do it.

What is empty or foreign leaves; results that answer nothing leave, calls without one are answered, results come right
after their calls; surplus cache marks leave. With `strict`, what only some models, clouds and compatible servers refuse
is repaired too: neighbours of one role become one message, and a user message comes first and last.

The same list always gives the same repaired list, and what is repaired is repaired no further.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from ctxpolicy.formats import Format
from ctxpolicy.repairs.model import Place, Repair, Repaired
from ctxpolicy.repairs.order import in_order
from ctxpolicy.repairs.pairing import pair
from ctxpolicy.repairs.scrub import Scrubbed, scrub

__all__ = ["Place", "Repair", "Repaired", "repaired"]


def repaired(
    messages: Sequence[Any], format: Format, *, strict: bool = False, settled: Repaired | None = None
) -> Repaired:
    """The list as the provider of this format accepts it; `strict`: as every server that speaks the format does.

    `settled` is what an earlier call gave for the beginning of the list: only the rest is looked at. A list of which
    nothing would be left stays as it is. Cache marks are counted apart (`cache_marks`): the last ones stay, so that
    even those of a settled beginning may have to go. Raises TranscriptInvalid for what is no message of the format.
    """
    start = 0 if settled is None else len(settled.given)
    read = [(n, scrub(messages[n], n, format, strict=strict)) for n in range(start, len(messages))]
    if settled is not None and _reaches_back(scrubbed for _, scrubbed in read):
        return repaired(messages, format, strict=strict)
    repairs = [Repair(code, n, says) for n, scrubbed in read for code, says in scrubbed.done]

    def note(code: str, index: int, says: str) -> None:
        repairs.append(Repair(code, index, says))

    places = pair(format, [(n, scrubbed) for n, scrubbed in read if scrubbed.wire is not None], note)
    places = in_order(places, format, note, strict=strict, opens=settled is None)
    repairs.sort(key=lambda repair: repair.index)
    if settled is not None:
        return Repaired(messages, [*settled.places, *places], [*settled.repairs, *repairs])
    if not places:
        return Repaired(messages, [Place(wire, (n,)) for n, wire in enumerate(messages)], [], refused=True)
    return Repaired(messages, places, repairs)


def _reaches_back(scrubbed: Iterable[Scrubbed]) -> bool:
    """True where some result answers no call among these messages."""
    asked: set[str | None] = set()
    for message in (message for one in scrubbed for message in one.messages):
        if message.result_of is not None and message.result_of not in asked:
            return True
        asked.update(call.id for call in message.calls)
    return False
