"""A second reading of the design: the same policies and lists, interpreted as plainly as possible.

Nothing is computed ahead, kept or shared: every question is asked of the list anew. It takes from the engine only how a
message is read, what a text costs, how a text is cut and rendered, and when a summariser's reply counts as one.
State between runs, `input:` of a summariser and `batch` apart from its definition are not its business.
"""

from __future__ import annotations

import fnmatch
import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import re2

from ctxpolicy import template
from ctxpolicy.cut import cut
from ctxpolicy.formats import openai_chat as chat
from ctxpolicy.marks import LABEL, MARKER, PLACEHOLDER, RECORD
from ctxpolicy.match import encodable
from ctxpolicy.messages import Message
from ctxpolicy.policy.model import Compact, Evict, Mask, Match, Rank, Rule, Spec, Truncate, When
from ctxpolicy.summarize.reply import Failure, Note, judge
from ctxpolicy.tokens import Meter
from ctxpolicy.values import reference

DEAREST = "0a" * 6  # no reference costs more, whatever the counter: a gap is priced with it
WORD = 1.5  # tokens
ORDER = ("results", "arguments", "reasoning", "media")


@dataclass
class M:
    """One message of the working list. `fate` and `by` say what became of the input messages `inputs` it stands for."""

    wire: Any
    role: str
    seen: Message
    cost: int
    tools: tuple[str, ...] = ()
    asks: tuple[str, ...] = ()  # ids of its calls
    ours: str | None = None
    count: int = 1
    meta: Mapping[str, Any] = field(default_factory=dict)
    inputs: tuple[int, ...] = ()
    fate: str = ""
    by: str | None = None
    new: bool = False  # made in this run


@dataclass
class Outcome:
    messages: list[Any]
    decisions: list[tuple[str, str | None]]
    events: list[tuple[str, bool]]


def amounts(**given: Any) -> dict[str, str]:
    base = dict.fromkeys(("count", "chars", "lines", "tokens"), 0) | {"tool": "messages"} | given
    return {k: f"{v:,}" if isinstance(v, int) else v for k, v in base.items()}


