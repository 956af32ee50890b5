"""Which pins and rules the cases exercise, and why the others are not.

A rule is exercised where it acted. A pin is exercised where the list sent would have been another without it: that a
pin matches proves little, as most of what it matches would have stayed anyway. It is also exercised where, while a rule
acted, only the engine would have kept what it protects: the newest user message and the last one are always sent.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from msgspec.structs import replace

from ctxpolicy.api import Policy
from ctxpolicy.errors import CtxPolicyError
from ctxpolicy.policy.node import Span
from ctxpolicy.review.clauses import Asked
from ctxpolicy.review.explain import protects
from ctxpolicy.testing.given import Misstated
from ctxpolicy.testing.run import Ran, account, run_case
from ctxpolicy.testing.suite import Case, Suite
from ctxpolicy.view import LAST, USER

Status = Literal["exercised", "never matched", "shadowed", "changed nothing"]


@dataclass(frozen=True, slots=True)
class Covered:
    """One pin or rule: whether the cases exercise it, and the reason in words."""

    id: str
    kind: Literal["pin", "rule"]
    span: Span
    status: Status
    why: str = ""


@dataclass(slots=True)
class _Seen:
    """What was seen of one pin or rule over all cases."""

    exercised: bool = False
    matched: bool = False
    owns: list[tuple[Suite, Case]] = field(
        default_factory=list
    )  # cases in which the pin is the first to protect something
    behind: dict[str, None] = field(default_factory=dict)  # what stood before it, in order
    why: str = ""


@dataclass(slots=True)
class Coverage:
    """The coverage of one policy, over every case that ran on it."""

    suite: Suite  # the first one about this policy
    _seen: dict[str, _Seen] = field(default_factory=dict)
    _sent: dict[tuple[Path, str], list[Any]] = field(default_factory=dict)

    def see(self, suite: Suite, case: Case, went: Sequence[Ran]) -> None:
        """Take in how a case went."""
        self._sent[suite.file, case.name] = [_outcome(ran) for ran in went]
        for ran in went:
            self._refused(ran)
            if ran.stages is not None:
                self._pins(suite, case, ran)
                self._rules(suite, ran)

    def _of(self, name: str) -> _Seen:
        return self._seen.setdefault(name, _Seen())

    def _refused(self, ran: Ran) -> None:
        if ran.refused is not None:
            self._of(ran.refused.rule).exercised = True

    def _pins(self, suite: Suite, case: Case, ran: Ran) -> None:
        assert ran.stages is not None
        for asked in ran.stages.before:
            for name, chosen in ran.stages.questions.pins:
                seen = self._of(name)
                owners = [asked.view.pinned[i] for i in asked.places(chosen)]
                seen.matched |= bool(owners)
                seen.behind.update(dict.fromkeys(owner for owner in owners if owner and owner != name))
                seen.exercised |= self._alone(name, asked, ran)
                if name in owners and (suite, case) not in seen.owns:
                    seen.owns.append((suite, case))

    def _alone(self, pin: str, asked: Asked, ran: Ran) -> bool:
        """Whether a rule acts on this list and without the pin only the engine would keep what it protects."""
        assert ran.stages is not None
        number = ran.stages.before.index(asked)
        rules = ran.stages.pipeline.send_rules
        if number == len(rules) or not any(e.acted and e.rule == rules[number].id for e in ran.stages.result.events):
            return False
        without = ran.stages.questions.view(asked.view, without=pin).protection()
        return any(owner == pin and why in (USER, LAST) for owner, why in zip(asked.view.pinned, without, strict=True))

    def _rules(self, suite: Suite, ran: Ran) -> None:
        said = account(suite, ran)
        assert said is not None
        for rule in said.spec.rules:
            seen = self._of(rule.id)
            if seen.exercised:
                continue
            found = said.rule(rule.id)
            seen.exercised = found.acted
            due = all(clause.holds for clause in found.when)
            if found.matched == 0 or not due:
                seen.why = seen.why or (found.conclusion if due else _closest(found.when))
                continue
            seen.matched = True
            seen.why = found.conclusion
            if not found.free:
                seen.behind.update(dict.fromkeys(map(protects, found.held)))

    def entries(self) -> Iterator[Covered]:
        """Every pin and rule of the policy's own; those of built-in policies have tests elsewhere."""
        loaded = self.suite.loaded
        assert loaded is not None
        assert loaded.document is not None
        for kind in ("pin", "rule"):
            for n, entry in enumerate(loaded.document.at((f"{kind}s",)).items):
                span = loaded.document.place((f"{kind}s", n))
                if not span.source.name.startswith("builtin:") or span.source.name == loaded.name:
                    name = str(entry.mapping["id"].plain())
                    yield self._pin(name, span) if kind == "pin" else self._rule(name, span)

    def _rule(self, name: str, span: Span) -> Covered:
        seen = self._of(name)
        if seen.exercised:
            return Covered(name, "rule", span, "exercised")
        if not seen.matched:
            return Covered(name, "rule", span, "never matched", seen.why)
        if seen.behind:
            return Covered(name, "rule", span, "shadowed", f"all it could act on is held by {', '.join(seen.behind)}")
        return Covered(name, "rule", span, "changed nothing", seen.why)

    def _pin(self, name: str, span: Span) -> Covered:
        seen = self._of(name)
        if seen.exercised:
            return Covered(name, "pin", span, "exercised")
        if not seen.matched:
            return Covered(name, "pin", span, "never matched", "no case has a message that it matches")
        if not seen.owns:
            return Covered(name, "pin", span, "shadowed", f"{', '.join(seen.behind)} always came first")
        if any(self._matters(name, suite, case) for suite, case in seen.owns):
            return Covered(name, "pin", span, "exercised")
        return Covered(name, "pin", span, "changed nothing", "every case sends the same list without it")

    def _matters(self, pin: str, suite: Suite, case: Case) -> bool:
        """Whether the case would send another list without the pin."""
        assert suite.policy is not None
        spec = suite.policy.spec
        without = Policy(replace(spec, pins=tuple(p for p in spec.pins if p.id != pin)))
        try:
            outcome = [_outcome(ran) for _, ran in run_case(suite, case, without)]
        except (Misstated, CtxPolicyError):
            return True
        return outcome != self._sent[suite.file, case.name]


def _outcome(ran: Ran) -> Any:
    return ran.result.messages if ran.result else ran.refused and ran.refused.rule


def _closest(when: Sequence[Any]) -> str:
    failing = next(clause for clause in when if not clause.holds)
    return f"its condition never held: {failing.key} {failing.wanted} was {failing.found}".replace("  ", " ")


def share(entries: Sequence[Covered]) -> float:
    """The share of pins and rules that are exercised, in percent; 100 where there is none."""
    return 100 * sum(entry.status == "exercised" for entry in entries) / len(entries) if entries else 100.0
