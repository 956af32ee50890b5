# ruff: noqa: C416, RUF015 - each way of reaching in is written as people write it
"""However a caller reaches into a prepared list, he finds copies; encoders find the same JSON."""

from __future__ import annotations

import copy
import json
import pickle
from collections.abc import Callable
from typing import Any

import msgspec
import pytest

from ctxpolicy.prepared import Prepared

Messages = list[dict[str, Any]]


def own() -> Messages:
    return [{"role": "user", "content": [{"type": "text", "text": str(n)}]} for n in range(3)]


def _swapped(into: Messages, prepared: Messages) -> Messages:
    into[0:0] = prepared
    return into


WAYS: dict[str, Callable[[Messages], Any]] = {
    "index": lambda p: p[0],
    "from the end": lambda p: p[-3],
    "slice": lambda p: p[:1],
    "iterate": lambda p: [m for m in p][0],
    "reversed": lambda p: list(reversed(p))[-1],
    "list": lambda p: list(p)[0],
    "tuple": lambda p: tuple(p)[0],
    "unpack": lambda p: [*p][0],
    "call": lambda p: (lambda *m: m[0])(*p),
    "star": lambda p: (lambda first, *_: first)(*p),
    "plus": lambda p: (p + [])[0],
    "plus from the left": lambda p: ([] + p)[0],
    "in place": lambda p: [].__iadd__(p)[0],
    "extend": lambda p: (x := [], x.extend(p), x)[-1][0],
    "into a slice": lambda p: _swapped([], p)[0],
    "times": lambda p: (p * 2)[0],
    "pop": lambda p: p.pop(0),
    "copy": lambda p: p.copy()[0],
    "copy module": lambda p: copy.copy(p)[0],
    "sort": lambda p: (p.sort(key=lambda m: m["content"][0]["text"]), p[0])[1],
    "sort key": lambda p: (seen := [], p.sort(key=lambda m: seen.append(m) or 0), seen)[-1][0],
    "sorted": lambda p: sorted(p, key=lambda m: m["content"][0]["text"])[0],
    "min": lambda p: min(p, key=lambda m: m["content"][0]["text"]),
    "filter": lambda p: next(filter(None, p)),
    "zip": lambda p: next(zip(p, p, strict=True))[0],
    "insert": lambda p: (p.insert(0, {}), p[1])[1],
    "append": lambda p: (p.append({}), p[0])[1],
    "pickle": lambda p: pickle.loads(pickle.dumps(p))[0],
}  # fmt: skip


@pytest.mark.parametrize("way", WAYS)
def test_what_a_caller_finds_is_his_own(way: str) -> None:
    mine = own()
    found = WAYS[way](Prepared(mine))
    message = found[0] if isinstance(found, list) else found
    assert message == own()[0]
    message["content"][0]["text"] = "changed"
    message["more"] = 1
    assert mine == own()


def test_a_caller_keeps_what_he_changed() -> None:
    prepared = Prepared(own())
    prepared[0]["content"] = "his"
    assert prepared[0]["content"] == "his"
    prepared[1] = {"role": "user", "content": "new"}
    assert [m["content"] for m in prepared[:2]] == ["his", "new"]


def test_it_is_a_list_and_encodes_as_one() -> None:
    prepared = Prepared(own())
    assert isinstance(prepared, list)
    assert len(prepared) == 3
    assert json.loads(json.dumps(prepared)) == own()
    assert msgspec.json.decode(msgspec.json.encode(Prepared(own()))) == own()
    assert prepared == own()
    assert copy.deepcopy(prepared) == own()
