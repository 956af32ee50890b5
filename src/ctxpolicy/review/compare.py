"""Two policies on the same conversations: which messages change fate, at what cost, and which rules do more or less."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal

from ctxpolicy.errors import MessageTooLarge
from ctxpolicy.policy.model import Spec
from ctxpolicy.result import Decision, Result

Went = Result | MessageTooLarge  # how a conversation went under one policy


@dataclass(frozen=True, slots=True)
class Change:
    """Messages `first` to `last` (from 0) that meet another fate, all in the same way; decisions are of the first."""

    first: int
    last: int
    old: Decision
    new: Decision

    @property
    def count(self) -> int:
        """How many messages."""
        return self.last - self.first + 1


@dataclass(frozen=True, slots=True)
class Figures:
    """What one policy made of a conversation: tokens of everything sent, and pressure after; or why it was refused."""

    before: int = 0
    after: int = 0
    pressure: float = 0.0
    fits: bool = True
    refused: str | None = None


@dataclass(frozen=True, slots=True)
class Comparison:
    """One conversation under both policies. `changed` counts messages of another fate, `sent` those sent otherwise."""

    where: str
    messages: int
    old: Figures
    new: Figures
    changes: tuple[Change, ...]
    changed: int
    sent: int

    @property
    def same(self) -> bool:
        """True when both policies send the same and say the same of every message."""
        return not self.changes and self.old.refused == self.new.refused and self.old.after == self.new.after


@dataclass(slots=True)
class Work:
    """What a rule did over all conversations: passes in which it acted, messages it changed, tokens it saved."""

    passes: int = 0
    messages: int = 0
    saved: int = 0


@dataclass(frozen=True, slots=True)
class RuleChange:
    """A rule under both policies; the side on which it does not exist has no work."""

    id: str
    kind: Literal["new", "gone", "quieter", "busier", "same"]
    old: Work | None
    new: Work | None


@dataclass(slots=True)
class Tallies:
    """The work of a policy's rules, over conversations as they come."""

    spec: Spec
    work: dict[str, Work] = field(default_factory=dict)

    def add(self, went: Went) -> None:
        """Take in one conversation."""
        if isinstance(went, MessageTooLarge):
            self._of(went.rule).passes += 1
            self._of(went.rule).messages += 1
            return
        for event in went.events:
            if event.acted and event.rule is not None:
                work = self._of(event.rule)
                work.passes += 1
                work.messages += event.messages
                work.saved += event.before - event.after

    def _of(self, rule: str) -> Work:
        return self.work.setdefault(rule, Work())


def compare(where: str, messages: int, old: Went, new: Went) -> Comparison:
    """One conversation of so many messages under two policies."""
    pairs = _pairs(old, new)
    changed = [(a, b) for a, b in pairs if (a.fate, a.left) != (b.fate, b.left)]
    sent = sum((a.fate, a.left) != (b.fate, b.left) and not (_stays(a) and _stays(b)) for a, b in pairs)
    return Comparison(where, messages, _figures(old), _figures(new), tuple(_runs(changed)), len(changed), sent)


def _pairs(old: Went, new: Went) -> list[tuple[Decision, Decision]]:
    if isinstance(old, MessageTooLarge) or isinstance(new, MessageTooLarge):
        return []
    return list(zip(old.decisions, new.decisions, strict=True))


def _stays(decision: Decision) -> bool:
    return decision.fate in ("kept", "pinned", "live")


def _runs(changed: Sequence[tuple[Decision, Decision]]) -> Iterator[Change]:
    """Neighbours that change in the same way, as one."""
    run: Change | None = None
    for old, new in changed:
        if run is not None and old.index == run.last + 1 and _alike(run, old, new):
            run = Change(run.first, old.index, run.old, run.new)
            continue
        if run is not None:
            yield run
        run = Change(old.index, old.index, old, new)
    if run is not None:
        yield run


def _alike(run: Change, old: Decision, new: Decision) -> bool:
    return (run.old.fate, run.old.by, run.new.fate, run.new.by) == (old.fate, old.by, new.fate, new.by)


def _figures(went: Went) -> Figures:
    if isinstance(went, MessageTooLarge):
        return Figures(refused=f"message {went.index} refused by {went.rule}")
    usage = went.usage
    return Figures(usage.before["total"], usage.after["total"], usage.pressure, usage.fits)


def rule_changes(old: Tallies, new: Tallies) -> list[RuleChange]:
    """Every rule of either policy, in the new one's order, those that are gone last."""
    before = {rule.id for rule in old.spec.rules}
    after = [rule.id for rule in new.spec.rules]
    return [_rule_change(name, old, new, name in before) for name in after] + [
        RuleChange(rule.id, "gone", old.work.get(rule.id, Work()), None)
        for rule in old.spec.rules
        if rule.id not in after
    ]


def _rule_change(name: str, old: Tallies, new: Tallies, known: bool) -> RuleChange:
    now = new.work.get(name, Work())
    if not known:
        return RuleChange(name, "new", None, now)
    was = old.work.get(name, Work())
    kind: Literal["quieter", "busier", "same"] = "same"
    if (now.messages, now.saved) != (was.messages, was.saved):
        kind = "quieter" if (now.messages, now.saved) < (was.messages, was.saved) else "busier"
    return RuleChange(name, kind, was, now)


def total(comparisons: Iterable[Comparison]) -> Comparison:
    """All conversations together; pressure is the highest of them."""
    every = list(comparisons)
    return Comparison(
        "total", sum(c.messages for c in every), _sum([c.old for c in every]), _sum([c.new for c in every]), (),
        sum(c.changed for c in every), sum(c.sent for c in every),
    )  # fmt: skip


def _sum(figures: Sequence[Figures]) -> Figures:
    refused = sum(f.refused is not None for f in figures)
    return Figures(
        sum(f.before for f in figures), sum(f.after for f in figures), max((f.pressure for f in figures), default=0.0),
        all(f.fits for f in figures), f"{refused:,} refused" if refused else None,
    )  # fmt: skip
