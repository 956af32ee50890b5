"""Calibration: what the provider says about a list that it was sent, how long it was or that it was too long.

Most of a list was in the last call as well, so a counter is wrong by nearly the same factor from one call to the next.
Therefore the factor is that of the last report alone: prompt tokens that the provider counted over those that we did.
What came in since is off by a factor of its own; for that one turn a rule's trigger below 1.0 leaves room.

A report may be wrong (a sum over calls, the call of a summariser). Too low a factor costs little: the next report
mends it. Too high a one makes rules take out, at once, what would have had room. So a factor is at least 0.5, and one
report raises it at most to 2, or to twice what it was; reports that agree are believed. More than 2 is needed for
`chars` alone, which counts less than a third of Chinese text. What comes of it: `python -m tests.bench calibration`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from ctxpolicy import template
from ctxpolicy.actions.evict import Evict
from ctxpolicy.errors import CtxPolicyError
from ctxpolicy.items import Facts
from ctxpolicy.marks import MARKER, Mark
from ctxpolicy.policy.model import Budget
from ctxpolicy.result import Event, Usage
from ctxpolicy.rules import Pipeline, SendRule

FACTOR = (0.5, 2.0)
PLAUSIBLE = 6  # times: more than `chars` is off on Japanese (5, by cl100k_base), less than the ten of a wrong report
AFTER_OVERFLOW = 0.7  # as far as the default policy evicts: a list shortened by crumbs would be refused again
LAST_RESORT = "overflow"

# Where usage has the prompt tokens: the first name tells whose usage it is, the others are counted beside it.
_FIELDS: tuple[tuple[str, ...], ...] = (
    ("prompt_tokens",),  # OpenAI Chat and what is compatible, cached ones included
    ("promptTokenCount",),  # Gemini, cached ones included
    ("prompt_token_count",),  # Gemini's SDK
    ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens"),  # Anthropic; Responses has the first
    ("inputTokens", "cacheReadInputTokens", "cacheWriteInputTokens"),  # Bedrock
)
_HUGE = 10**15  # more than anybody can mean; keeps sums and words within what floats and texts can hold
_ABSENT = object()


class Observed(msgspec.Struct, frozen=True):
    """What a report comes to: the new factor (None: the old one stays), and an event where something is to be said."""

    factor: float | None
    event: Event | None = None


def observe(usage: Any, sent: Usage, refused: bool = False) -> Observed:
    """The factor by a provider's usage for the list whose figures are `sent`; none where that was `refused`.

    Raises CtxPolicyError for what is no usage: no known field, or one that holds no number. Numbers that cannot be
    true are ignored, with an event.
    """
    told, counted = prompt_tokens(usage), sent.after["total"]
    if told is None:
        return Observed(None, _event(counted, "ignored: the usage has no prompt tokens for this call"))
    if refused:
        return Observed(None, _event(counted, "ignored: the last list was refused, so this is another call's usage"))
    figures = f"the provider counted {told:,} prompt tokens and we counted {counted:,}"
    if not counted <= PLAUSIBLE * told <= PLAUSIBLE**2 * counted:  # NaN is never within
        why = f"ignored: {figures}, which is more than {PLAUSIBLE} times apart; give the usage of the call that the "
        return Observed(None, _event(counted, why + "last prepared list was sent in, and of no other"))
    ratio, before = told / counted, sent.pressure * sent.limit / counted
    factor = max(FACTOR[0], min(ratio, FACTOR[1] * max(1.0, before)))
    if factor == ratio:
        return Observed(factor)
    why = f"held at {factor:.2f}: {figures}, {ratio:.2f} times as many; a counter nearer to the provider's helps"
    return Observed(factor, _event(counted, why, failed=False) if factor != before else None)


def prompt_tokens(usage: Any) -> float | None:
    """Prompt tokens in the words of the known providers, cached ones included; None where the field is empty.

    `usage` is a mapping or an SDK's object; None is what a call without usage has. Raises CtxPolicyError for
    everything else.
    """
    if usage is None:
        return None
    for first, *beside in _FIELDS:
        if _value(usage, first) is not _ABSENT:
            parts = [_number(usage, name) for name in (first, *beside)]
            negative = next((part for part in parts if part is not None and part < 0), None)
            return negative or (None if parts[0] is None else sum(part or 0 for part in parts))
    known = ", ".join(names[0] for names in _FIELDS)
    raise CtxPolicyError(f"this {type(usage).__name__} is no usage: it has none of {known}; pass the reply's usage")


def overflowed(factor: float, counted: int, budget: Budget) -> Observed:
    """The factor after the provider called a list of `counted` tokens too long: it filled at least the whole window.

    There is no bound here: whatever the counter says, the list must get shorter.
    """
    least = budget.window - budget.reserve
    why = f"the provider refused a list of {round(counted * factor):,} tokens; the policy says that its window is "
    event = _event(counted, why + f"{budget.window:,}. The next prepare takes something out")
    return Observed(max(factor, 1.01 * least / counted), event)


def with_last_resort(pipeline: Pipeline) -> Pipeline:
    """The pipeline with one more rule at its end, for a list that was refused: what the policy's own rules left over
    the limit loses its oldest free units. Pins hold."""
    how = Evict(_short_enough, None, Mark(template.compile(MARKER)))
    rule = SendRule(LAST_RESORT, "evict", _too_long, how)
    return msgspec.structs.replace(pipeline, send_rules=(*pipeline.send_rules, rule))


def _too_long(facts: Facts) -> bool:
    return facts.pressure > 1.0


def _short_enough(facts: Facts) -> bool:
    return facts.pressure < AFTER_OVERFLOW


def _value(usage: Any, name: str) -> Any:
    return usage.get(name, _ABSENT) if isinstance(usage, Mapping) else getattr(usage, name, _ABSENT)


def _number(usage: Any, name: str) -> float | None:
    value = _value(usage, name)
    if value is None or value is _ABSENT:
        return None
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise CtxPolicyError(f"usage: {name} is {_told(value)}; it must be a number of tokens")
    return max(min(value, _HUGE), -_HUGE)


def _told(value: Any) -> str:
    return repr(value) if isinstance(value, (bool, str)) and len(repr(value)) < 40 else f"a {type(value).__name__}"


def _event(used: int, reason: str, failed: bool = True) -> Event:
    return Event(None, "observe", False, reason, used, used, failed=failed)
