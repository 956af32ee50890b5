"""A policy's rules, compiled: what `compile` makes and a run carries out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from ctxpolicy.actions.evict import Evict
from ctxpolicy.actions.mask import Mask
from ctxpolicy.actions.span import Compact
from ctxpolicy.actions.truncate import Truncate
from ctxpolicy.arguments import tool_list
from ctxpolicy.intake import Reading
from ctxpolicy.items import Load
from ctxpolicy.match import Test, Traits
from ctxpolicy.policy.model import Spec
from ctxpolicy.select import Selector
from ctxpolicy.when import Condition


class AppendRule(msgspec.Struct, frozen=True):
    """A compiled rule for arriving messages. `how` is None for refuse, whose own words are `words`."""

    id: str
    test: Test
    how: Truncate | None
    words: str | None = None


class SendRule(msgspec.Struct, frozen=True):
    """A compiled rule for the moment before a model call."""

    id: str
    action: str
    when: Condition
    how: Truncate | Mask | Compact | Evict
    chosen: Selector | None = None


class Pipeline(msgspec.Struct, frozen=True):
    """A policy, compiled for one budget limit (tokens)."""

    spec: Spec
    limit: int
    reading: Reading
    traits: Traits
    pins: tuple[tuple[str, Selector], ...]
    append_rules: tuple[AppendRule, ...]
    send_rules: tuple[SendRule, ...]

    def load(self, tools: Sequence[Any] | None, system: Any = None) -> Load:
        """What a call costs beside its list."""
        meter = self.reading.meter
        return Load(self.limit, meter.tools(tool_list(tools)), meter.CALL_OVERHEAD, system=meter.system(system))
