"""A policy as a transformation of conversations, in this process or in several: what `apply` does."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import msgspec

from ctxpolicy.archive import Archive, open_archive
from ctxpolicy.cli.account import Account
from ctxpolicy.cli.html import write_page
from ctxpolicy.cli.jobs import in_order
from ctxpolicy.cli.options import Setup, setup
from ctxpolicy.cli.rewrite import Each, Finished, Piece, Placed, finish
from ctxpolicy.errors import MessageTooLarge
from ctxpolicy.quick import FORMAT, QuickLook
from ctxpolicy.result import Result
from ctxpolicy.transcripts import Conversation, Unread

if TYPE_CHECKING:
    from ctxpolicy.cli.pages import Gathered

_BATCH = 2**18  # bytes of lines that a process takes at a time


class Order(msgspec.Struct, frozen=True):
    """What the command line asks for: enough to make the same run in any process."""

    policy: str
    window: int | None
    tools: Path | None
    pins: frozenset[int] | None
    summarizer: str | None
    wire_format: str | None
    target: str | None
    archive: str | None

    def setup(self) -> Setup:
        """The policy, loaded. Raises CtxPolicyError for what cannot be used."""
        return setup(self.policy, self.window, self.tools, self.pins, self.summarizer, self.wire_format, self.target)

    def open_archive(self, chosen: Setup) -> Archive | Literal[False]:
        """Where originals go: one archive for all conversations, so that one process writes one file."""
        where = chosen.policy.spec.archive.path if self.archive is None else self.archive
        return False if where is None or self.archive == "none" else open_archive(where) or False


class Run:
    """The policy as a transformation of conversations, with what is to be told about it at the end."""

    def __init__(self, order: Order, *, keep: bool = False) -> None:
        self.setup = order.setup()
        self._archive = order.open_archive(self.setup)
        self._look = None if keep else _quick_look(self.setup)
        self._gathered = _gathered(self.setup) if keep else None
        self._outcomes: list[Result | MessageTooLarge] = []
        self.account = Account()

    def finish(self, piece: Piece) -> Iterator[Finished]:
        """What becomes of a piece of a transcript."""
        return finish(piece, self._apply, self._is_untouched)

    def _is_untouched(self, data: bytes) -> bool:
        messages = None if self._look is None else self._look.untouched(data)
        if messages is None:
            return False
        self.account.leave(messages)
        return True

    def _apply(self, conversation: Conversation) -> Sequence[Any]:
        try:
            result = self.setup.apply(conversation, archive=self._archive)
        except MessageTooLarge as error:
            self._keep(conversation, error)
            raise
        self._keep(conversation, result)
        window = self.setup.policy.spec.budget.window
        self.account.take(result, conversation.where, len(conversation.messages), window)
        return result.messages

    def _keep(self, conversation: Conversation, outcome: Result | MessageTooLarge) -> None:
        """For the page: the conversation, if it still has room for one, with what became of it."""
        if self._gathered is not None:
            self._gathered.take(conversation)
            self._outcomes += [outcome] * (len(self._gathered.kept) - len(self._outcomes))

    def write_page(self, path: Path) -> None:
        """What was done as a page."""
        if self._gathered is not None and self._gathered.named:
            write_page(path, self._gathered.page("Applied to", self._outcomes))


def _quick_look(chosen: Setup) -> QuickLook | None:
    """A way to pass over what is too small for the policy; None where every conversation must be read: for its format,
    for what is pinned in it, or to be repaired."""
    if chosen.pins or chosen.target or chosen.wire_format not in (None, FORMAT):
        return None
    return QuickLook(chosen.policy.pipeline(FORMAT), chosen.tools)


def _gathered(chosen: Setup) -> Gathered:
    from ctxpolicy.cli.pages import Gathered  # loads the simulator, which only a page needs

    return Gathered(chosen, noted=_has_summariser(chosen))


def _has_summariser(chosen: Setup) -> bool:
    """Whether summaries can be had: from the command line, else from the policy or one of its rules."""
    if chosen.summarize is not None:
        return chosen.summarize is not False
    spec = chosen.policy.spec
    return bool(spec.summarizer) or any(getattr(rule.action, "summarizer", None) for rule in spec.rules)


# Several processes. Each makes its own run of the order, takes batches of pieces and gives back what became of them.

_Batch = list[Placed]
_Done = tuple[list[tuple[int, Finished]], Account]
_worker: Run  # of a process that `_begin` made ready


def in_processes(processes: int, order: Order, run: Run) -> Each:
    """Pieces finished by processes; what they did is added to the account of `run`."""
    run.setup.policy.window(summarize=run.setup.summarize, archive=False)  # logs which summarisers cannot be used

    def here(batch: _Batch) -> _Done:
        return _finished(run, batch), Account()  # what it did is in the account of `run` already

    def each(placed: Iterator[Placed]) -> Iterator[tuple[int, Finished]]:
        for finished, account in in_order(_work, _batches(placed), processes, _begin, order, here=here):
            run.account.add(account)
            yield from finished

    return each


def _batches(placed: Iterable[Placed]) -> Iterator[_Batch]:
    batch: _Batch = []
    size = 0
    for number, piece in placed:
        batch.append((number, piece))
        size += _weight(piece)
        if size >= _BATCH:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def _weight(piece: Piece) -> int:
    """About how many bytes of work a piece is; a conversation out of a whole document makes a batch."""
    return len(piece.data) if isinstance(piece, Unread) else _BATCH if isinstance(piece, Conversation) else 0


def _begin(order: Order) -> None:
    global _worker
    logging.getLogger("ctxpolicy").setLevel(logging.ERROR)  # what is said once for a policy, the first process says
    _worker = Run(order)


def _work(batch: _Batch) -> _Done:
    _worker.account = Account()
    return _finished(_worker, batch), _worker.account


def _finished(run: Run, batch: _Batch) -> list[tuple[int, Finished]]:
    return [(number, one) for number, piece in batch for one in run.finish(piece)]
