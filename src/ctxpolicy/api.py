"""A policy ready to use: `load` it, then `apply` it to a list or open a managed `window` in a loop."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any

import msgspec
from msgspec.structs import replace

from ctxpolicy.archive import Archive, open_archive
from ctxpolicy.arguments import Metas, message_list, metas, window_size
from ctxpolicy.calls import recorded_calls
from ctxpolicy.compile import compile_policy
from ctxpolicy.drivers import Effects, adrive, drive
from ctxpolicy.errors import PolicyInvalid
from ctxpolicy.intake import Intake
from ctxpolicy.items import Tally
from ctxpolicy.policy.model import Compact, Spec
from ctxpolicy.replay import replay
from ctxpolicy.result import Result
from ctxpolicy.rules import Pipeline
from ctxpolicy.session import Session
from ctxpolicy.summarize import Summarizers, Unusable, declared, summarizers
from ctxpolicy.summarize.request import Summarize
from ctxpolicy.view import View
from ctxpolicy.window import ManagedWindow, check_dump

logger = logging.getLogger("ctxpolicy")


class Row(msgspec.Struct, frozen=True):
    """One message as a policy sees it now: `role` as read, `tool` called or answered, and what protects it."""

    index: int
    role: str
    tool: str | None
    tokens: int
    protects: str | None


class Policy:
    """A checked policy. Immutable; compiled once for each wire format it meets."""

    def __init__(self, spec: Spec, base: Path | None = None) -> None:
        self.spec = spec
        self._base = base
        self._warned: set[str] = set()
        self._pipelines: dict[str | None, Pipeline] = {}

    def __repr__(self) -> str:
        return f"<Policy {self.spec.name!r}: limit {self.spec.budget.limit:,} tokens, {len(self.spec.rules)} rules>"

    def with_window(self, window: int) -> Policy:
        """The same policy for a model that accepts `window` tokens. Raises PolicyInvalid if no budget is left."""
        budget = replace(self.spec.budget, window=window_size(window))
        if budget.limit <= 0:
            raise PolicyInvalid(
                f"a window of {window:,} tokens leaves no budget: x ratio {budget.ratio:g} - reserve "
                f"{budget.reserve:,} = {budget.limit:,} tokens; take a larger window or a smaller reserve"
            )
        return Policy(replace(self.spec, budget=budget), self._base)

    def pipeline(self, format: str | None = None) -> Pipeline:
        """The compiled pipeline for a wire format (None: OpenAI Chat)."""
        if format not in self._pipelines:
            self._pipelines[format] = compile_policy(self.spec, format)
        return self._pipelines[format]

    def apply(
        self,
        messages: Sequence[Any],
        *,
        tools: Sequence[Any] | None = None,
        summarize: Summarizers = None,
        archive: Any = None,
        state: Mapping[str, Any] | None = None,
        format: str | None = None,
        meta: Metas = None,
        system: Any = None,
        repair: str | None = None,
    ) -> Result:
        """Apply the policy once, as if this list were taken over now; `messages` is never changed.

        `tools` are the schemas sent along. `summarize` overrides the policy's summariser; False is none. `archive` is a
        directory, an `Archive`, a callable, or None or False: nothing is written. `state` is that of the previous
        result: pass it with the same originals, or with the list that was returned, each time with what is new behind
        it. `meta` is the metadata of the messages, in a sequence or by index. `format` names the wire format:
        openai-chat (None), anthropic, openai-responses or gemini. `system` is what is sent beside the list (Anthropic's
        `system`, Gemini's `systemInstruction`, Responses' `instructions`): it is counted and never changed. `repair`
        has the list that is returned repaired for its provider: the name of the format, or "strict" for every model
        and server that speaks it. Each repair is an event, and the decision on the message `repaired`.

        Raises MessageTooLarge where a rule refuses a message, TranscriptInvalid for what is no message, CtxPolicyError
        for a `repair` of another format.
        """
        session = self._session(messages, tools, state, format, meta, system, repair)
        effects = self._effects(summarize, open_archive(archive))
        return session.finish(drive(session.start(effects), effects))

    async def aapply(
        self,
        messages: Sequence[Any],
        *,
        tools: Sequence[Any] | None = None,
        summarize: Summarizers = None,
        archive: Any = None,
        state: Mapping[str, Any] | None = None,
        format: str | None = None,
        meta: Metas = None,
        system: Any = None,
        repair: str | None = None,
    ) -> Result:
        """`apply` with a summariser that may be async."""
        session = self._session(messages, tools, state, format, meta, system, repair)
        effects = self._effects(summarize, open_archive(archive))
        return session.finish(await adrive(session.start(effects), effects))

    def replay(
        self,
        messages: Sequence[Any],
        *,
        tools: Sequence[Any] | None = None,
        summarize: Summarizers = None,
        archive: Any = None,
        format: str | None = None,
        meta: Metas = None,
        system: Any = None,
        usage: Mapping[int, int] | None = None,
    ) -> Iterator[Result]:
        """What a live loop would have sent at each model call of a recorded list: a result for each, when asked for.

        A call stands before every assistant message that goes on with no earlier one. A result is that of the window
        at that call: its `decisions` are on the list as the call before left it, with what came in since. In place of
        a refused tool result goes its replacement. `usage` has the prompt tokens that the provider recorded, by the
        index of the reply; with them pressure is calibrated as `window.observe` does. The other arguments are those of
        `apply`.

        Raises MessageTooLarge where a rule refuses another message, TranscriptInvalid for what is no message.
        """
        calls = recorded_calls(self.pipeline(format), messages, tools=tools, system=system, usage=usage)
        store = False if archive is None else archive
        window = self.window(tools=tools, summarize=summarize, archive=store, format=format, system=system)
        return replay(window, messages, metas(meta, len(message_list(messages))), calls)

    def window(
        self,
        *,
        tools: Sequence[Any] | None = None,
        summarize: Summarizers = None,
        archive: Any = None,
        messages: Sequence[Any] = (),
        state: Mapping[str, Any] | None = None,
        format: str | None = None,
        window: int | None = None,
        meta: Metas = None,
        system: Any = None,
        repair: str | None = None,
    ) -> ManagedWindow:
        """A managed list for a live loop: append to it, and send what `prepare` returns.

        `archive` None is what the policy declares, False is none. `window` is another model's size in tokens. The
        other arguments are those of `apply`. Raises MessageTooLarge if a message given here is refused.
        """
        if window is not None:
            return self.with_window(window).window(
                tools=tools,
                summarize=summarize,
                archive=archive,
                messages=messages,
                state=state,
                format=format,
                meta=meta,
                system=system,
                repair=repair,
            )
        store = open_archive(self.spec.archive.path or False) if archive is None else open_archive(archive)
        session = Session(self.pipeline(format), tools, system, live=True, repair=repair)
        made = ManagedWindow(session, self._effects(summarize, store))
        made.take_over(messages, state, metas(meta, len(message_list(messages))))
        return made

    def resume(
        self,
        dump: Mapping[str, Any],
        *,
        tools: Sequence[Any] | None = None,
        summarize: Summarizers = None,
        archive: Any = None,
        format: str | None = None,
        window: int | None = None,
        system: Any = None,
        repair: str | None = None,
    ) -> ManagedWindow:
        """The window that `window.dump()` saved, ready to go on; give it the arguments that it was made with.

        Raises CtxPolicyError for what is no dump, and for a `format` that is not the dump's own.
        """
        check_dump(dump, format)
        made = self.window(
            tools=tools,
            summarize=summarize,
            archive=archive,
            messages=dump["messages"],
            state=dump["state"],
            format=dump.get("format", format),
            window=window,
            system=system,
            repair=repair,
        )
        made.take_up(dump)
        return made

    def look(
        self,
        messages: Sequence[Any],
        *,
        tools: Sequence[Any] | None = None,
        format: str | None = None,
        meta: Metas = None,
    ) -> list[Row]:
        """The list as the policy sees it, no rule applied: a row for each message."""
        pipeline = self.pipeline(format)
        items = Intake(pipeline.reading).read_all(messages, metas(meta, len(message_list(messages))))
        view = View(items, Tally.of(items), pipeline.load(tools), pipeline.traits, pipeline.pins)
        rows: list[Row] = []
        for item, protects in zip(items, view.protection(), strict=True):
            row = Row(len(rows), item.role, ", ".join(item.tools) or None, item.tokens, protects)
            if item.message.part:
                row = _one_row(rows.pop(), row)
            rows.append(row)
        return rows

    def _session(
        self,
        messages: Sequence[Any],
        tools: Sequence[Any] | None,
        state: Mapping[str, Any] | None,
        format: str | None,
        meta: Metas,
        system: Any,
        repair: str | None,
    ) -> Session:
        session = Session(self.pipeline(format), tools, system, repair=repair)
        session.take_over(messages, state, metas(meta, len(message_list(messages))))
        return session

    def _effects(self, summarize: Summarizers, archive: Archive | None) -> Effects:
        """The summarisers of each compact rule: the caller's, else the rule's own and behind them the policy's."""
        given = None if summarize is None else summarizers(summarize or "none")
        found: dict[str, Sequence[Summarize]] = {}
        for rule in self.spec.rules:
            if isinstance(rule.action, Compact):
                own = (*(rule.action.summarizer or ()), *self.spec.summarizer)
                found[rule.id] = declared(own, self._base) if given is None else given
        self._warn(link for links in found.values() for link in links)
        return Effects(found, archive)

    def _warn(self, links: Iterable[Summarize]) -> None:
        """Log, once for each policy, which declared summarisers cannot be asked here. Events say so when they are."""
        for why in dict.fromkeys(link.why for link in links if isinstance(link, Unusable)):
            if why not in self._warned:
                self._warned.add(why)
                logger.warning("policy %s: %s", self.spec.name, why)


def _one_row(first: Row, second: Row) -> Row:
    """The row of a message that is two to the rules."""
    tools = ", ".join(t for t in (first.tool, second.tool) if t) or None
    return Row(first.index, first.role, tools, first.tokens + second.tokens, first.protects or second.protects)


def load(path: str | PathLike[str]) -> Policy:
    """The policy of a file, or of `builtin:NAME`.

    Raises PolicyInvalid, with every finding, for a policy that must not run, and an OSError for a file that cannot be
    read.
    """
    from ctxpolicy.policy.load import load_checked

    return Policy(*load_checked(path))


def loads(text: str) -> Policy:
    """The policy of a text; relative paths in it start from the working directory. Raises PolicyInvalid."""
    from ctxpolicy.policy.load import loads_checked

    return Policy(loads_checked(text))
