"""What a command found, as the page that `--html` writes. Loads the simulator: a page shows how sessions went."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Literal

from ctxpolicy.cli import performance, survey
from ctxpolicy.cli.options import Setup
from ctxpolicy.cli.output import TOO_DEEP, counted
from ctxpolicy.errors import CtxPolicyError, MessageTooLarge
from ctxpolicy.result import Result
from ctxpolicy.simulate.composition import Composition, compose
from ctxpolicy.simulate.course import Course, play
from ctxpolicy.transcripts import Conversation

if TYPE_CHECKING:
    from ctxpolicy.page.model import Page, Section

Outcome = Result | MessageTooLarge
MOST_SECTIONS = 25  # sessions shown in full on a page; the others have a line
_PLAYED = "at the end of the session"
_NOW = "if the policy took the list over now"


def page_of_courses(courses: Sequence[Course]) -> Page:
    """Simulated sessions, each with its verdict."""
    from ctxpolicy.page.build import notes_of_course, page, section
    from ctxpolicy.page.model import Line

    spec = courses[0].spec
    shown = [section(c, c.decisions, notes_of_course(c), when=_PLAYED, judged=True) for c in courses[:MOST_SECTIONS]]
    if len(courses) == 1:
        return page(courses[0].name.capitalize(), spec, shown)
    lines = [Line(c.name, performance.session_cells(c)[1:], bool(c.findings)) for c in courses]
    overall = Composition()
    for course in courses:
        overall.add(compose(course.pipeline, course.messages, course.tools))
    title = f"{counted(len(courses), 'session')} played under {spec.name or 'this policy'}"
    return page(title, spec, shown, overall=overall, titles=performance.SESSION_TITLES, lines=lines)


class Gathered:
    """Conversations on their way to a page; only the first few are kept whole.

    `noted` says whether their course is played with made-up notes where a summary is wanted, or with none.
    """

    def __init__(self, chosen: Setup, *, noted: bool) -> None:
        self._chosen = chosen
        self._summarize: Literal[False] | None = None if noted else False
        self.kept: list[Conversation] = []
        self.named: list[tuple[str, Composition]] = []

    def take(self, conversation: Conversation) -> None:
        """Find out what fills a conversation. Raises TranscriptInvalid for what is none."""
        pipeline = self._chosen.policy.pipeline(self._chosen.format_of(conversation))
        composition = compose(pipeline, conversation.messages, self._chosen.tools_of(conversation))
        self.named.append((conversation.where, composition))
        if len(self.kept) < MOST_SECTIONS:
            self.kept.append(conversation)

    def page(self, title: str, outcomes: Iterable[Outcome]) -> Page:
        """What fills all of them, and for each that was kept the fates in `outcomes`, in the same order."""
        from ctxpolicy.page.build import page
        from ctxpolicy.page.model import Line

        spec = self._chosen.policy.spec
        shown = [self._section(one, outcome) for one, outcome in zip(self.kept, outcomes, strict=True)]
        if len(self.named) == 1:
            return page(f"{title} {self.named[0][0]}", spec, shown)
        overall = Composition()
        for _, one in self.named:
            overall.add(one)
        lines = [Line(name, survey.conversation_cells(name, one, spec)[1:]) for name, one in self.named]
        what = f"{title} {counted(len(self.named), 'conversation')}"
        return page(what, spec, shown, overall=overall, titles=survey.CONVERSATION_TITLES, lines=lines)

    def _section(self, conversation: Conversation, outcome: Outcome) -> Section:
        """A conversation as it would have gone, call by call, and the fates of its messages."""
        from ctxpolicy.page.build import notes_of_run, section

        chosen, messages = self._chosen, conversation.messages
        try:
            course = play(
                chosen.policy, messages, conversation.where, tools=chosen.tools_of(conversation),
                summarize=self._summarize, format=chosen.format_of(conversation),
            )  # fmt: skip
        except RecursionError:
            raise CtxPolicyError(f"--html: {conversation.where}: {TOO_DEEP}") from None
        if isinstance(outcome, MessageTooLarge):
            return section(course, None, [], when=_NOW, messages=messages, refused=(outcome.index, outcome.rule))
        return section(course, outcome.decisions, notes_of_run(outcome.events), when=_NOW, messages=messages)
