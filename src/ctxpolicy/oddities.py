"""Oddities of an input list, named in events: they are the caller's, and no action makes them worse."""

from __future__ import annotations

from collections.abc import Container

import msgspec

from ctxpolicy.messages import Message

_NAMED = 5  # places named of one kind; the rest is counted

_KINDS = {
    "dead": "tool calls without a result (dead: a later assistant message exists)",
    "orphan": "tool results without an earlier call",
    "second": "second results of one call",
    "apart": "tool results that stand apart from their call, other messages between them",
    "surrogate": "texts with a lone surrogate, which cannot be encoded as UTF-8",
}


class _Call(msgspec.Struct, gc=False):
    """A call that waits for its result: where it stands, how many turns and others there were up to it."""

    index: int
    turn: int
    others: int
    pending: bool


class Watch:
    """Sees messages in order and keeps what is odd about them until it is reported."""

    def __init__(self) -> None:
        self._waiting: dict[str, list[_Call]] = {}  # by id, those of one turn; not reported as dead
        self._dead: dict[str, _Call] = {}  # reported; an answer may still come
        self._answered: set[str] = set()
        self._turn = 0  # assistant turns so far
        self._speaking = False  # the message before was the assistant's
        self._others = 0  # messages so far that are no results: what stands between a call and a late result
        self._found: dict[str, list[str]] = {}

    def see(self, message: Message, *, pending: bool) -> None:
        """Look at the next message. `pending` says that its calls may be answered much later."""
        index = message.index
        if message.result_of is not None:
            self._result(message.result_of, index)
        elif not (message.follows and self._speaking):
            self._others += 1
            self._turn += message.role == "assistant"
        self._speaking = message.role == "assistant"
        for call in message.calls:
            self._call(call.id or "", index, pending)
        if not message.text.isascii():
            try:
                message.text.encode()
            except UnicodeEncodeError:
                self._note("surrogate", index)

    def keep(self, calls: Container[str]) -> None:
        """Forget every call whose id is not among these."""
        self._waiting = {call_id: waiting for call_id, waiting in self._waiting.items() if call_id in calls}
        self._dead = {call_id: call for call_id, call in self._dead.items() if call_id in calls}
        self._answered = {call_id for call_id in self._answered if call_id in calls}

    def _call(self, call_id: str, index: int, pending: bool) -> None:
        waiting = self._waiting.setdefault(call_id, [])
        if waiting and waiting[0].turn != self._turn:  # a result belongs to the nearest turn: these get none
            for earlier in waiting:
                self._note("dead", earlier.index, call_id)
            waiting.clear()
        self._dead.pop(call_id, None)
        waiting.append(_Call(index, self._turn, self._others, pending))

    def _result(self, call_id: str, index: int) -> None:
        waiting = self._waiting.get(call_id)
        call = waiting.pop(0) if waiting else self._dead.pop(call_id, None)
        if not waiting:
            self._waiting.pop(call_id, None)
        if call is not None:
            self._answered.add(call_id)
            if call.others != self._others and not call.pending:
                self._note("apart", index, call_id)
        else:
            self._note("second" if call_id in self._answered else "orphan", index, call_id)

    def _note(self, kind: str, index: int, call_id: str | None = None) -> None:
        self._found.setdefault(kind, []).append(f"message {index}" + (f" ({call_id})" if call_id else ""))

    def report(self) -> list[str]:
        """One sentence for each kind of oddity seen since the last report."""
        for call_id, waiting in list(self._waiting.items()):
            late = [call for call in waiting if call.turn != self._turn and not call.pending]
            for call in late:
                self._note("dead", call.index, call_id)
                self._dead[call_id] = call
            self._waiting[call_id] = [call for call in waiting if call not in late]
            if not self._waiting[call_id]:
                del self._waiting[call_id]
        found, self._found = self._found, {}
        return [_sentence(_KINDS[kind], places) for kind, places in found.items()]


def _sentence(what: str, places: list[str]) -> str:
    more = f" and {len(places) - _NAMED:,} more" if len(places) > _NAMED else ""
    return f"odd input: {len(places):,} {what}: {', '.join(places[:_NAMED])}{more}"
