"""A run taken apart: the list as it came in, as each send rule received it, and as it came out.

The list before a rule is what comes out of a run with only the rules before it, so it is the engine's own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import msgspec

from ctxpolicy.archive import Archive
from ctxpolicy.drivers import Effects, drive
from ctxpolicy.items import Item
from ctxpolicy.match import Traits
from ctxpolicy.policy.model import Compact, Evict, Match, Rule, Spec
from ctxpolicy.policy.node import Path_
from ctxpolicy.result import Result
from ctxpolicy.review.clauses import Asked, Check, checks
from ctxpolicy.rules import AppendRule, Pipeline
from ctxpolicy.select import Selector, selector
from ctxpolicy.session import Session
from ctxpolicy.summarize.request import Summarize, SummaryRequest
from ctxpolicy.view import View

if TYPE_CHECKING:
    from ctxpolicy.api import Policy


class Stages:
    """One run of a policy over one list, with the list at each of its stages.

    `summarize` is asked once for each note that the run needs; `archive` gets what it removes; `state` is that of the
    run before. `end` is the list as it came out. A message is named by its place in the caller's list
    (of items: a message that is several to the rules has several). Raises MessageTooLarge where a rule refuses a
    message, TranscriptInvalid for what is no message.
    """

    def __init__(
        self,
        policy: Policy,
        messages: Sequence[Any],
        *,
        tools: Sequence[Any] | None = None,
        system: Any = None,
        summarize: Summarize | None = None,
        format: str | None = None,
        meta: Sequence[Mapping[str, Any] | None] | None = None,
        state: Mapping[str, Any] | None = None,
        archive: Archive | None = None,
    ) -> None:
        self.pipeline = policy.pipeline(format)
        self.questions = Questions(policy.spec, self.pipeline.limit)
        self._messages, self._beside, self._meta, self._state = messages, (tools, system), meta, state
        self._replies = _Replies(summarize)
        self.result, self.end = self._run(self.pipeline, archive)

    def _run(self, pipeline: Pipeline, archive: Archive | None = None) -> tuple[Result, Asked]:
        session = Session(pipeline, *self._beside)
        session.take_over(self._messages, self._state, self._meta)
        effects = self._replies.effects(pipeline, archive)
        result = session.finish(drive(session.start(effects), effects))
        return result, Asked(self.questions.view(session.view()))

    @cached_property
    def before(self) -> list[Asked]:
        """The list as each send rule received it, and last as it came out."""
        rules = self.pipeline.send_rules
        first = [msgspec.structs.replace(self.pipeline, send_rules=rules[:n]) for n in range(len(rules))]
        return [*(self._run(pipeline)[1] for pipeline in first), self.end]

    @cached_property
    def arriving(self) -> list[Asked]:
        """The list as it came in, as each append rule saw its messages, and last as they went into the list."""
        rules = self.pipeline.append_rules
        return [self._arrived(rules[:n]) for n in range(len(rules) + 1)]

    def _arrived(self, rules: tuple[AppendRule, ...]) -> Asked:
        session = Session(msgspec.structs.replace(self.pipeline, append_rules=rules, send_rules=()), *self._beside)
        session.take_over(self._messages, None, self._meta)
        return Asked(self.questions.view(session.view()))

    @property
    def whole(self) -> Asked:
        """The list as it came in, before any rule."""
        return self.arriving[0]

    @property
    def given(self) -> Sequence[Item]:
        """The items of the list as it came in."""
        return self.whole.view.items

    def left_at(self, place: int) -> int | None:
        """The number of the send rule by which a message left the list, -1 where an earlier run took it; None where it
        is still there."""
        for n, stage in enumerate(self.before, -1):
            if stage.view.items[position(stage.view, place)].ours and not self.given[place].ours:
                return n
        return None

    def judging(self, place: int) -> Asked:
        """The list that decided about a message: the one its rule received, else the one that came out."""
        left = self.left_at(place)
        return self.end if left is None else self.before[max(left, 0)]

    def text_for(self, index: int) -> str:
        """The text, arguments included, that now stands where the caller's message `index` stood."""
        place = next(p for p, item in enumerate(self.given) if item.message.index == index)
        return words(self.end.view.items[position(self.end.view, place)])

    def acted(self, number: int, place: int) -> bool:
        """Whether send rule `number` did something to the message."""
        old, new = self.before[number].view, self.before[number + 1].view
        was, now = old.items[position(old, place)].edit, new.items[position(new, place)].edit
        return now is not None and now != was and now.rule == self.pipeline.send_rules[number].id


class Questions:
    """Everything that is asked of a list, compiled before the first question: answers are kept as numbered bits."""

    def __init__(self, spec: Spec, limit: int) -> None:
        self._traits = Traits()
        self.pins = tuple((pin.id, selector(pin.match, limit, self._traits)) for pin in spec.pins)
        self.pin_checks = [
            checks(pin.match, limit, self._traits, ("pins", n, "match")) for n, pin in enumerate(spec.pins)
        ]
        self.rules: dict[str, tuple[Check, ...]] = {}
        self.chosen: dict[str, Selector | None] = {}
        for path, rule in rules_of(spec):
            match, at = _match_of(path, rule)
            self.rules[rule.id] = checks(match, limit, self._traits, at) if match else ()
            self.chosen[rule.id] = selector(match, limit, self._traits) if match else None

    def view(self, view: View, without: str | None = None) -> View:
        """The view with room for the answers, and without one of the pins where that is asked."""
        items = [msgspec.structs.replace(item, traits=-1) for item in view.items]
        pins = [(name, chosen) for name, chosen in self.pins if name != without]
        return View(items, view.tally, view.load, self._traits, pins)


class _Replies:
    """A summariser that is asked once: what it said in the first run, it says again in the others."""

    def __init__(self, summarize: Summarize | None) -> None:
        self._summarize = summarize
        self._said: list[Any] = []
        self._next = 0

    def effects(self, pipeline: Pipeline, archive: Archive | None) -> Effects:
        """What a run may use."""
        self._next = 0
        asking = () if self._summarize is None else (r.id for r in pipeline.send_rules if r.action == "compact")
        return Effects(dict.fromkeys(asking, (self._reply,)), archive)

    def _reply(self, request: SummaryRequest) -> Any:
        assert self._summarize is not None
        if self._next == len(self._said):
            try:
                self._said.append(self._summarize(request))
            except Exception as error:  # noqa: BLE001 - said again as it was, in every run
                self._said.append(error)
        reply = self._said[self._next]
        self._next += 1
        if isinstance(reply, Exception):
            raise reply
        return reply


def rules_of(spec: Spec) -> Iterator[tuple[Path_, Rule]]:
    """Every rule with its path in the effective policy."""
    for n, rule in enumerate(spec.rules):
        yield ("rules", n), rule


def action_of(rule: Rule) -> str:
    """The word for a rule's action."""
    return type(rule.action).__name__.lower()


def words(item: Item) -> str:
    """The text of a message and the arguments of its calls."""
    return "\n".join([item.message.text, *(call.arguments for call in item.message.calls)])


def position(view: View, place: int) -> int:
    """The position of the item that now stands for a place of the caller's list."""
    return next(i for i, item in enumerate(view.items) if item.end > place)


def _match_of(path: Path_, rule: Rule) -> tuple[Match | None, Path_]:
    """The match of a rule, or the `keep` of one that takes none."""
    if isinstance(rule.action, Compact | Evict):
        return rule.action.keep, (*path, action_of(rule), "keep")
    return rule.match, (*path, "match")
