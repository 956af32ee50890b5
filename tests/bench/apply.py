"""One `apply` over a long list, against one `trim_messages` over the same."""

from __future__ import annotations

import tracemalloc
from collections.abc import Iterator
from typing import Any

from langchain_core.messages import trim_messages
from langchain_core.messages.utils import convert_to_messages, count_tokens_approximately
from tests.bench.measure import Line, at_least, at_most, in_turn
from tests.bench.sessions import conversation

import ctxpolicy

_POLICY = "version: 1\nname: one\nextends: [builtin:default]\nbudget: {counter: chars}\n"


def _trim(messages: list[dict[str, Any]]) -> None:
    trim_messages(
        convert_to_messages(messages),
        max_tokens=85_600,
        token_counter=count_tokens_approximately,
        strategy="last",
        start_on="human",
        include_system=True,
    )


def lines() -> Iterator[Line]:
    policy = ctxpolicy.loads(_POLICY)
    some, many = conversation(10_000), conversation(100_000)
    ours, trim, long = in_turn([lambda: policy.apply(some), lambda: _trim(some), lambda: policy.apply(many)], runs=3)
    yield at_least("apply: one LangChain trim_messages / ours, 10,000 messages", trim / ours, "x", 3)
    yield at_most("apply: 100,000 messages against 10 times 10,000", long / (10 * ours), "x", 1.3)
    tracemalloc.start()
    loaded = conversation(20_000)
    held = tracemalloc.get_traced_memory()[0]
    tracemalloc.reset_peak()
    policy.apply(loaded)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    yield at_most("apply: peak memory against that of the loaded list", peak / held, "x", 1.3)
