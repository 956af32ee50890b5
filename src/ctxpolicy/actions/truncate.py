"""truncate: a message's text is cut to a cap, head and tail kept, a marker between them."""

from __future__ import annotations

import msgspec

from ctxpolicy.actions import Step, Swap
from ctxpolicy.cut import cut
from ctxpolicy.gaps import reference_of
from ctxpolicy.intake import Reading
from ctxpolicy.items import Item
from ctxpolicy.marks import Mark
from ctxpolicy.policy.model import Truncate as Caps
from ctxpolicy.select import Selector
from ctxpolicy.view import View


class Truncate(msgspec.Struct, frozen=True):
    """A compiled `truncate`."""

    caps: Caps
    mark: Mark


def shortened(item: Item, how: Truncate, reading: Reading, position: int) -> Swap | None:
    """The message with its text cut, or None where there is nothing to cut or cutting would not make it smaller."""
    ref = reference_of([item])
    tool = item.tools[0] if item.tools else item.role

    def marker(**amounts: str) -> str:
        return how.mark.render(**{"tool": tool, **amounts})

    own = None if how.caps.marker is None else marker
    count = reading.meter.text
    text = cut(item.message.text, how.caps, count, ref, own)
    if text is None or count(text) >= count(item.message.text):  # lines alone can be cut without gaining a token
        return None
    return Swap(position, reading.format.with_text(item.message.wire, text), ref)


def truncate(view: View, chosen: Selector, how: Truncate, reading: Reading) -> Step:
    """Cut what matches. Pinned messages stay, but in the live tail tool results are cut, pinned or not."""
    places = [i for i in view.selected(chosen) if _may_cut(view, i)]
    swaps = [s for i in places if (s := shortened(view.items[i], how, reading, i)) is not None]
    if not swaps:
        return Step("declined: nothing that matches is over its cap and free to be cut")
    return Step(f"cut {len(swaps):,} messages to {how.caps.max_tokens:,} tokens", swaps=swaps)


def _may_cut(view: View, position: int) -> bool:
    if view.live[position]:
        return view.items[position].role == "tool"
    return not view.is_fixed(position)
