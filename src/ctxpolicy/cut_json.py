"""Cutting a JSON text so that it still parses: inner elements leave, long strings lose their middle.

Only what has to shrink is ever decoded, one level at a time; all else stays as it was written.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import islice

import msgspec

DEPTH = 20  # levels; what is nested deeper and too long leaves whole
FEW = 4  # elements; an array of so many keeps them all, shortened

TRIES = 10  # at the length of a string with escapes

_Children = Mapping[str, msgspec.Raw] | Sequence[msgspec.Raw]


def is_document(text: str) -> bool:
    """True where a text parses as a JSON object or array (also one nested too deep to tell)."""
    if text.lstrip()[:1] not in ("{", "["):
        return False
    try:
        _children(text)
    except (ValueError, RecursionError):
        return _is_odd_document(text)
    return True


def _is_odd_document(text: str) -> bool:
    """What msgspec rejects and the standard library reads: NaN, lone surrogates."""
    try:
        json.loads(text)
    except RecursionError:
        return True
    except ValueError:
        return False
    return True


def _children(text: str) -> _Children:
    if text.lstrip().startswith("{"):
        return msgspec.json.decode(text, type=dict[str, msgspec.Raw])
    return msgspec.json.decode(text, type=list[msgspec.Raw])


class _Item(msgspec.Struct, frozen=True):
    """One element: what stands before its value (a key and a colon, or nothing), and the value as written."""

    label: str
    value: str


class Pruner:
    """Shortens JSON values to a number of characters.

    `squeeze(text, room)` cuts plain text; `mark(dropped)` and `mark_elements(dropped, left_out, total, kind)` give
    markers, `kind` being the word for what left, elements or keys;
    `head` is the part of the room that goes to the first elements.
    """

    def __init__(
        self,
        squeeze: Callable[[str, int], str | None],
        mark: Callable[[str], str],
        mark_elements: Callable[[Iterable[str], int, int, str], str],
        head: float,
    ) -> None:
        self.squeeze, self.mark, self.mark_elements, self.head = squeeze, mark, mark_elements, head
        self.floor = 2 * len(_quoted(mark("")))  # characters; with less, a cut value would be little but its marker
        self.children = cache(_children)

    def prune(self, document: str, room: int) -> str | None:
        """The object or array in about `room` characters; None where that is not to be had."""
        return self._shorten(document.strip(), room, 0)

    def _value(self, text: str, room: int, depth: int) -> str | None:
        """A value in at most `room` characters, or a string that stands for it; None where not even that fits."""
        if len(text) <= room:
            return text
        made = self._shorten(text, room, depth) if depth < DEPTH else None
        if made is None:
            made = _quoted(self.mark(text).strip())
        return made if len(made) <= room else None

    def _shorten(self, text: str, room: int, depth: int) -> str | None:
        try:
            if text[0] == '"':
                return self._string(msgspec.json.decode(text, type=str), room)
            if text[0] in "{[":
                return self._container(self.children(text), room, depth)
        except (ValueError, RecursionError):
            pass  # escaped lone surrogates, nesting too deep: the value leaves whole
        return None

    def _string(self, string: str, room: int) -> str | None:
        """The string cut like plain text; escapes make it longer as JSON, so it is cut again in proportion."""
        space = room - 2
        for _ in range(TRIES):
            cut = self.squeeze(string, space)
            made = None if cut is None else _quoted(cut)
            if made is None or len(made) <= room:
                return made
            space = space * room // len(made) - 1
        return None

    def _container(self, children: _Children, room: int, depth: int) -> str | None:
        keyed = isinstance(children, Mapping)
        few = room // self.floor if keyed else FEW
        made = self._shared(list(_items(children)), room - 2, depth) if len(children) <= few else None
        if made is None:
            made = self._ends(children, room - 2, depth)
        if made is None:
            return None
        return f"{{{made}}}" if keyed else f"[{made}]"

    def _shared(self, items: Sequence[_Item], room: int, depth: int) -> str | None:
        """All elements, the long ones shortened to equal parts of what the short ones leave."""
        room -= sum(len(item.label) + 1 for item in items)
        out = [""] * len(items)
        by_length = sorted(range(len(items)), key=lambda at: len(items[at].value))
        for left, at in zip(range(len(items), 0, -1), by_length, strict=True):
            made = self._value(items[at].value, room // left, depth + 1)
            if made is None:
                return None
            out[at] = items[at].label + made
            room -= len(made)
        return ",".join(out)

    def _ends(self, children: _Children, room: int, depth: int) -> str | None:
        """The first and last elements, and one that stands for those between; None where not one element fits."""
        total = len(children)
        room -= len(self._stand_in(children, 0, total)) + 1
        longest = max(room // 4, self.floor)
        head = self._take(_items(children), int(room * self.head), longest, depth)
        room -= sum(len(piece) + 1 for piece in head)
        tail = self._take(islice(_items(children, reverse=True), total - len(head)), room, longest, depth)[::-1]
        if not head and not tail:
            return None
        between = [self._stand_in(children, len(head), total - len(tail))] if len(head) + len(tail) < total else []
        return ",".join([*head, *between, *tail])

    def _take(self, items: Iterable[_Item], room: int, longest: int, depth: int) -> list[str]:
        """As many elements as fit, in the order given; one over `longest` is shortened to it."""
        out: list[str] = []
        for item in items:
            room -= len(item.label) + 1
            made: str | None = item.value
            if len(item.value) > longest:
                made = self._value(item.value, min(longest, room), depth + 1) if room >= self.floor else None
            if made is None or len(made) > room:
                break
            out.append(item.label + made)
            room -= len(made)
        return out

    def _stand_in(self, children: _Children, start: int, end: int) -> str:
        """An element, or a key and value, for the elements from `start` to `end`."""
        dropped = (item.label + item.value for item in islice(_items(children), start, end))
        if isinstance(children, Mapping):
            mark = self.mark_elements(dropped, end - start, len(children), "keys")
            return f"{_quoted(_free_key(children))}:{_quoted(mark)}"
        return _quoted(self.mark_elements(dropped, end - start, len(children), "elements"))


def _items(children: _Children, *, reverse: bool = False) -> Iterator[_Item]:
    if isinstance(children, Mapping):
        for key in reversed(list(children)) if reverse else children:
            yield _Item(_quoted(key) + ":", _text(children[key]))
    else:
        for raw in reversed(children) if reverse else children:
            yield _Item("", _text(raw))


def _free_key(keys: Mapping[str, msgspec.Raw]) -> str:
    key = "..."
    while key in keys:
        key += "."
    return key


def _text(raw: msgspec.Raw) -> str:
    return bytes(raw).decode("utf-8").strip()


def _quoted(string: str) -> str:
    return msgspec.json.encode(string).decode("utf-8")
