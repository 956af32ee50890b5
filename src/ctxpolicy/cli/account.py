"""What `apply` has to tell about its runs: figures that add up, and the first of each kind of trouble."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from ctxpolicy.actions.compact import NO_SUMMARISER
from ctxpolicy.cli.output import counted, note
from ctxpolicy.cli.rewrite import Outcome
from ctxpolicy.result import Event, Result

_KEPT_ALL = "the archive could not be written, so "  # how the events of a run begin that was undone for it
_OVER = ("over the limit", "no room")  # how a run says why its list does not fit
_DONE = {
    "truncate": "truncated", "mask": "masked", "compact": "compacted", "evict": "evicted", "repair": "repaired",
    "reasoning": "reasoning taken out",
}  # fmt: skip


class Told(msgspec.Struct):
    """The first of several that say much the same, and how many there are."""

    first: str = ""
    count: int = 0

    def add(self, told: str, count: int = 1) -> None:
        """Take in more, in order."""
        self.first = self.first or told
        self.count += count

    def __str__(self) -> str:
        return self.first + (f" (and {self.count - 1:,} more)" if self.count > 1 else "")


class Runs(msgspec.Struct):
    """So many runs, and the tokens of their conversations before and after."""

    number: int = 0
    before: int = 0
    after: int = 0

    def add(self, more: Runs) -> None:
        """Count more in."""
        self.number += more.number
        self.before += more.before
        self.after += more.after

    def __str__(self) -> str:
        return f"{self.before:,} -> {self.after:,} tokens"


class Account(msgspec.Struct):
    """What was done to conversations. `runs` is every run, `changes` those that changed something, `left` the number
    of conversations that were too small to need one; `unarchived` says that something was kept for want of an archive.
    """

    messages: int = 0
    left: int = 0
    runs: Runs = msgspec.field(default_factory=Runs)
    changes: Runs = msgspec.field(default_factory=Runs)
    acts: dict[str, int] = {}
    lost: Told = msgspec.field(default_factory=Told)
    over: Told = msgspec.field(default_factory=Told)
    troubles: Told = msgspec.field(default_factory=Told)
    unasked: Told = msgspec.field(default_factory=Told)
    repairs: Told = msgspec.field(default_factory=Told)
    unarchived: bool = False

    def leave(self, messages: int) -> None:
        """Count in a conversation that was too small for any rule."""
        self.messages += messages
        self.left += 1

    def take(self, result: Result, where: str, messages: int, window: int) -> None:
        """Count a run in: `where` its conversation is, how many messages that had, the policy's window in tokens."""
        self.messages += messages
        usage = result.usage
        run = Runs(1, usage.before["total"], usage.after["total"])
        self.runs.add(run)
        if any(event.acted for event in result.events):
            self.changes.add(run)
        self._take_events(result, where)
        if not usage.fits:
            self.over.add(f"{where}: {_why_over(result)} (window {window:,})")

    def _take_events(self, result: Result, where: str) -> None:
        for event in result.events:
            if event.acted:
                self._act(_what(event), event.messages)
                if event.action == "repair":
                    self.repairs.add(f"{where}: {event.reason}")
            if NO_SUMMARISER in event.reason:
                self.unasked.add(f"{where}: {event.rule}: {event.reason}")
            if event.failed and event.action == "archive":
                self.lost.add(f"{where}: {event.reason}")
                self.unarchived |= event.reason.startswith(_KEPT_ALL)
            elif event.failed:
                self.troubles.add(f"{where}: {event}")

    def _act(self, what: str, messages: int) -> None:
        self.acts[what] = self.acts.get(what, 0) + messages

    def add(self, later: Account) -> None:
        """Count in what other runs did after these."""
        self.messages += later.messages
        self.left += later.left
        self.runs.add(later.runs)
        self.changes.add(later.changes)
        for what, messages in later.acts.items():
            self._act(what, messages)
        for told, more in zip(self._told(), later._told(), strict=True):
            told.add(more.first, more.count)
        self.unarchived |= later.unarchived

    def _told(self) -> Iterable[Told]:
        return self.lost, self.over, self.troubles, self.unasked, self.repairs

    def report(self, outcome: Outcome, *, dry_run: bool) -> None:
        """What was done, on standard error; the last line says it all."""
        if self.lost.count:
            advice = (
                "name another directory with --archive DIR or the policy's archive.path, or --archive none to keep none"
            )
            note(f"{'error' if self.unarchived else 'warning'}: {self.lost}; {advice}")
        if self.over.count:
            note(f"warning: {self.over}; the provider may refuse it")
        if self.troubles.count:
            note(f"warning: {self.troubles}")
        if self.unasked.count:
            note(f"note: {self.unasked}; set one with --summarizer extract, or in the policy")
        if self.repairs.count:
            note(f"note: {self.repairs}")
        if outcome.code != 2:  # then nothing could be read, which is told
            note(self._line(outcome) + ("; dry run, nothing was written" if dry_run else ""))

    def _line(self, outcome: Outcome) -> str:
        acts = ", ".join(f"{what} {count:,}" for what, count in self.acts.items())
        failed = f", {outcome.failed:,} failed" if outcome.failed else ""
        return (
            f"{counted(outcome.done, 'conversation')}{failed}, {counted(self.messages, 'message')}, "
            f"{self._size()}; {acts or 'no rule acted'}"
        )

    def _size(self) -> str:
        """The tokens of all conversations; where those left alone were not counted, of the ones that changed."""
        if not self.left:
            return str(self.runs)
        return f"{self.changes.number:,} changed: {self.changes}" if self.changes.number else "none changed"


def _what(event: Event) -> str:
    """Who did what; what no rule did is done for the provider."""
    done = _DONE.get(event.action, event.action)
    return f"{event.rule}: {done}" if event.rule else done


def _why_over(result: Result) -> str:
    """Why a list does not fit, as its run says it."""
    usage = result.usage
    why = f"over the limit: {usage.after['total']:,} of {usage.limit:,} tokens"
    told = (e.reason for e in result.events if e.action == "run" and e.reason.startswith(_OVER))
    return next(told, why)
