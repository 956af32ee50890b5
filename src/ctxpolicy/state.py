"""What is carried between runs, as one JSON value, and how it is laid over the list that comes next.

State holds the edits made so far, each with the digest of the caller's list up to where it must be unchanged; the
digest of the list that was returned; the memories of the compact rules; and the metadata of the returned list.
Indexes count only together with a digest that matches; object identity and a message's own id are never trusted.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import msgspec

from ctxpolicy.errors import CtxPolicyError
from ctxpolicy.intake import Reading, changed, mark
from ctxpolicy.items import Edit, Item
from ctxpolicy.memory import Memory
from ctxpolicy.units import live_tail, segment
from ctxpolicy.values import canonical, copy

VERSION = 1
START = b""


def chain(previous: bytes, wire: Any) -> bytes:
    """The digest of a list one message longer: SHA-256 over the digest so far and the message's canonical JSON."""
    return hashlib.sha256(previous + canonical(wire)).digest()


def digests(wires: Sequence[Any], lengths: Iterable[int]) -> dict[int, str]:
    """The digests (hex) of the list's beginnings of these lengths, in one pass."""
    wanted = set(lengths)
    found = {0: ""} if 0 in wanted else {}
    digest = START
    for n, wire in enumerate(wires[: max(wanted, default=0)], 1):
        digest = chain(digest, wire)
        if n in wanted:
            found[n] = digest.hex()
    return found


class Saved(msgspec.Struct, frozen=True):
    """An edit as state keeps it: `stands` is the wire message in the place of the caller's from `start` to `end`."""

    start: int
    end: int
    digest: str
    stands: Any
    edit: Edit


class State(msgspec.Struct, frozen=True):
    """State as read back. `length` and `digest` are those of the list that was returned, `edited` the positions in it
    of what rules made, `roles` the roles as read where they are not those on the wire.
    """

    policy: str
    edits: tuple[Saved, ...]
    length: int
    digest: str
    edited: frozenset[int]
    roles: dict[int, str]
    memories: dict[str, Memory]
    metas: dict[int, Mapping[str, Any]]


class Laid(msgspec.Struct, frozen=True):
    """The working list after the edits were laid over it, and what could not be laid."""

    items: list[Item]
    dropped: list[str]


def save(
    policy: str,
    items: Sequence[Item],
    handed: Sequence[Item],
    digest_at: Callable[[int], str],
    memories: Mapping[str, Memory],
) -> dict[str, Any] | None:
    """The state after a run, as a JSON value; None when there is nothing to remember.

    `handed` is the list that is returned, where that is not `items` itself but repaired. `digest_at` gives the digest
    of the caller's list up to a length that some edit needs.
    """
    edited = [item for item in items if item.edit is not None]
    kept = {rule: memory.dump() for rule, memory in memories.items() if not memory.empty}
    metas = {str(i): copy(dict(item.meta)) for i, item in enumerate(handed) if item.meta}
    if not (edited or kept or metas):
        return None
    wires = [item.message.wire for item in handed]
    listed = {
        "length": len(wires),
        "digest": digests(wires, [len(wires)])[len(wires)],
        "edited": [i for i, item in enumerate(handed) if item.edit is not None],
        "roles": {str(i): item.role for i, item in enumerate(handed) if item.role != item.message.role},
    }
    return {
        "version": VERSION,
        "policy": policy,
        "edits": [_saved(item, item.edit, digest_at) for item in edited if item.edit is not None],
        "list": listed,
        "rules": kept,
        "meta": metas,
    }


def _saved(item: Item, edit: Edit, digest_at: Callable[[int], str]) -> dict[str, Any]:
    return {
        "start": item.start,
        "end": item.end,
        "digest": digest_at(edit.until),
        "stands": copy(item.message.wire),  # callers may edit the list they were given
        "edit": msgspec.structs.asdict(edit),
    }


def load(value: Any) -> State:
    """Read state back. Raises CtxPolicyError for what no run of this version wrote."""
    try:
        if value["version"] != VERSION:
            raise CtxPolicyError(f"state of version {value['version']!r} cannot be read by this version of ctxpolicy")
        return State(
            value["policy"],
            tuple(Saved(e["start"], e["end"], e["digest"], e["stands"], Edit(**e["edit"])) for e in value["edits"]),
            value["list"]["length"],
            value["list"]["digest"],
            frozenset(value["list"].get("edited", ())),
            {int(i): role for i, role in value["list"].get("roles", {}).items()},
            {rule: Memory.load(memory) for rule, memory in value["rules"].items()},
            {int(i): meta for i, meta in value["meta"].items()},
        )
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise CtxPolicyError(
            f"this is not a state that ctxpolicy returned ({type(error).__name__}: {error})"
        ) from error


def is_returned(state: State, given: Sequence[Item]) -> bool:
    """True when the list begins with the one that was returned beside this state."""
    if len(given) < state.length:
        return False
    wires = [item.message.wire for item in given]
    return digests(wires, [state.length])[state.length] == state.digest


def lay(state: State, given: Sequence[Item], reading: Reading) -> Laid:
    """Lay the edits over the caller's list. An edit is dropped when the list before its end has changed, when it
    would reach into the live tail or the last message, or when it would split a unit; so are all of its compaction.
    """
    faults = _faults(state, given)
    items: list[Item] = []
    at = 0
    for saved in state.edits:
        if _group(saved) in faults or saved.start < at:
            continue
        items += given[at : saved.start]
        items.append(_edited(saved, given, reading))
        at = saved.end
    dropped = [
        f"the edit of {s.edit.rule} at message {s.start} was dropped: {faults[_group(s)]}"
        for s in state.edits
        if _group(s) in faults
    ]
    return Laid([*items, *given[at:]], dropped)


def _group(saved: Saved) -> tuple[int, str]:
    return saved.edit.until, saved.edit.group or f"{saved.start}"


def _may_be_live(saved: Saved, given: Sequence[Item]) -> bool:
    """True for an edit that may stand in the live tail: a cut result, or what was cut on arrival or repaired."""
    edit = saved.edit
    return edit.arrival or edit.fate == "repaired" or (edit.fate == "truncated" and given[saved.start].role == "tool")


def _faults(state: State, given: Sequence[Item]) -> dict[tuple[int, str], str]:
    """Why which groups of edits do not hold for this list."""
    wires = [item.message.wire for item in given]
    found = digests(wires, [s.edit.until for s in state.edits if s.edit.until <= len(wires)])
    structure = segment(given)
    live = live_tail(given, structure)
    faults: dict[tuple[int, str], str] = {}
    for saved in state.edits:
        if found.get(saved.edit.until) != saved.digest:
            faults[_group(saved)] = "the list before its end has changed"
        elif not _may_be_live(saved, given) and (any(live[saved.start : saved.end]) or saved.end == len(given)):
            faults[_group(saved)] = "it would reach into the live tail"
        elif saved.edit.fate in ("compacted", "evicted") and structure.splits(saved.start, saved.end):
            faults[_group(saved)] = "it would part a tool call from its result"
    return faults


def _edited(saved: Saved, given: Sequence[Item], reading: Reading) -> Item:
    if saved.edit.fate in ("truncated", "masked", "repaired"):
        return changed(reading, given[saved.start], saved.stands, saved.edit)
    text = reading.format.read(saved.stands, -1)[0].text
    return mark(reading, text, saved.start, saved.end, saved.edit)
