"""A live session: append every message, prepare before every model turn."""

from __future__ import annotations

import resource
from collections.abc import Iterator
from typing import Any

from langchain_core.messages import trim_messages
from langchain_core.messages.utils import convert_to_messages, count_tokens_approximately
from tests.bench.measure import Line, at_least, at_most, in_turn
from tests.bench.sessions import opening, steps
from tests.naive import NaiveList

import ctxpolicy

_POLICY = "version: 1\nname: live\nextends: [builtin:default]\nbudget: {counter: chars}\n"


def _summary(_: object) -> str:
    return "The log of the north hall was read; nothing was found."


def ours(messages: int, summarize: Any = _summary) -> ctxpolicy.ManagedWindow:
    window = ctxpolicy.loads(_POLICY).window(summarize=summarize, archive=False)
    for message in opening():
        window.append(message)
    for step in steps(messages // 2):
        window.prepare()
        for message in step:
            window.append(message)
    return window


def _naive(messages: int) -> None:
    window = NaiveList(128_000, 0.7, 4000, summarize=_summary)
    for message in opening():
        window.append(message)
    for step in steps(messages // 2):
        window.prepare()
        for message in step:
            window.append(message)


def _langchain(messages: int) -> None:
    """`trim_messages` over the whole history at every turn, as its documentation shows it."""
    history = convert_to_messages(opening())
    for step in steps(messages // 2):
        trim_messages(
            history,
            max_tokens=85_600,
            token_counter=count_tokens_approximately,
            strategy="last",
            start_on="human",
            include_system=True,
        )
        history += convert_to_messages(step)


def lines() -> Iterator[Line]:
    work = [lambda: ours(1_000), lambda: ours(100_000), lambda: ours(100_000, summarize=False)]
    short, long, bare = in_turn(work, runs=3)
    per_short, per_long = short / 1_000 * 1e6, long / 100_000 * 1e6
    yield at_most("live: CPU per message at 100,000 messages, with a summariser", per_long, "us", 10)
    yield at_most("live: that against the same at 1,000 messages", per_long / per_short, "x", 1.5)
    yield at_most("live: CPU per message at 100,000 messages, without a summariser", bare / 100_000 * 1e6, "us", 10)
    window = ours(100_000)
    yield at_most("live: events kept after 100,000 messages", len(window.events), "", 1000)
    yield at_most("live: peak resident memory", resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, "MB", 300)
    mine, naive, trim = in_turn([lambda: ours(3_000), lambda: _naive(3_000), lambda: _langchain(3_000)], runs=1)
    yield at_least("live: LangChain trim_messages at every turn / ours, 3,000 messages", trim / mine, "x", 100)
    yield at_least("live: the naive list / ours, 3,000 messages", naive / mine, "x", 100)
