"""Several summarisers in order: the first that answers."""

from __future__ import annotations

from collections.abc import Awaitable, Sequence
from inspect import isawaitable

from ctxpolicy.errors import CtxPolicyError
from ctxpolicy.summarize.request import Summarize, SummaryReply, SummaryRequest

Reply = str | SummaryReply


class Chain:
    """Tries named summarisers, sync or async, until one replies with text. When none does, the error has all causes."""

    def __init__(self, links: Sequence[tuple[str, Summarize]]) -> None:
        self._links = tuple(links)

    def __call__(self, request: SummaryRequest) -> Reply | Awaitable[Reply]:
        """The first good reply; awaitable from the first async summariser on. Raises CtxPolicyError."""
        return self._from(0, request, ())

    def _from(self, start: int, request: SummaryRequest, failures: tuple[str, ...]) -> Reply | Awaitable[Reply]:
        for at, (name, summarize) in enumerate(self._links[start:], start):
            try:
                reply = summarize(request)
                if isawaitable(reply):
                    return self._awaited(at, reply, request, failures)
                return _good(reply)
            except Exception as error:  # noqa: BLE001 - whatever one of them raises, the next is asked
                failures += (_failure(name, error),)
        raise CtxPolicyError("no summarizer answered: " + "; ".join(failures))

    async def _awaited(
        self, at: int, reply: Awaitable[Reply], request: SummaryRequest, failures: tuple[str, ...]
    ) -> Reply:
        try:
            return _good(await reply)
        except Exception as error:  # noqa: BLE001 - as above
            failures += (_failure(self._links[at][0], error),)
        rest = self._from(at + 1, request, failures)
        return await rest if isawaitable(rest) else rest


def _good(reply: Reply) -> Reply:
    text = reply if isinstance(reply, str) else reply.text
    if not text or not text.strip():
        raise CtxPolicyError("the reply is blank")
    return reply


def _failure(name: str, error: Exception) -> str:
    told = str(error) or type(error).__name__
    return told if told.startswith(name) else f"{name}: {told}"
