"""Why: for a message, what each pin and rule said of it; for a rule, what it saw and why it acted or did not.

Nothing is judged anew here: the clauses of matches and conditions are asked of the lists that the engine had
(stages), by the engine's own code (clauses).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec
from msgspec.structs import replace

from ctxpolicy.errors import CtxPolicyError
from ctxpolicy.policy.model import Compact, Evict, Rule, Spec
from ctxpolicy.policy.node import Path_
from ctxpolicy.read_as import reader_maker
from ctxpolicy.result import Decision, Event, Result
from ctxpolicy.review.clauses import Asked, Check, Clause, wanted, when_clauses
from ctxpolicy.review.stages import Stages, action_of, position, rules_of
from ctxpolicy.view import KEEP, LAST, LIVE, USER

_NAMES = {
    LIVE: "the live tail",
    LAST: "being the last message",
    USER: "being the newest user message",
    KEEP: "the rule's keep",
}


class Verdict(msgspec.Struct, frozen=True):
    """What one pin or rule said of one message.

    `when` are the clauses of a rule's condition, `match` those of its match (or keep); `matches` says whether all of
    them hold. `outcome` is what came of it, in words; `acted` is true of the pin or rule that decided.
    """

    id: str
    kind: str  # pin, or the rule's action
    path: Path_
    when: tuple[Clause, ...]
    match: tuple[Clause, ...]
    matches: bool
    acted: bool
    outcome: str


class MessageAccount(msgspec.Struct, frozen=True):
    """Everything that a policy has to say about one message. `read_as` is the path of the entry that set its role."""

    index: int
    role: str
    wire_role: str
    tools: tuple[str, ...]
    decision: Decision
    read_as: Path_ | None
    unit: tuple[int, ...]
    live: bool
    arrival: tuple[Verdict, ...]
    pins: tuple[Verdict, ...]
    rules: tuple[Verdict, ...]


class Sieve(msgspec.Struct, frozen=True):
    """A clause over the whole list: of `of` messages that pass the clauses before it, `holds` pass it."""

    key: str
    wanted: str
    holds: int
    of: int
    path: Path_


class RuleAccount(msgspec.Struct, frozen=True):
    """What a rule saw and did in one run.

    `matched` counts messages that its match takes (None: it has none), `held` those of them, or of all where it takes
    no match, that something protects, with their tokens, by what protects them; `free` are the others.
    """

    id: str
    action: str
    at: str
    path: Path_
    acted: bool
    when: tuple[Clause, ...]
    sieves: tuple[Sieve, ...]
    matched: int | None
    held: dict[str, tuple[int, int]]
    free: int
    events: tuple[Event, ...]
    conclusion: str


class Account:
    """One run of a policy, open to questions."""

    def __init__(self, spec: Spec, stages: Stages) -> None:
        self.spec, self.stages = spec, stages
        self.result: Result = stages.result

    def message(self, index: int) -> MessageAccount:
        """The account of message `index` of the list, from 0 (negative: from the end). Raises CtxPolicyError."""
        count = len(self.result.decisions)
        if not -count <= index < count:
            raise CtxPolicyError(f"there is no message {index}: the list has {count:,}, numbered from 0")
        index %= count
        place = next(p for p, item in enumerate(self.stages.given) if item.message.index == index)
        item, view = self.stages.given[place], self.stages.judging(place).view
        return MessageAccount(
            index, item.role, item.message.role, item.tools, self.result.decisions[index],
            self._read_as(place), self._unit(place), bool(view.live[position(view, place)]),
            tuple(self._arrivals(place)), tuple(self._pin_verdicts(place)), tuple(self._rule_verdicts(place)),
        )  # fmt: skip

    def rule(self, name: str) -> RuleAccount:
        """The account of the rule with this id. Raises CtxPolicyError where there is none."""
        for path, rule in rules_of(self.spec):
            if rule.id == name:
                return self._append_account(path, rule) if rule.at == "append" else self._send_account(path, rule)
        known = ", ".join(rule.id for rule in self.spec.rules)
        raise CtxPolicyError(f"there is no rule `{name}`; there are {known or 'none'}")

    def _unit(self, place: int) -> tuple[int, ...]:
        return tuple(
            dict.fromkeys(self.stages.given[i].message.index for i in self.stages.whole.view.structure.unit(place))
        )

    def _read_as(self, place: int) -> Path_ | None:
        """The path of the `read_as` entry that set the role, found by reading with entries that give their numbers."""
        numbered = [replace(entry, as_=str(n)) for n, entry in enumerate(self.spec.read_as)]
        maker = reader_maker(numbered, self.stages.pipeline.limit)
        if maker is None or self.stages.given[place].ours:
            return None
        read = maker()
        plain = (msgspec.structs.replace(i, role=i.message.role) for i in self.stages.given[: place + 1] if not i.ours)
        found = [read(item) for item in plain][-1]
        return None if found is None else ("read_as", int(found))

    def _arrivals(self, place: int) -> Iterator[Verdict]:
        arriving = self.stages.arriving
        appended = [(path, rule) for path, rule in rules_of(self.spec) if rule.at == "append"]
        for n, (path, rule) in enumerate(appended):
            clauses = arriving[n].clauses(self.stages.questions.rules[rule.id], place)
            matches = all(clause.holds for clause in clauses)
            acted = arriving[n + 1].view.items[place].edit != arriving[n].view.items[place].edit
            words = "cut it" if acted else "nothing to cut" if matches else "does not match"
            yield Verdict(rule.id, action_of(rule), path, (), clauses, matches, acted, words)

    def _pin_verdicts(self, place: int) -> Iterator[Verdict]:
        asked = self.stages.judging(place)
        at = position(asked.view, place)
        owner = asked.view.pinned[at]
        decision = self.result.decisions[self.stages.given[place].message.index]
        for n, (pin, chosen) in enumerate(self.stages.questions.pins):
            clauses = asked.clauses(self.stages.questions.pin_checks[n], at)
            matches = asked.takes(chosen, at)
            mates = [i for i in asked.view.structure.unit(at) if asked.takes(chosen, i)]
            words = "does not match"
            if matches or mates:
                through = "" if matches else f" with its unit: it matches message {asked.index(mates[0])}"
                words = "protects it" + through + ("" if owner == pin else f"; `{owner}` comes first")
            acted = decision.fate == "pinned" and decision.by == pin
            yield Verdict(pin, "pin", ("pins", n), (), clauses, matches, acted, words)

    def _rule_verdicts(self, place: int) -> Iterator[Verdict]:
        left = self.stages.left_at(place)
        number = 0
        for path, rule in rules_of(self.spec):
            if rule.at == "append":
                continue
            if left is not None and number > left:
                taker = self.stages.pipeline.send_rules[left].id if left >= 0 else "an earlier run"
                acted = self.stages.acted(number, place)
                words = "took what stood for it" if acted else f"no longer in the list: {taker} took it"
                yield Verdict(rule.id, action_of(rule), path, (), (), False, acted, words)
            else:
                yield self._rule_verdict(place, path, rule, number)
            number += 1

    def _rule_verdict(self, place: int, path: Path_, rule: Rule, number: int) -> Verdict:
        asked = self.stages.before[number]
        at = position(asked.view, place)
        when = when_clauses(rule.when, asked.view.facts, (*path, "when"))
        clauses = asked.clauses(self.stages.questions.rules[rule.id], at)
        acted = self.stages.acted(number, place)
        chosen = self.stages.questions.chosen[rule.id]
        matches = chosen is not None and asked.takes(chosen, at)
        words = "acted on it" if acted else self._why_not(rule, when, matches, asked, at)
        return Verdict(rule.id, action_of(rule), path, when, clauses, matches, acted, words)

    def _why_not(self, rule: Rule, when: tuple[Clause, ...], matches: bool, asked: Asked, at: int) -> str:
        if not all(clause.holds for clause in when):
            return "its condition does not hold"
        if asked.view.items[at].ours:
            return "never acts on a note or marker of the policy's own here"
        if rule.match is not None and not matches:
            return "does not match"
        why = self._protection(rule, asked)[at]
        if why is not None:
            return f"free to act, but {protects(why)} protects it"
        return "; ".join(event.reason for event in self.events(rule.id)) or "did nothing"

    def _protection(self, rule: Rule, asked: Asked) -> list[str | None]:
        keep = isinstance(rule.action, Compact | Evict) and rule.action.keep is not None
        return asked.view.protection(self.stages.questions.chosen[rule.id] if keep else None)

    def events(self, rule: str) -> tuple[Event, ...]:
        """What a rule told of the run."""
        return tuple(event for event in self.result.events if event.rule == rule)

    def _sieves(self, asked: Asked, many: Sequence[Check]) -> tuple[Sieve, ...]:
        passed = [item.ours is None for item in asked.view.items]
        sieves = []
        for check in many:
            of = sum(passed)
            matching = asked.matching(check.chosen)
            passed = [ok and i in matching for i, ok in enumerate(passed)]
            sieves.append(Sieve(check.key, wanted(check), sum(passed), of, check.path))
        return tuple(sieves)

    def _append_account(self, path: Path_, rule: Rule) -> RuleAccount:
        number = [sent.id for sent in self.stages.pipeline.append_rules].index(rule.id)
        sieves = self._sieves(self.stages.arriving[number], self.stages.questions.rules[rule.id])
        matched = sieves[-1].holds if sieves else len(self.stages.given)
        events = self.events(rule.id)
        if any(event.acted for event in events):
            words = "; ".join(event.reason for event in events)
        else:
            words = "no message matches" if not matched else "what matches is within its bounds, or no tool result"
        acted = any(event.acted for event in events)
        return RuleAccount(
            rule.id, action_of(rule), rule.at, path, acted, (), sieves, matched, {}, matched, events, words
        )

    def _send_account(self, path: Path_, rule: Rule) -> RuleAccount:
        number = [sent.id for sent in self.stages.pipeline.send_rules].index(rule.id)
        asked = self.stages.before[number]
        when = when_clauses(rule.when, asked.view.facts, (*path, "when"))
        chosen, many = self.stages.questions.chosen[rule.id], self.stages.questions.rules[rule.id]
        mine = [i for i, item in enumerate(asked.view.items) if item.ours is None]
        matched = None
        if rule.match is not None and chosen is not None:
            mine = asked.places(chosen)
            matched = len(mine)
        held: dict[str, tuple[int, int]] = {}
        protection = self._protection(rule, asked)
        for i in mine:
            if (why := protection[i]) is not None:
                count, tokens = held.get(why, (0, 0))
                held[why] = (count + 1, tokens + asked.view.items[i].tokens)
        free = len(mine) - sum(count for count, _ in held.values())
        events = self.events(rule.id)
        return RuleAccount(
            rule.id, action_of(rule), rule.at, path, any(event.acted for event in events), when,
            self._sieves(asked, many), matched, held, free, events, "; ".join(event.reason for event in events),
        )  # fmt: skip


def protects(why: str) -> str:
    """In words, what protects a message."""
    return _NAMES.get(why, f"pin `{why}`")
