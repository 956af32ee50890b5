"""What is handed out: the list as it stands or, where the caller asks for it, repaired for its provider.

The working list stays as it is: repairs are made on the way out, the same ones every time, so that what a provider has
cached of the list stays good, and later runs, edits and digests know nothing of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import islice, takewhile
from operator import is_
from typing import Any

import msgspec
from msgspec.structs import replace

from ctxpolicy.archive.standing import START, behind, fingerprint
from ctxpolicy.errors import CtxPolicyError
from ctxpolicy.formats.shared import families
from ctxpolicy.intake import Reading
from ctxpolicy.items import Item, Load, by_role
from ctxpolicy.messages import Message
from ctxpolicy.pipeline import ArchiveRequest, Running
from ctxpolicy.repairs import Place, Repaired, repaired
from ctxpolicy.repairs.cache_marks import fewer_marks, room_for_marks
from ctxpolicy.repairs.model import record
from ctxpolicy.result import Event, Removed
from ctxpolicy.summarize.reply import Failure

STRICT = "strict"

_Records = list[tuple[tuple[int, ...], Removed]]  # with the messages, by place, that each is of


class Touch(msgspec.Struct, frozen=True):
    """What a repair did to an item: the rule of the provider, the tokens left of it, the reference of its record."""

    code: str
    left: int
    ref: str


class Handed(msgspec.Struct, frozen=True):
    """The list that is handed out, and what repairs did to it.

    `items` gives the list as items, `touched` what became of items of the working list, by position. `events` and
    `removed` tell of what was not so at the last run.
    """

    messages: list[Any]
    items: Callable[[], list[Item]]
    touched: Callable[[], Mapping[int, Touch]] = dict
    events: tuple[Event, ...] = ()
    removed: tuple[Removed, ...] = ()


def is_strict(target: str, format: str) -> bool:
    """Whether everything is repaired that some server refuses, or only what the provider of this format does.

    Raises CtxPolicyError for the provider of another format.
    """
    if target not in (STRICT, format):
        raise CtxPolicyError(
            f"messages of the format {format} cannot be repaired for {target!r}; give {format!r} or {STRICT!r}"
        )
    return target == STRICT


class Outgoing:
    """Repairs what a session hands out, run after run; what comes before the last turn is not looked at again."""

    def __init__(
        self, reading: Reading, joined: Callable[[list[Item]], list[Any]], target: str, beside: Any = None
    ) -> None:
        """`joined` gives the wire messages of items, `target` is the format's own name or `strict`, `beside` what is
        sent beside the list. Raises CtxPolicyError for another target.
        """
        self._reading, self._joined = reading, joined
        self._strict = is_strict(target, reading.format.NAME)
        self._marks = room_for_marks(beside)
        self._last: Repaired | None = None  # but for its cache marks
        self._records: dict[tuple[tuple[int, ...], str], Removed] = {}  # by the ids of those that left, and `left`
        self._chain: list[tuple[Any, bytes]] = []  # the list handed out last, with its digest up to each message
        self._known: set[Any] = set()  # reasons of events and keys of records, as of the last run
        self.handed: Handed | None = None

    def mending(self, running: Running, load: Load, *, archived: bool, keep: bool) -> Running:
        """The run, and after it the repairs of its outcome, which `handed` then is.

        Where the archive cannot be written and `keep` is what the policy says then, nothing is repaired.
        """
        outcome = yield from running
        items = outcome.items
        try:
            self.handed = self.mend(items, load)
        except Exception as error:  # noqa: BLE001 - a run never raises: messages may hold what is no JSON
            self._last = None
            why = f"declined: the list could not be repaired: {type(error).__name__}: {error}"
            self.handed = self._as_it_is(items, load, "repair", why)
        if archived and self.handed.removed:
            answer = yield ArchiveRequest(self.handed.removed)
            if isinstance(answer, Failure):
                self._known = set()  # they are tried again at the next run
                why = f"the archive could not be written, so the list was not repaired: {answer}"
                unrepaired = self._as_it_is(items, load, "archive", why)
                self.handed = unrepaired if keep else _lossy(self.handed, unrepaired.events[0], answer)
        return outcome

    def mend(self, items: list[Item], load: Load) -> Handed:
        """These items as they may be sent."""
        done = self._repaired(items)
        if not done.repairs:
            self._known, self._records, self._chain = set(), {}, []
            return Handed(done.messages, lambda: items)
        own = families(item.message for item in items)
        stood = partial(_by_family, own, items)
        records = self._records_of(done)
        handed = partial(_items, done, stood, self._reading)
        told = [f"{_where(repair.index, own)}: {repair.code}: {repair.says}" for repair in done.repairs]
        known, self._known = self._known, {*told, *((one.ref, one.left) for _, one in records)}
        events: list[Event] = []
        if not self._known <= known:
            before, after = (load.used_by(by_role(some)) for some in (items, handed()))
            refs = {n: one.ref for places, one in records for n in places}
            events = [
                Event(None, "repair", True, why, before, after, messages=1, ref=refs.get(repair.index))
                for why, repair in zip(told, done.repairs, strict=True)
                if why not in known
            ]
        return Handed(
            done.messages,
            handed,
            partial(_touched, done, records, stood, self._reading),
            tuple(events),
            tuple(one for _, one in records if (one.ref, one.left) not in known),
        )

    def _as_it_is(self, items: list[Item], load: Load, action: str, why: str) -> Handed:
        """The list unrepaired, and why."""
        used = load.used_by(by_role(items))
        event = Event(None, action, False, why, used, used, failed=True)
        return Handed(list(self._joined(items)), lambda: items, events=(event,))

    def look(self, items: list[Item]) -> list[Any]:
        """The wire messages of these items as they may be sent; nothing is told or archived."""
        return self._repaired(items).messages

    def _repaired(self, items: list[Item]) -> Repaired:
        """The list repaired; what the last one has in common with it is not looked at again."""
        format, wires = self._reading.format, list(self._joined(items))
        settled = None if self._last is None else self._last.settled(format)
        if self._last is not None and settled is not None:
            begins = self._last.given[: len(settled.given) + 1]
            if len(wires) < len(begins) or not all(map(is_, begins, wires)):
                settled = None
        self._last = done = repaired(wires, format, strict=self._strict, settled=settled)
        return fewer_marks(done, self._marks) if format.NAME == "anthropic" else done

    def _records_of(self, done: Repaired) -> _Records:
        """The records of the repairs; only those of new ones are digested."""
        self._chain = _chained(done.messages, self._chain)
        seen, self._records = self._records, {}
        found: _Records = []
        for places, at in done.changed():
            gone = [done.given[n] for n in places]
            left = "" if at is None else self._chain[at][1].hex()
            key = (tuple(map(id, gone)), left)
            one = seen.get(key) or record(gone, left)
            self._records[key] = one
            found.append((places, one))
        return found


def _chained(messages: Sequence[Any], last: Sequence[tuple[Any, bytes]]) -> list[tuple[Any, bytes]]:
    """Messages with the digest of the list up to each; as far as it is the last list, nothing is digested again."""
    same = list(takewhile(lambda pair: pair[0][0] is pair[1], zip(last, messages, strict=False)))
    chain = [old for old, _ in same]
    digest = chain[-1][1] if chain else START
    for wire in messages[len(chain) :]:
        digest = behind(digest, fingerprint(wire))
        chain.append((wire, digest))
    return chain


def _lossy(handed: Handed, event: Event, failure: Failure) -> Handed:
    """Repaired although the archive could not be written, under `on_error: drop`."""
    why = f"the archive could not be written, the originals of repairs are lost (on_error: drop): {failure}"
    return replace(handed, events=(*handed.events, replace(event, reason=why)))


def _by_family(own: Sequence[list[Message]], items: Sequence[Item]) -> list[list[Item]]:
    """The items of each wire message."""
    rest = iter(items)
    return [list(islice(rest, len(family))) for family in own]


def _items(done: Repaired, by_family: Callable[[], list[list[Item]]], reading: Reading) -> list[Item]:
    """The repaired list as items; what is not as it was is read anew."""
    stood = by_family()
    return [
        item
        for place in done.places
        for item in (stood[place.of[0]] if done.is_given(place) else _read(place, stood, reading))
    ]


def _read(place: Place, stood: Sequence[list[Item]], reading: Reading) -> Iterator[Item]:
    before = [item for n in place.of for item in stood[n]]
    meta = {key: value for item in before for key, value in (item.meta or {}).items()}
    for message in reading.format.read(place.wire, -1):
        roles = {item.role for item in before if item.message.role == message.role}
        role = roles.pop() if len(roles) == 1 else message.role
        if not before and role == "user":
            role = "injected"  # a repair put it in
        yield Item(message, role, reading.meter.message(message), 0, 0, meta=meta or None)


def _where(n: int, own: Sequence[list[Message]]) -> str:
    """A wire message by its number in the caller's list; a marker of ours has none."""
    if own[n][0].index >= 0:
        return f"message {own[n][0].index}"
    index = next((family[0].index for family in own[n:] if family[0].index >= 0), None)
    return "the last marker" if index is None else f"the marker before message {index}"


def _touched(
    done: Repaired, records: _Records, by_family: Callable[[], list[list[Item]]], reading: Reading
) -> dict[int, Touch]:
    """What became of each item of a repaired message, by its position."""
    stood = by_family()
    codes = {repair.index: repair.code for repair in reversed(done.repairs)}
    held = {n: place for place in done.places for n in place.of}
    of = {n: (places, one) for places, one in records for n in places}
    touched: dict[int, Touch] = {}
    position = 0
    for n, items in enumerate(stood):
        if n in of:
            places, one = of[n]
            code = next((codes[m] for m in places if m in codes), done.repairs[0].code)
            lefts = _lefts(items, held.get(n), stood, reading)
            touched.update((position + k, Touch(code, left, one.ref)) for k, left in enumerate(lefts))
        position += len(items)
    return touched


def _lefts(items: Sequence[Item], place: Place | None, stood: Sequence[list[Item]], reading: Reading) -> list[int]:
    """The tokens left of each of a message's items, in the place that holds it now."""
    if place is None:
        return [0] * len(items)
    if len(place.of) > 1:
        return [item.tokens for item in items]
    return [sum(new.tokens for new in _read(place, stood, reading)), *([0] * (len(items) - 1))]
