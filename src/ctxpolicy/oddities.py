"""Oddities of an input list, named in events: they are the caller's, and no action makes them worse."""

from __future__ import annotations

from ctxpolicy.messages import Message

_NAMED = 5  # places named of one kind; the rest is counted

_KINDS = {
    "dead": "tool calls without a result (dead: a later assistant message exists)",
    "orphan": "tool results without an earlier call",
    "second": "second results of one call",
    "apart": "tool results that stand apart from their call, other messages between them",
    "surrogate": "texts with a lone surrogate, which cannot be encoded as UTF-8",
}


class Watch:
    """Sees messages in order and keeps what is odd about them until it is reported."""

    def __init__(self) -> None:
        self._open: dict[str, int] = {}  # calls that wait for a result
        self._known: set[str] = set()
        self._broken = False  # another message came while calls waited
        self._found: dict[str, list[str]] = {}

    def see(self, message: Message, *, pending: bool) -> None:
        """Look at the next message. `pending` says that its calls may be answered much later."""
        index = message.index
        if message.result_of is not None:
            self._result(message.result_of, index)
        elif message.role == "assistant":
            self._assistant(message, index, pending)
        elif self._open:
            self._broken = True
        if not message.text.isascii():
            try:
                message.text.encode()
            except UnicodeEncodeError:
                self._note("surrogate", index)

    def _assistant(self, message: Message, index: int, pending: bool) -> None:
        if not message.follows:
            for call_id, place in self._open.items():
                self._note("dead", place, call_id)
            self._open, self._broken = {}, False
        for call in message.calls:
            self._known.add(call.id or "")
            if not pending:
                self._open[call.id or ""] = index

    def _result(self, call_id: str, index: int) -> None:
        if call_id not in self._known:
            self._note("orphan", index, call_id)
        elif self._open.pop(call_id, None) is None:
            self._note("second", index, call_id)
        elif self._broken:
            self._note("apart", index, call_id)

    def _note(self, kind: str, index: int, call_id: str | None = None) -> None:
        self._found.setdefault(kind, []).append(f"message {index}" + (f" ({call_id})" if call_id else ""))

    def report(self) -> list[str]:
        """One sentence for each kind of oddity seen since the last report."""
        found, self._found = self._found, {}
        return [_sentence(_KINDS[kind], places) for kind, places in found.items()]


def _sentence(what: str, places: list[str]) -> str:
    more = f" and {len(places) - _NAMED:,} more" if len(places) > _NAMED else ""
    return f"odd input: {len(places):,} {what}: {', '.join(places[:_NAMED])}{more}"
