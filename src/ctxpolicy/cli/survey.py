"""What fills conversations, as tables: by conversation, by role and by tool."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from ctxpolicy.cli.output import Column, counted, paint, printable, table, wrap
from ctxpolicy.policy.model import Spec
from ctxpolicy.policy.thresholds import percent
from ctxpolicy.simulate.composition import Composition, Share, largest_first

_MOST_TOOLS = 20
_SHARES = (
    Column("role", least=6),
    Column("messages", right=True, drop=4),
    Column("tokens", right=True),
    Column("share", right=True, drop=1),
    Column("sent", right=True, drop=2),
    Column("95 %", right=True, drop=5),
    Column("largest", right=True, drop=3),
    Column("repeated", right=True, drop=6),
)
_TOOLS = (Column("tool", least=6), Column("calls", right=True, drop=4), *_SHARES[2:])
_CONVERSATIONS = (
    Column("conversation", least=10, end=True),
    Column("messages", right=True, drop=3),
    Column("calls", right=True, drop=4),
    Column("tokens", right=True),
    Column("of the window", right=True, drop=1),
    Column("sent", right=True, drop=2),
)
CONVERSATION_TITLES = [column.title for column in _CONVERSATIONS]


def as_text(named: Sequence[tuple[str, Composition]], spec: Spec, width: int) -> Iterator[str]:
    """Several conversations, a line each, and what fills them all."""
    total = Composition()
    for _, one in named:
        total.add(one)
    rows = [conversation_cells(name, one, spec) for name, one in named]
    yield from _painted(table(_CONVERSATIONS, rows, width))
    yield ""
    yield from shares(total, width)
    yield ""
    what = f"{counted(total.conversations, 'conversation')}, {counted(total.messages, 'message')}"
    yield from wrap(f"{what}: {session_sentence(total, spec)}", width)


def session_sentence(one: Composition, spec: Spec) -> str:
    """Tokens sent when everything is kept, and the peak share of the window."""
    peak = f"{one.peak:,} tokens = {percent(one.peak / spec.budget.window)} of the window"
    return f"keeping everything, {counted(one.calls, 'call')} sent {one.sent:,} tokens; the largest {peak}"


def shares(one: Composition, width: int) -> Iterator[str]:
    """By role and by tool: tokens in the list, their share, and what was sent of them over the session."""
    yield from _painted(table(_SHARES, [*_cells(largest_first(one.roles.values()), one)], width))
    if not one.tools:
        return
    tools = largest_first(one.tools.values())
    yield ""
    yield from _painted(table(_TOOLS, [*_cells(tools[:_MOST_TOOLS], one)], width))
    if len(tools) > _MOST_TOOLS:
        yield from wrap(f"... and {len(tools) - _MOST_TOOLS:,} more tools", width)


def _painted(lines: list[str]) -> Iterator[str]:
    yield paint(lines[0], bold=True)
    yield from lines[1:]


def _cells(found: Iterable[Share], one: Composition) -> Iterator[list[str]]:
    for share in found:
        yield [
            printable(share.name), f"{share.calls:,}", f"{share.tokens:,}", percent(share.tokens / max(1, one.used)),
            f"{share.sent:,}", f"{share.high:,}", f"{share.largest:,}", f"{share.repeated:,}" if share.repeated else "",
        ]  # fmt: skip


def conversation_cells(name: str, one: Composition, spec: Spec) -> list[str]:
    """A conversation on one line, under CONVERSATION_TITLES."""
    share = percent(one.peak / spec.budget.window)
    return [printable(name), f"{one.messages:,}", f"{one.calls:,}", f"{one.used:,}", share, f"{one.sent:,}"]


def as_json(one: Composition) -> dict[str, Any]:
    """A composition for programs."""
    return {
        "calls": one.calls,
        "sent": one.sent,
        "peak": one.peak,
        "roles": [_share_json(share) for share in largest_first(one.roles.values())],
        "tools": [_share_json(share) for share in largest_first(one.tools.values())],
    }


def _share_json(share: Share) -> dict[str, Any]:
    return {
        "name": share.name, "calls": share.calls, "tokens": share.tokens, "sent": share.sent,
        "percentile_95": share.high, "largest": share.largest, "repeated": share.repeated,
    }  # fmt: skip
