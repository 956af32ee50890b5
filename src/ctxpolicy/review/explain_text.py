"""An explanation as a tree of lines, for the terminal and for the report of a failed test."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Literal, NamedTuple

from ctxpolicy.policy.node import Path_
from ctxpolicy.review.clauses import Clause
from ctxpolicy.review.explain import Account, MessageAccount, RuleAccount, Verdict, protects

Where = Callable[[Path_], str]  # the file:line of a path of the effective policy
Mood = Literal["yes", "no", "head", "plain"]


class Line(NamedTuple):
    """A line of an explanation and how to colour it."""

    text: str
    mood: Mood = "plain"


def message_lines(account: MessageAccount, where: Where) -> Iterator[Line]:
    """Everything about one message: what became of it, then each pin and rule in order with its clauses."""
    yield Line(f"message {account.index}: {_what(account)}", "head")
    yield Line(f"  {account.decision.fate}{_size(account)}")
    if account.read_as is not None:
        yield Line(f"  read as {account.role}, sent as {account.wire_role}  ({where(account.read_as)})")
    if len(account.unit) > 1:
        yield Line(f"  its unit: messages {', '.join(map(str, account.unit))}")
    yield Line(f"  {'in' if account.live else 'not in'} the live tail")
    for title, verdicts in (("on arrival", account.arrival), ("pins", account.pins), ("before a call", account.rules)):
        if verdicts:
            yield Line(title, "head")
            for verdict in verdicts:
                yield from _verdict(verdict, where)


def _what(account: MessageAccount) -> str:
    tools = ", ".join(account.tools)
    if account.role == "tool":
        return f"tool result of {tools}" if tools else "tool result"
    return f"{account.role}, calls {tools}" if tools else account.role


def _size(account: MessageAccount) -> str:
    decision = account.decision
    by = f" by {decision.by}" if decision.by and decision.by != decision.fate else ""
    size = f"{decision.tokens:,} tokens"
    if decision.left != decision.tokens:
        size = f"{decision.tokens:,} -> {decision.left:,} tokens"
    return f"{by}, {size}" + (f", ref {decision.ref}" if decision.ref else "")


def _verdict(verdict: Verdict, where: Where) -> Iterator[Line]:
    mood: Mood = "yes" if verdict.acted or (verdict.kind == "pin" and verdict.matches) else "no"
    yield Line(f"  {verdict.id}: {verdict.outcome}  ({where(verdict.path)})", mood)
    yield from _clauses("when", verdict.when)
    yield from _clauses("keep" if verdict.kind in ("compact", "evict") else "match", verdict.match)


def _clauses(owner: str, clauses: Sequence[Clause], depth: int = 2) -> Iterator[Line]:
    for clause in clauses:
        found = f": {clause.found}" if clause.found else ""
        wanted = f" {clause.wanted}" if clause.wanted else ""
        label = f"{owner} " if owner else ""
        yield Line(
            f"{'  ' * depth}{_word(clause.holds)} {label}{clause.key}{wanted}{found}", "yes" if clause.holds else "no"
        )
        yield from _clauses("", clause.inside, depth + 1)


def _word(holds: bool) -> str:
    return "yes" if holds else "no "


def rule_lines(account: RuleAccount, where: Where) -> Iterator[Line]:
    """Everything about one rule: whether it acted and why, then what its condition and match saw."""
    moment = "on arrival" if account.at == "append" else "before a call"
    yield Line(f"rule {account.id}: {account.action}, {moment}  ({where(account.path)})", "head")
    yield from _told(account)
    yield from _clauses("when", account.when, 1)
    for sieve in account.sieves:
        wanted = f" {sieve.wanted}" if sieve.wanted else ""
        mood: Mood = "yes" if sieve.holds else "no"
        yield Line(f"  {sieve.key}{wanted}: {sieve.holds:,} of {sieve.of:,} messages", mood)
    if account.at == "send":
        yield from _reach(account)


def _told(account: RuleAccount) -> Iterator[Line]:
    """What the rule told of the run, or the conclusion where it told nothing."""
    for event in account.events:
        what = str(event).removeprefix(f"{account.id}: ")
        yield Line(f"  {'+' if event.acted else '-'} {what}", "yes" if event.acted else "no")
    if not account.events:
        yield Line(f"  - {account.conclusion}", "no")


def _reach(account: RuleAccount) -> Iterator[Line]:
    matched = "" if account.matched is None else f"{account.matched:,} messages match, "
    yield Line(
        f"  {matched}{account.free:,} of them free to act on" if matched else f"  {account.free:,} messages free"
    )
    for why, (count, tokens) in account.held.items():
        yield Line(f"    {count:,} held by {protects(why)}, {tokens:,} tokens")


def overview_lines(account: Account) -> Iterator[Line]:
    """One line a message and one an event."""
    for decision in account.result.decisions:
        yield Line(str(decision), "plain" if decision.left == decision.tokens else "no")
    yield Line("rules", "head")
    for event in account.result.events:
        yield Line(f"  {'+' if event.acted else '-'} {event}", "yes" if event.acted else "plain")
