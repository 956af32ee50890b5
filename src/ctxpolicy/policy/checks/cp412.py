"""Rule that can never act.

Whatever the messages are, an earlier rule, a pin or the rule's own keys leave it nothing to do.

Why: Its author counts on something that does not happen.

Bad:

    version: 1
    budget: {window: 128000}
    rules:
      - {id: cap, at: append, match: {role: tool}, truncate: {max_tokens: 2000}}
      - {id: cap-shell, at: append, match: {role: tool, tool: bash}, truncate: {max_tokens: 4000}}

Good:

    version: 1
    budget: {window: 128000}
    rules:
      - {id: cap, at: append, match: {role: tool}, truncate: {max_tokens: 4000}}
      - {id: cap-shell, at: append, match: {role: tool, tool: bash}, truncate: {max_tokens: 2000}}
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from ctxpolicy.policy.checks.covers import covers
from ctxpolicy.policy.checks.lines import ANY_LIMIT, goal, lines
from ctxpolicy.policy.checks.problem import Also, Context, Problem
from ctxpolicy.policy.checks.reach import reaches
from ctxpolicy.policy.checks.walk import rules
from ctxpolicy.policy.model import Compact, Compare, Evict, Mask, Match, Pin, Refuse, Rule, Truncate, When
from ctxpolicy.policy.node import Path_

LOOK_BACK = 30  # entries that a rule is compared with, so that a long policy is answered at once
_ALL = Match(everything=True)
_HINT = "remove it, or change what it shares with the other"


def check(context: Context) -> Iterator[Problem]:
    earlier: dict[type, list[tuple[int, Rule]]] = {}  # by action: only rules of one kind shadow each other
    for path, rule in rules(context.spec):
        alike = earlier.setdefault(type(rule.action), [])
        if why := _by_itself(rule):
            yield Problem("CP412", path, f"`{rule.id}` can never act: {why}", "change its match or its action")
        elif pin := _pinned(context, rule):
            message = f"`{rule.id}` can never act: the pin `{pin[1].id}` holds all that it matches"
            yield Problem("CP412", path, message, _HINT, also=Also(("pins", pin[0], "match"), "the pin is here"))
        else:
            yield from _after(path, rule, alike[-LOOK_BACK:], context.limit or ANY_LIMIT)
        alike.append((int(path[1]), rule))


def _after(path: Path_, rule: Rule, alike: list[tuple[int, Rule]], limit: int) -> Iterator[Problem]:
    for index, other in alike:
        if why := _shadowed(rule, other, limit):
            also = Also(("rules", index, "id"), f"`{other.id}` is here")
            yield Problem("CP412", path, f"`{rule.id}` can never act: {why}", _HINT, also=also)
            return


def _by_itself(rule: Rule) -> str | None:
    """Why a rule's own keys leave it nothing to do."""
    action, match = rule.action, rule.match or _ALL
    if isinstance(action, Truncate) and match.tokens and action.max_lines is None:
        highest = min((b for b in (match.tokens.lt, match.tokens.lte) if b is not None), default=None)
        if highest is not None and highest <= action.max_tokens:
            return f"what it matches has {highest:g} tokens at most and may keep {action.max_tokens:,}"
    if isinstance(action, Mask):
        parts = set(action.parts)
        if parts == {"results"} and not reaches(match, "tool"):
            return "its match rules out tool results, and it masks nothing else"
        if parts <= {"arguments", "reasoning"} and not reaches(match, "tool") and not reaches(match, "assistant"):
            return "its match rules out calls and results, and it masks nothing else"
    if isinstance(action, (Compact, Evict)) and action.keep and action.keep.everything:
        return "`keep: all` leaves nothing to take"
    return None


def _pinned(context: Context, rule: Rule) -> tuple[int, Pin] | None:
    """The pin that holds all that a rule could act on. In the live tail truncate acts on results, pinned or not."""
    acts_on_pinned = isinstance(rule.action, Truncate) and reaches(rule.match or _ALL, "tool")
    if rule.at == "append" or rule.match is None or acts_on_pinned:
        return None
    pins = enumerate(context.spec.pins[:LOOK_BACK])
    return next(((i, pin) for i, pin in pins if covers(pin.match, rule.match)), None)


def _shadowed(rule: Rule, other: Rule, limit: int) -> str | None:
    """Why an earlier rule leaves this one nothing to do."""
    action, before = rule.action, other.action
    if isinstance(action, Truncate) and isinstance(before, Truncate):
        return _cut_already(rule, other, action, before)
    if isinstance(action, Refuse) and isinstance(before, Refuse) and _comes_first(other, rule):
        return f"`{other.id}` refuses all that it would"
    if isinstance(action, Mask) and isinstance(before, Mask) and _comes_first(other, rule):
        whole = before.until == "all" and (before.batch or 1) == 1 and before.min_gain is None
        if whole and set(action.parts) <= set(before.parts):
            return f"`{other.id}` masks all that it would"
    if isinstance(action, Evict) and isinstance(before, Evict):
        return _evicted_already(rule, other, action, before, limit)
    return None


def _comes_first(other: Rule, rule: Rule) -> bool:
    """True when the other acts, before this one does, on all that this one matches."""
    both = other.at == rule.at and other.when in (None, rule.when)
    return both and covers(other.match or _ALL, rule.match or _ALL)


def _cut_already(rule: Rule, other: Rule, action: Truncate, before: Truncate) -> str | None:
    shorter = before.max_tokens <= action.max_tokens
    if action.max_lines is not None:
        shorter = shorter and before.max_lines is not None and before.max_lines <= action.max_lines
    match = rule.match or _ALL
    on_arrival = other.at == "append" and match.role == ("tool",)  # all that is cut at append is results
    first = other.when in (None, rule.when) if other.at == rule.at else on_arrival
    if (
        shorter
        and first
        and covers(other.match or _ALL, match if action.max_lines else _over(match, action.max_tokens))
    ):
        return f"`{other.id}` cuts the same messages to {before.max_tokens:,} tokens already"
    return None


def _over(match: Match, tokens: int) -> Match:
    """Of what matches, the messages that a cap can shorten."""
    bounds = match.tokens or Compare()
    least = max(b for b in (bounds.gt, bounds.gte, tokens) if b is not None)
    return replace(match, everything=False, tokens=replace(bounds, gt=least))


def _evicted_already(rule: Rule, other: Rule, action: Evict, before: Evict, limit: int) -> str | None:
    """An earlier evict that acts sooner, goes further and keeps no more, leaves nothing that could leave."""
    if other.when is None or rule.when is None or not _single(other.when):
        return None
    first, second = (lines(r.when, "above", limit).get("used") for r in (other, rule) if r.when)
    if first is None or second is None or first > second:
        return None
    stops = 0.0 if before.until == "all" else goal(other, first, limit)
    keeps_no_more = before.keep is None or (action.keep is not None and covers(action.keep, before.keep))
    if stops is None or stops > second or not keeps_no_more or not _simple_until(before):
        return None
    return f"`{other.id}` acts sooner and leaves it nothing to take"


def _single(when: When) -> bool:
    """True for a condition on one fact alone."""
    return len(when.facts) == 1 and not (when.not_ or when.any_ or when.all_)


def _simple_until(action: Evict) -> bool:
    return not isinstance(action.until, When) or _single(action.until)