class Reference:
    def __init__(self, spec: Spec, tools: Any = None) -> None:
        self.spec, self.limit, self.meter = spec, spec.budget.limit, Meter.of(spec.budget)
        self.fixed = self.meter.tools(tools) + self.meter.CALL_OVERHEAD

    # ---- reading ----

    def read(self, messages: Sequence[Any], meta: Mapping[int, Any]) -> list[M]:
        self.items: list[M] = []
        asked: dict[str, str] = {}
        room: dict[int, float] = {}
        for n, wire in enumerate(messages):
            (seen,) = chat.read(wire, n)
            asked.update({c.id or "": c.tool for c in seen.calls})
            tools = tuple(c.tool for c in seen.calls)
            if seen.role == "tool" and (name := asked.get(seen.result_of or "") or seen.name):
                tools = (name,)
            asks = tuple(c.id or "" for c in seen.calls)
            m = M(wire, seen.role, seen, self.meter.message(seen), tools, asks, meta=meta.get(n) or {}, inputs=(n,))
            m.ours, m.count = self.known(m)
            if m.ours:
                m.role = "injected"
            else:
                said = [e.as_ for e in self.spec.read_as if self.first(m, e.match, room)]
                m.role = said[0] if said else self.placeholder_role(m) or seen.role
            self.items.append(m)
        return self.items

    def first(self, m: M, match: Match, room: dict[int, float]) -> bool:
        """A match of `read_as`; `oldest` counts down as messages come in."""
        held = self.alone(m, match)
        held &= not (match.not_ and self.first(m, match.not_, room))
        inner_all = [self.first(m, inner, room) for inner in match.all_ or ()]  # each counts, whatever the others say
        inner_any = [self.first(m, inner, room) for inner in match.any_ or ()]
        held &= all(inner_all) and (match.any_ is None or any(inner_any))
        if match.oldest and held:
            left = room.get(id(match), self.size(match.oldest))
            left = left - (1 if match.oldest.count else m.cost) if left >= 0 else left
            room[id(match)] = left
            held = left >= 0
        return held

    def known(self, m: M) -> tuple[str | None, int]:
        actions = [r.action for r in self.spec.rules]
        labels = [LABEL, *(a.label for a in actions if isinstance(a, Compact) and a.label)]
        markers = [MARKER, *(a.marker for a in actions if isinstance(a, Compact | Evict) and a.marker)]
        text = m.seen.text if m.seen.role == "user" else ""
        for found in (re.match(pattern(t) + r"(?=\n|\Z)", text) for t in labels):
            if found:
                return "summary", number(found)
        for found in (re.fullmatch(pattern(t), text) for t in markers):
            if found:
                return "gap", number(found)
        return None, 1

    def placeholder_role(self, m: M) -> str | None:
        """A masked result in the user channel would else be read as a user's words."""
        if self.spec.read_as and m.seen.role == "user":
            for found in (re.fullmatch(pattern(t), m.seen.text, re.DOTALL) for t in self.placeholders()):
                if found and found.groupdict().get("tool", "tool") == "tool":
                    return "tool"
        return None

    def placeholders(self) -> list[str]:
        masks = [r.action for r in self.spec.rules if isinstance(r.action, Mask)]
        return [PLACEHOLDER, *(a.placeholder for a in masks if a.placeholder)]

    def is_placeholder(self, text: str) -> bool:
        return any(re.fullmatch(pattern(t), text, re.DOTALL) for t in self.placeholders())

    # ---- structure ----

    def head(self, i: int) -> int:
        """The call message that message i answers, or i."""
        wanted = self.items[i].seen.result_of
        if wanted is None:
            return i
        return next((j for j in range(i - 1, -1, -1) if wanted in self.items[j].asks), i)

    def unit(self, i: int) -> set[int]:
        head = self.head(i)
        return {j for j in range(len(self.items)) if self.head(j) == head}

    def orphaned(self, i: int) -> bool:
        seen = self.items[i].seen
        return seen.role != "assistant" and seen.result_of is not None and self.head(i) == i

    def unanswered(self, i: int) -> bool:
        results = [self.items[j].seen.result_of for j in self.unit(i) if j != i]
        asks = self.items[i].asks
        return any(results.count(call) < asks.count(call) for call in asks)

    def live(self) -> set[int]:
        answers = [i for i, m in enumerate(self.items) if m.seen.role == "assistant"]
        if not answers:
            ours = min((i for i, m in enumerate(self.items) if m.ours), default=len(self.items))
            return {i for i, m in enumerate(self.items) if i > ours or m.role not in ("system", "developer")}
        last = answers[-1]
        found = set(range(last + 1, len(self.items)))
        for i in answers:
            waits = self.unanswered(i) and (i == last or self.items[i].meta.get("pending") is True)
            if waits or (i == last and self.items[i].seen.calls):
                found |= self.unit(i)
        return found

    def dead(self) -> set[int]:
        return {i for i in range(len(self.items)) if self.unanswered(i)} - self.live()

    def pinned(self) -> dict[int, str]:
        found: dict[int, str] = {}
        for pin in self.spec.pins:
            for i in self.chosen(pin.match):
                for j in self.unit(i):
                    found.setdefault(j, pin.id)
        return found

    def protected(self, keep: Match | None) -> set[int]:
        found = set(self.pinned()) | self.live() | {len(self.items) - 1}
        users = [i for i, m in enumerate(self.items) if m.role == "user"]
        found |= set(users[-1:])
        return found.union(*(self.unit(i) for i in (self.chosen(keep) if keep else ())))

    def blocks(self, stays: set[int]) -> list[list[int]]:
        """What may leave, oldest first: what overlaps leaves together; a unit that holds what stays, stays."""
        grown = True
        while grown:
            grown = False
            for i in range(len(self.items)):
                unit = self.unit(i)
                inside = set(range(min(unit), max(unit) + 1))
                unit |= {j for j in inside if self.orphaned(j)} if len(unit) > 1 else set()
                if not unit <= stays and stays & inside:
                    stays, grown = stays | unit, True
        found: list[list[int]] = []
        for i in range(len(self.items)):
            if i not in stays and not (found and i <= found[-1][-1]):
                end = max(self.unit(i))
                while (wider := max(max(self.unit(j)) for j in range(i, end + 1))) > end:
                    end = wider
                found.append(list(range(i, end + 1)))
        return found

    # ---- matches and conditions ----

    def alone(self, m: M, match: Match) -> bool:
        seen = m.seen
        text = encodable(seen.text)
        has = seen.has | ({"summary"} if m.ours == "summary" else set())
        fields = [(seen.wire, match.field), (m.meta, match.meta)]
        return (
            (match.role is None or m.role in match.role)
            and (match.name is None or seen.name in match.name)
            and (match.tool is None or any(fnmatch.fnmatchcase(t, g) for t in m.tools for g in match.tool))
            and (match.contains is None or any(c in seen.text for c in match.contains))
            and (match.regex is None or any(re2.search(r, text) for r in match.regex))
            and (match.tokens is None or match.tokens.holds(m.cost))
            and (match.share is None or match.share.holds(m.cost / self.limit))
            and (match.has is None or bool(has & set(match.has)))
            and all(
                k in given and given[k] in values for given, wanted in fields for k, values in (wanted or {}).items()
            )
        )

    def matched(self, match: Match) -> set[int]:
        everything = set(range(len(self.items)))
        found = {i for i in everything if self.alone(self.items[i], match)}
        if match.opening is not None:
            found &= self.opening() if match.opening else everything - self.opening()
        if match.turn_age is not None:
            found &= {i for i in everything if match.turn_age.holds(self.turn_age(i))}
        if match.superseded is not None:
            found &= self.superseded() if match.superseded else everything - self.superseded()
        if match.not_:
            found -= self.matched(match.not_)
        for inner in match.all_ or ():
            found &= self.matched(inner)
        if match.any_ is not None:
            found &= set().union(*map(self.matched, match.any_))
        return self.ranked(found, match)

    def ranked(self, found: set[int], match: Match) -> set[int]:
        if not (match.newest or match.oldest or match.all_but_newest):
            return found
        if "injected" not in (match.role or ()):
            found = {i for i in found if self.items[i].role != "injected"}
        up, down, kept = sorted(found), sorted(found, reverse=True), set(found)
        kept &= set(self.covered(down, match.newest)) if match.newest else kept
        kept &= set(self.covered(up, match.oldest)) if match.oldest else kept
        return kept - set(self.covered(down, match.all_but_newest)) if match.all_but_newest else kept

    def covered(self, order: list[int], rank: Rank) -> list[int]:
        if rank.count is not None:
            return order[: rank.count]
        return [i for n, i in enumerate(order) if sum(self.items[j].cost for j in order[: n + 1]) <= self.size(rank)]

    def size(self, rank: Rank) -> float:
        return rank.count if rank.count is not None else rank.amount.of(self.limit)

    def chosen(self, match: Match) -> list[int]:
        return [i for i in sorted(self.matched(match)) if not self.items[i].ours]

    def opening(self) -> set[int]:
        ends = [
            i
            for i, m in enumerate(self.items)
            if m.ours or "tool" in (m.role, m.seen.role) or m.seen.role == "assistant"
        ]
        return set(range(ends[0] if ends else len(self.items)))

    def turn_age(self, i: int) -> int:
        return sum(m.role == "user" for m in self.items[i + 1 :])

    def superseded(self) -> set[int]:
        asked = {i: self.asked(i) for i in range(len(self.items)) if self.head(i) != i}
        return {i for i, a in asked.items() if any(a == b and self.head(j) > self.head(i) for j, b in asked.items())}

    def asked(self, i: int) -> tuple[str, str]:
        """What message i answers: of calls with one id, the first result answers the first, and so on."""
        wanted, head = self.items[i].seen.result_of, self.items[self.head(i)]
        calls = [c for c in head.seen.calls if (c.id or "") == wanted]
        before = sum(self.items[j].seen.result_of == wanted for j in self.unit(i) if j < i)
        call = calls[min(before, len(calls) - 1)]
        try:
            return call.tool, json.dumps(json.loads(call.arguments), sort_keys=True)
        except ValueError:
            return call.tool, call.arguments

    def facts(self, items: Sequence[M]) -> dict[str, float]:
        used = self.fixed + sum(m.cost for m in items)
        real = [m for m in items if not m.ours]
        return {
            "used": used,
            "pressure": used / self.limit,
            "headroom": self.limit - used,
            "messages": len(real),
            "tool_tokens": sum(m.cost for m in items if m.role == "tool"),
            "results": sum(m.role == "tool" for m in real),
            "turns": sum(m.role == "user" for m in real),
        }

    def holds(self, when: When | None, items: Sequence[M]) -> bool:
        facts = self.facts(items)
        return when is None or (
            all(bounds.holds(facts[name]) for name, bounds in when.facts)
            and not (when.not_ and self.holds(when.not_, items))
            and all(self.holds(w, items) for w in when.all_ or ())
            and (when.any_ is None or any(self.holds(w, items) for w in when.any_))
        )

    def reached(self, rule: Rule, items: Sequence[M]) -> bool:
        until = rule.action.until
        if until is None:
            return not self.holds(rule.when, items)
        return until != "all" and self.holds(until, items)

    # ---- gaps ----

    def gaps(self, taken: set[int], marker: str | None) -> list[tuple[list[int], str, M]]:
        """The runs worth leaving, with markers. A run takes in the old markers that it touches, but no live one."""
        old = {i for i, m in enumerate(self.items) if m.ours == "gap"} - self.live()
        runs: list[list[int]] = []
        for i in sorted(taken | old):
            if runs and runs[-1][-1] == i - 1:
                runs[-1].append(i)
            else:
                runs.append([i])
        made = [(run, self.marker(run, marker, DEAREST)) for run in runs if taken & set(run)]
        return [(run, m) for run, m in made if m.cost < sum(self.items[i].cost for i in run)]

    def marker(self, run: list[int], text: str | None, ref: str | None = None) -> M:
        gone = [self.items[i] for i in run]
        said = template.compile(text or MARKER)(
            **amounts(
                count=sum(m.count for m in gone),
                chars=sum(len(m.seen.text) for m in gone),
                lines=sum(m.seen.text.count("\n") + 1 for m in gone),
                tokens=sum(m.cost for m in gone),
            ),
            ref=ref or reference([m.wire for m in gone]),
        )
        return self.put(said, "gap", gone)

    def put(self, text: str, ours: str, gone: Sequence[M]) -> M:
        (seen,) = chat.read(chat.say(text), 0)
        return M(seen.wire, "injected", seen, self.meter.message(seen), ours=ours, count=sum(m.count for m in gone))

    def without(self, runs: Sequence[tuple[list[int], M]]) -> list[M]:
        """The list with each run replaced by one message."""
        at = {run[0]: m for run, m in runs}
        gone = {i for run, _ in runs for i in run}
        return [at.get(i, m) for i, m in enumerate(self.items) if i in at or i not in gone]

    def install(self, runs: Sequence[tuple[list[int], M]], fate: str, by: str) -> None:
        for run, m in runs:
            m.inputs = tuple(n for i in run for n in self.items[i].inputs)
            m.fate, m.by, m.new = fate, by, True
        self.items = self.without(runs)

    # ---- actions ----

    def run(self, messages: Sequence[Any], meta: Mapping[int, Any], summarize: Any) -> Outcome:
        self.read(messages, meta)
        self.events: list[tuple[str, bool]] = []
        for rule in self.spec.rules:
            if rule.at == "append" and isinstance(rule.action, Truncate):
                cuts = [self.shorten(i, rule) for i, m in enumerate(self.items) if self.arrives(m, rule)]
                self.events += [(rule.id, True)] if any(cuts) else []
        for rule in self.spec.rules:
            if rule.at == "send":
                if not self.holds(rule.when, self.items):
                    self.events.append((rule.id, False))
                elif isinstance(rule.action, Compact):
                    self.compact(rule, summarize)
                else:
                    step = {Truncate: self.truncate, Mask: self.mask, Evict: self.evict}[type(rule.action)]
                    self.events.append((rule.id, step(rule)))
        return Outcome([m.wire for m in self.items], self.decide(len(messages)), self.events)

    def decide(self, size: int) -> list[tuple[str, str | None]]:
        live, pinned = self.live(), self.pinned()
        found: dict[int, tuple[str, str | None]] = {}
        for i, m in enumerate(self.items):
            stays = ("live", "live") if i in live else ("pinned", pinned[i]) if i in pinned else ("kept", None)
            found |= dict.fromkeys(m.inputs, (m.fate, m.by) if m.fate else stays)
        return [found[n] for n in range(size)]

    def arrives(self, m: M, rule: Rule) -> bool:
        return m.role == "tool" and not m.ours and self.alone_deep(m, rule.match)

    def alone_deep(self, m: M, match: Match) -> bool:
        return (
            self.alone(m, match)
            and not (match.not_ and self.alone_deep(m, match.not_))
            and all(self.alone_deep(m, inner) for inner in match.all_ or ())
            and (match.any_ is None or any(self.alone_deep(m, inner) for inner in match.any_))
        )

    def swap(self, i: int, wire: Any, fate: str, by: str) -> None:
        (seen,) = chat.read(wire, i)
        self.items[i] = replace(self.items[i], wire=wire, seen=seen, cost=self.meter.message(seen), fate=fate, by=by)

    def shorten(self, i: int, rule: Rule) -> bool:
        m, how = self.items[i], rule.action
        ref = reference([m.wire])
        render = template.compile(how.marker) if how.marker else None
        tool = m.tools[0] if m.tools else m.role
        text = cut(m.seen.text, how, self.meter.text, ref, render and (lambda **v: render(**{"tool": tool, **v})))
        if text is None or self.meter.text(text) >= self.meter.text(m.seen.text):
            return False
        self.swap(i, chat.with_text(m.wire, text), "truncated", rule.id)
        return True

    def truncate(self, rule: Rule) -> bool:
        results = {i for i in self.live() if self.items[i].role == "tool"}
        fixed = self.live() | set(self.pinned()) | {len(self.items) - 1}
        places = [i for i in self.chosen(rule.match) if i in results or i not in fixed]
        return [self.shorten(i, rule) for i in places].count(True) > 0

    def mask(self, rule: Rule) -> bool:
        how = rule.action
        live, pinned = self.live(), self.pinned()
        targets: dict[int, set[str]] = {}
        for i in self.chosen(rule.match):
            for part in how.parts:
                targets.setdefault(self.head(i) if part in ("arguments", "reasoning") else i, set()).add(part)
        ready = []
        for i in sorted(set(targets) - live - set(pinned) - {len(self.items) - 1}):
            wire = self.masked(self.items[i], targets[i], how)
            if wire is not self.items[i].wire:
                ready.append((i, wire))
        ready = ready[: len(ready) // (how.batch or 1) * (how.batch or 1)]
        before, taken = list(self.items), 0
        for i, wire in ready:
            if how.until not in (None, "all") and self.holds(how.until, self.items):
                break
            self.swap(i, wire, "masked", rule.id)
            taken += 1
        gain = sum(m.cost for m in before) - sum(m.cost for m in self.items)
        if not taken or gain < (how.min_gain.of(self.limit) if how.min_gain else 0):
            self.items = before
            return False
        return True

    def masked(self, m: M, parts: set[str], how: Mask) -> Any:
        """The wire message with each of these parts masked that gets smaller by it."""
        ref, wire = reference([m.wire]), m.wire
        for part in [p for p in ORDER if p in parts]:
            changed = self.masked_part(part, m, wire, how, ref)
            if changed is not None and self.cost(changed) < self.cost(wire):
                wire = changed
        return wire

    def cost(self, wire: Any) -> int:
        return self.meter.message(chat.read(wire, 0)[0])

    def masked_part(self, part: str, m: M, wire: Any, how: Mask, ref: str) -> Any:
        text = m.seen.text
        size = {"chars": len(text), "lines": text.count("\n") + 1, "count": 1}

        def note(tool: str, tokens: int, **more: int) -> str:
            return template.compile(how.placeholder or PLACEHOLDER)(
                **amounts(**size | more, tool=tool, tokens=tokens), ref=ref
            )

        tool = ", ".join(m.tools) or m.role
        if part == "results":
            taken = m.role != "tool" or self.is_placeholder(text)
            return None if taken else chat.with_text(wire, note(tool, self.meter.text(text)))
        if part == "media":
            kinds = sorted(m.seen.has & {"image", "audio", "file"})
            tokens = sum(self.meter.media(kind) * n for kind, n in m.seen.media)
            return (
                chat.without(wire, frozenset(("media",)), note(f"{tool} {'/'.join(kinds)}", tokens)) if kinds else None
            )
        if part == "reasoning":
            said = m.wire.get("reasoning_content")
            if not said or self.is_placeholder(said):
                return None
            return {**wire, "reasoning_content": note(f"{tool} reasoning", self.meter.text(said))}
        new = []
        for call in m.seen.calls:
            tokens = self.meter.text(call.arguments)
            left = json.dumps(
                {"left_out": note(f"{call.tool} arguments", tokens, chars=len(call.arguments))}, ensure_ascii=False
            )
            again = re.fullmatch(r'\{"left_out": "(.*)"\}', call.arguments)
            smaller = self.meter.text(left) < tokens and not (again and self.is_placeholder(again[1]))
            new.append(left if smaller else call.arguments)
        return chat.with_arguments(wire, new) if new != [c.arguments for c in m.seen.calls] else None

    def evict(self, rule: Rule) -> bool:
        how, taken = rule.action, set()
        blocks = [b for b in self.blocks(self.protected(how.keep)) if len(b) > 1 or self.items[b[0]].ours != "gap"]
        notes = {i for i, m in enumerate(self.items) if m.ours == "summary"}
        fresh = {i for i, m in enumerate(self.items) if m.new}
        late = [b for b in blocks if notes & set(b) and not fresh & notes & set(b)]
        for block in [b for b in blocks if not notes & set(b)] + late:
            if self.reached(rule, self.without(self.gaps(taken, how.marker))):
                break
            taken |= set(block)
        runs = [(run, self.marker(run, how.marker)) for run, _ in self.gaps(taken, how.marker)]
        self.install(runs, "evicted", rule.id)
        return bool(runs)

    # ---- compaction ----

    def compact(self, rule: Rule, summarize: Any) -> None:
        how = rule.action
        self.failures, self.failed = 0, {}
        if self.reached(rule, self.items):
            self.events.append((rule.id, False))
            return
        for _ in range(how.max_passes):
            acted = self.one_pass(rule, summarize)
            self.events.append((rule.id, acted))
            if not acted or self.reached(rule, self.items):
                return

    def one_pass(self, rule: Rule, summarize: Any) -> bool:
        how = rule.action
        least = max(1, math.ceil(how.min_gain.of(self.limit) - 1e-9))
        span = next(self.worthy(rule, least), None)
        if span is None or self.failures >= how.breaker:
            return False
        first, rest = span
        answer = judge(self.ask(summarize), how.nothing)
        runs = self.changes(how, first, rest, answer) if isinstance(answer, Note) else []
        gain = sum(self.items[i].cost for run, _ in runs for i in run) - sum(m.cost for _, m in runs)
        if gain < least:
            self.failures += 1
            return False
        self.failures = 0
        self.install(runs, "compacted", rule.id)
        return True

    def ask(self, summarize: Any) -> Any:
        try:
            return summarize()
        except TimeoutError as error:
            return Failure(error)

    def changes(self, how: Compact, first: list[int], rest: set[int], note: Note) -> list[tuple[list[int], M]]:
        gone = set(rest)
        if note.text is None:
            return self.final(gone | set(first), how)
        notes = [i for i, m in enumerate(self.items) if m.ours == "summary"]
        free = [i for i in notes if i not in self.live()]
        drop = free[-1:] if how.summaries == "merge" else []
        over = len(notes) - len(drop) + 1 - how.max_summaries
        drop += [i for i in free if not self.items[i].new and i not in drop][: max(0, over)]
        places = self.final(gone | set(drop), how)
        gone_first = [self.items[i] for i in first]
        taken = sum(self.items[i].count for i in first) + sum(1 for i in rest if not self.items[i].ours)
        label = template.compile(how.label or LABEL)(
            **amounts(count=taken, tokens=sum(self.items[i].cost for i in {*first, *self.joined(rest, how)})),
            ref=reference([m.wire for m in gone_first]),
        )
        summary = self.put(f"{label}\n{RECORD}\n{encodable(note.text)}", "summary", gone_first)
        summary.count = taken
        return sorted([(first, summary), *places], key=lambda change: change[0][0])

    def final(self, taken: set[int], how: Compact) -> list[tuple[list[int], M]]:
        return [(run, self.marker(run, how.marker)) for run, _ in self.gaps(taken, how.marker)]

    def joined(self, rest: set[int], how: Compact) -> set[int]:
        return {i for run, _ in self.gaps(rest, how.marker) for i in run}

    def worthy(self, rule: Rule, least: int) -> Iterator[tuple[list[int], set[int]]]:
        for first, rest in self.spans(rule, least):
            made = self.joined(rest, rule.action)
            count = len(first) + sum(not self.items[i].ours for i in made)
            if count >= rule.action.span_min and self.bare(rule.action, first, rest) >= least:
                yield first, rest & made

    def spans(self, rule: Rule, least: int) -> Iterator[tuple[list[int], set[int]]]:
        how = rule.action
        stays = self.protected(how.keep) | self.dead() | {i for i, m in enumerate(self.items) if m.ours}
        blocks = self.blocks(stays)
        while blocks:
            first, rest, end = blocks[0], set(), blocks[0][-1]
            blocks = blocks[1:]
            while blocks and not self.finished(rule, first, rest, least):
                block = blocks[0]
                size = len(first) + len(self.counted(rest, how)) + len(block)
                full = how.span_max is not None and size > how.span_max
                if any(self.items[i].ours == "summary" for i in range(end, block[0])):
                    break
                if full and self.bare(how, first, rest) - math.ceil(how.word_limit * WORD) >= least:
                    break
                if block[0] == first[-1] + 1:
                    first = first + block
                else:
                    rest = rest | set(block)
                end, blocks = block[-1], blocks[1:]
            yield first, rest

    def counted(self, rest: set[int], how: Compact) -> list[int]:
        return [i for i in self.joined(rest, how) if not self.items[i].ours]

    def finished(self, rule: Rule, first: list[int], rest: set[int], least: int) -> bool:
        """Enough is taken: with the note priced in, the goal that is written holds and the gain is there."""
        how = rule.action
        if how.until is None or len(first) + len(self.counted(rest, how)) < how.span_min:
            return False
        if self.bare(how, first, rest) - math.ceil(how.word_limit * WORD) < least:
            return False
        note = self.put("", "summary", [])
        note.cost = self.label_cost(how) + math.ceil(how.word_limit * WORD)
        return self.reached(rule, self.without([(first, note), *self.gaps(rest, how.marker)]))

    def label_cost(self, how: Compact) -> int:
        label = template.compile(how.label or LABEL)(**amounts(count=len(self.items)), ref=DEAREST)
        return self.meter.MESSAGE_OVERHEAD + self.meter.text(f"{label}\n{RECORD}\n")

    def bare(self, how: Compact, first: list[int], rest: set[int]) -> int:
        """Tokens gained with an empty note."""
        gone = sum(self.items[i].cost for i in {*first, *self.joined(rest, how)})
        return gone - sum(m.cost for _, m in self.gaps(rest, how.marker)) - self.label_cost(how)


def pattern(text: str) -> str:
    """A template's text as a pattern."""
    parts = re.split(r"\{\{ (\w+) \}\}", text)
    wild = {"ref": "[0-9a-f]{12}", "tool": "(?P<tool>.*?)", "count": "(?P<count>[0-9][0-9,]*)"}
    return "".join(wild.get(p, "[0-9][0-9,]*") if n % 2 else re.escape(p) for n, p in enumerate(parts))


def number(found: re.Match[str]) -> int:
    return int(found.groupdict().get("count", "1").replace(",", ""))
