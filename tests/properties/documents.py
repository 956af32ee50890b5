"""Random policies, as the documents that their YAML holds."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from properties.chance import Chance
from properties.matches import Doc, mapping, match, pins, read_as
from properties.texts import CUT, LABEL, MARKER, PLACEHOLDER

_AMOUNTS = (0, 0.02, 0.05, {"tokens": 1}, {"tokens": 40})
_PROMPT = "{{ task }} {{ previous }} {{ count }} messages, {{ word_limit }} words or {{ nothing }}:\n{{ span }}"


def document(chance: Chance, tight: bool = False) -> Doc:
    """A policy without a budget; a `tight` one has an eviction.

    Eviction acts above the pressure at which compaction does, as the checks ask.
    """
    kinds = [chance.one(("mask", "mask", "cut", "compact", "compact", "evict")) for _ in range(chance.number(1, 3))]
    kinds += ["evict"] if tight and "evict" not in kinds else []
    low = chance.one((0.4, 0.6))
    rules = _append_rules(chance)
    for i, kind in enumerate(kinds):
        at = round(low + (0.15 if kind == "evict" else 0), 3)
        rules.append({"id": f"{kind}{i}", **_SEND[kind](chance, at)})
    made: Doc = {"version": 1, "name": "drawn", "pins": pins(chance), "rules": rules}
    if chance.number(0, 9) > 5:
        made["read_as"] = read_as(chance)
    if chance.once_in(6):
        made["reasoning"] = chance.one(("strip_after_edit", "refuse_edit"))
    if chance.once_in(8):
        made["archive"] = {"on_error": chance.one(("keep", "drop"))}
    return made


def budget(chance: Chance, tokens: int, tight: bool) -> Doc:
    """A budget that a list of so many tokens fills to somewhere between a half and four times."""
    share = chance.one((0.25, 0.35, 0.5) if tight else (0.25, 0.35, 0.5, 0.7, 1.0, 2.0))
    made: Doc = {"window": max(80, int(tokens * share)), "media": {"image": 120, "audio": 90, "file": 60}}
    return made | chance.maybe(ratio=(0.9,), counter=("chars", "estimate"), reserve=(10,), tools_tokens=(25,))


def with_plain_goals(doc: Doc) -> Doc:
    """The same without `until` in compactions and evictions: a goal on another fact may stand above its trigger."""
    return {**doc, "rules": [_with_plain_goal(rule) for rule in doc["rules"]]}


def _with_plain_goal(rule: Doc) -> Doc:
    actions = {key: rule[key] for key in ("compact", "evict") if key in rule}
    return rule | {key: {k: v for k, v in how.items() if k != "until"} for key, how in actions.items()}


def _append_rules(chance: Chance) -> list[Doc]:
    rules: list[Doc] = []
    if chance.once_in(2):
        more = mapping(chance, depth=1, alone=True) if chance.once_in(2) else {}
        rules.append({"id": "cap", "at": "append", "match": {**more, "role": "tool"}, "truncate": _truncate(chance)})
    if chance.once_in(10):
        refuse = chance.maybe(message=("Too much.",))
        rules.append({"id": "refuse", "at": "append", "match": {"tokens": {"gt": 400}}, "refuse": refuse})
    return rules


def _truncate(chance: Chance) -> Doc:
    made: Doc = {"max_tokens": chance.one((45, 60, 100))}
    return made | chance.maybe(
        max_lines=(3, 8), head=(0.2, 1.0), marker=(CUT,), keep_lines=("ERROR",), json=("prune", "text")
    )


def _mask_rule(chance: Chance, at: float) -> Doc:
    older = ({"role": "tool", "all_but_newest": 2}, {"superseded": True}, {"has": ["image", "reasoning"]})
    mask = chance.maybe(
        parts=(["results"], ["arguments", "results"], ["media", "reasoning"], ["results", "media"], "arguments"),
        placeholder=(PLACEHOLDER,),
        batch=(2, 3),
        min_gain=_AMOUNTS,
    )
    mask |= _goal(chance, at) if chance.once_in(2) else {}
    rule: Doc = {"match": match(chance) if chance.once_in(3) else chance.one(older), "mask": mask}
    return rule | ({"when": _trigger(chance, at)} if chance.once_in(2) else {})


def _cut_rule(chance: Chance, at: float) -> Doc:
    rule: Doc = {"at": "send", "match": match(chance), "truncate": _truncate(chance)}
    return rule | ({"when": _trigger(chance, at)} if chance.once_in(2) else {})


def _compact_rule(chance: Chance, at: float) -> Doc:
    compact: Doc = {"word_limit": chance.one((5, 20, 60))} | _goal(chance, at) | _keep(chance)
    compact |= chance.maybe(
        span=({"max": 3}, {"min": 1}, {"min": 3, "max": 6}),
        max_passes=(1, 2),
        max_summaries=(1, 2),
        summaries=("merge", "keep"),
        marker=(MARKER,),
        label=(LABEL,),
        breaker=(1, 2),
        nothing=("NOTHING", "**nil**"),
        prompt=(_PROMPT,),
        min_gain=_AMOUNTS,
    )
    if chance.once_in(8):
        compact["input"] = {"max_tokens": chance.one((300, 900))}
    if chance.once_in(8):
        compact["keep_facts"] = {"share": 0.4} | chance.maybe(on_missing=("append", "refuse"))
    return {"when": _trigger(chance, at), "compact": compact}


def _evict_rule(chance: Chance, at: float) -> Doc:
    return {"when": _trigger(chance, at), "evict": _goal(chance, at) | _keep(chance) | chance.maybe(marker=(MARKER,))}


_SEND: dict[str, Callable[[Chance, float], Doc]] = {
    "mask": _mask_rule,
    "cut": _cut_rule,
    "compact": _compact_rule,
    "evict": _evict_rule,
}


def _keep(chance: Chance) -> Doc:
    return {"keep": match(chance)} if chance.once_in(5) else {}


def _trigger(chance: Chance, pressure: float) -> Doc:
    """A condition; mostly on pressure, so that goals can be told to be below it."""
    when: Doc = {"pressure": {chance.one(("gt", "gte")): pressure}}
    others: tuple[Doc, ...] = (
        {"all": [when, {"not": {"turns": {"lt": 1}}}]},
        {"any": [when, {"tool_tokens": {"gt": 150}}]},
        {"messages": {"gt": 4}},
        {"not": {"headroom": {"gt": 60}}, "results": {"gte": 1}},
        {"used": {"gte": 200}},
    )
    return chance.one(others) if chance.once_in(3) else when


def _goal(chance: Chance, pressure: float) -> Doc:
    """Nothing, or `until`."""
    others: tuple[Any, ...] = (
        "all",
        {"any": [{"messages": {"lt": 3}}, {"pressure": {"lt": pressure - 0.2}}]},
        {"not": {"tool_tokens": {"gt": 80}}},
        {"turns": {"lte": 1}},
        {"used": {"lt": 150}},
    )
    below: Doc = {"pressure": {"lt": round(pressure - chance.one((0.1, 0.2, 0.3)), 3)}}
    kind = chance.number(0, 2)
    return {} if kind == 0 else {"until": below if kind == 1 else chance.one(others)}
