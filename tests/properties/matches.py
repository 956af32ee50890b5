"""Random matches of the policy language, and what is made of them alone: pins and `read_as`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from properties.chance import Chance

Doc = dict[str, Any]

_RANKS = (1, 2, 4, {"tokens": 60}, {"tokens": 200}, {"share": 0.2})
_KEYS: dict[str, Sequence[Any]] = {
    "role": ("user", "assistant", "tool", "system", "injected", ["user", "tool"], ["developer", "system"]),
    "tool": ("bash", "re*", ["bash", "search"], "*_file"),
    "contains": ("word1", "ERROR", ["把", "ok"]),
    "regex": (r"(?i)error at", r"^\s*$", [r"\bno\b", "ref [0-9a-f]{12}"]),
    "name": ("ana", ["ana", "bo"]),
    "tokens": ({"gt": 40}, {"lt": 30}, {"gte": 10, "lt": 100}, {"lte": 80}),
    "share": ({"gt": 0.1}, {"lt": 0.05}),
    "has": ("image", "tool_call", ["reasoning", "error"], "summary", ["audio", "file"]),
    "field": ({"is_error": True}, {"role": ["tool", "function"]}),
    "meta": ({"pin": True}, {"kind": ["note", "x"]}),
    "opening": (False, True),
    "turn_age": ({"gte": 1}, {"lt": 2}),
    "superseded": (False, True),
    "newest": _RANKS,
    "oldest": _RANKS,
    "all_but_newest": _RANKS,
}
_ALONE = ("role", "tool", "contains", "regex", "name", "tokens", "share", "has", "field", "meta")
_LIKELY = ("role", "tool", "tokens", "newest", "all_but_newest")

_USUAL_PINS: tuple[Doc, ...] = (
    {"opening": True},
    {"role": "user", "newest": 1},
    {"newest": 4},
    {"meta": {"pin": True}},
)
_READ_AS: tuple[Doc, ...] = (
    {"match": {"role": "user", "regex": "^OBSERVATION:"}, "as": "tool"},
    {"match": {"regex": r"^\s*<system-reminder>"}, "as": "injected"},
    {"match": {"role": "user", "contains": "<note>", "not": {"role": "user", "oldest": 1}}, "as": "injected"},
    {"match": {"role": "user", "oldest": 1}, "as": "system"},
)


def match(chance: Chance, depth: int = 2, alone: bool = False) -> Any:
    """A match; `alone` asks for keys that look at one message only."""
    return "all" if chance.once_in(25) else mapping(chance, depth, alone)


def mapping(chance: Chance, depth: int = 2, alone: bool = False) -> Doc:
    """A match that is a mapping of one or two keys, at times with matches inside."""
    known = _ALONE if alone else tuple(_KEYS)
    pool = known if chance.once_in(2) else [key for key in _LIKELY if key in known]
    made: Doc = {key: chance.one(_KEYS[key]) for key in chance.some(pool, most=2)}
    if depth and chance.once_in(4):
        kind = chance.one(("not", "any", "all"))
        inner = [match(chance, depth - 1, alone) for _ in range(1 if kind == "not" else chance.number(1, 2))]
        made[kind] = inner[0] if kind == "not" else inner
    return made


def pins(chance: Chance) -> list[Doc]:
    """Up to three pins; two of three are of the usual kinds."""
    size = chance.one((0, 0, 1, 1, 2, 3))
    made = [match(chance) if chance.once_in(3) else chance.one(_USUAL_PINS) for _ in range(size)]
    return [{"id": f"p{i}", "match": pinned} for i, pinned in enumerate(made)]


def read_as(chance: Chance) -> list[Doc]:
    return chance.some(_READ_AS, most=2, least=0)
