"""Worst case of the pins above the trigger.

What the pins can hold, each at its largest, is more than the pressure at which the first rule acts. Pins with a rank in
tokens count with these, pins with a rank in messages count with the cap on tool results. Pins that nothing caps are
named and not counted.

Why: From there on the rule acts at every call and gets nowhere, because what would have to leave is pinned.

Bad:

    version: 1
    budget: {window: 128000}
    pins:
      - {id: recent, match: {newest: {tokens: 100000}}}
    rules:
      - {id: make-room, when: {pressure: {gt: 0.7}}, evict: {until: {pressure: {lt: 0.5}}}}

Good:

    version: 1
    budget: {window: 128000}
    pins:
      - {id: recent, match: {newest: {tokens: 20000}}}
    rules:
      - {id: make-room, when: {pressure: {gt: 0.7}}, evict: {until: {pressure: {lt: 0.5}}}}
"""

from __future__ import annotations

from collections.abc import Iterator

from ctxpolicy.policy.checks.covers import covers
from ctxpolicy.policy.checks.lines import triggers
from ctxpolicy.policy.checks.problem import Also, Context, Problem
from ctxpolicy.policy.checks.reach import reaches
from ctxpolicy.policy.model import Compact, Evict, Match, Pin, Rank, Spec, Truncate
from ctxpolicy.policy.phrases import listed


def check(context: Context) -> Iterator[Problem]:
    first = min(triggers(context, Compact, Evict), key=lambda found: found[2], default=None)
    if first is None or context.limit is None:
        return
    place, rule, trigger = first
    cap = result_cap(context.spec)
    sizes = [(pin, worst_case(pin, context.limit, cap)) for pin in context.spec.pins]
    capped = {pin.id: size for pin, size in sizes if size is not None}
    if not capped or sum(capped.values()) <= trigger:
        return
    largest = max(capped, key=lambda name: capped[name])
    index = next(i for i, pin in enumerate(context.spec.pins) if pin.id == largest)
    parts = listed([f"`{name}` {size:,.0f}" for name, size in capped.items()], "and")
    message = (
        f"pins can hold {sum(capped.values()):,.0f} tokens ({parts}), more than the {trigger:,.0f} from which "
        f"`{rule.id}` acts: it would act at every call and get nowhere"
    )
    free = [f"`{pin.id}`" for pin, size in sizes if size is None]
    if free:
        message += f"; not counted, because nothing caps it: {', '.join(free)}"
    also = Also(("rules", place, "when"), f"`{rule.id}` acts from here")
    yield Problem(
        "CP411", ("pins", index, "match"), message, "let them hold less, or let the rule act later", also=also
    )


def result_cap(spec: Spec) -> int | None:
    """The most tokens that any tool result can have once it has arrived; None where nothing caps all of them."""
    caps = [
        max(rule.action.max_tokens, _from(rule.match))
        for rule in spec.rules
        if rule.at == "append" and isinstance(rule.action, Truncate) and rule.match and _every_result(rule.match)
    ]
    return min(caps, default=None)


def _every_result(match: Match) -> bool:
    """True for a match of all tool results above some size."""
    bounds = match.tokens
    sized = bounds is None or (bounds.lt is None and bounds.lte is None)
    return sized and covers(Match(role=match.role, tokens=match.tokens), match) and _bare(match)


def _bare(match: Match) -> bool:
    named = Match(role=match.role, tokens=match.tokens, everything=match.everything)
    return match == named and (match.role is None or "tool" in match.role)


def _from(match: Match | None) -> int:
    bounds = match.tokens if match else None
    return int(max(bounds.gt or 0, bounds.gte or 0)) if bounds else 0


def worst_case(pin: Pin, limit: int, cap: int | None) -> float | None:
    """The most tokens that a pin can hold by its own bounds; None where it has none."""
    sizes = [_of_rank(rank, pin.match, limit, cap) for rank in (pin.match.newest, pin.match.oldest) if rank]
    return min((size for size in sizes if size is not None), default=None)


def _of_rank(rank: Rank, match: Match, limit: int, cap: int | None) -> float | None:
    if rank.amount is not None:
        return rank.amount.of(limit)
    each = match.tokens.lt or match.tokens.lte if match.tokens else None
    if each is None and reaches(match, "tool"):
        each = cap
    return None if each is None or rank.count is None else rank.count * each
