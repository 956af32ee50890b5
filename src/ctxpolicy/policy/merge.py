"""Merging a policy into the one it extends: maps by key, pins and rules by id, readings in front."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec

from ctxpolicy.policy.findings import Finding
from ctxpolicy.policy.node import Node, Span
from ctxpolicy.policy.phrases import did_you_mean

BY_ID = ("pins", "rules")
MAX_ENTRIES = 1_000  # pins, and rules, of an effective policy


class Composition(msgspec.Struct):
    """What composing found. `unsure` names what is not known because something could not be read or was rejected."""

    findings: list[Finding] = msgspec.field(default_factory=list)
    unsure: set[str] = msgspec.field(default_factory=set)
    bases: dict[Path, Node] = msgspec.field(default_factory=dict)  # composed already
    size: int = 0  # characters read so far

    def say(self, span: Span, code: str, message: str, hint: str | None = None) -> None:
        """Record a finding."""
        self.findings.append(span.finding(code, message, hint))


def entries(document: Node, key: str) -> list[Node]:
    """The items under a key that takes one text or a list of them."""
    node = document.mapping.get(key)
    return [] if node is None else node.items if isinstance(node.value, list) else [node]


def merge(base: Node, own: Node, made: Composition) -> Node:
    value: dict[str, Node] = {k: v for k, v in base.mapping.items() if k not in ("extends", "disable")}
    keys = {**own.keys, **{key: span for key, span in base.keys.items() if key not in own.keys}}
    for key, node in own.mapping.items():
        if key in ("extends", "disable"):
            continue
        old = value.get(key)
        if key in BY_ID:
            value[key] = _merge_entries(old, node, made)
        elif old is None:
            value[key] = node
        elif key == "read_as":
            value[key] = Node([*node.items, *old.items], node.span)
        else:
            value[key] = _merge_maps(old, node)
    return Node(value, own.span, keys)


def _merge_maps(old: Node, new: Node) -> Node:
    """Mappings merge by key, all the way down; anything else is replaced."""
    if not isinstance(old.value, dict) or not isinstance(new.value, dict):
        return new
    value = {**old.value}
    for key, node in new.value.items():
        value[key] = _merge_maps(old.value[key], node) if key in old.value else node
    return Node(value, new.span, {**new.keys, **{key: span for key, span in old.keys.items() if key not in new.keys}})


def _identity(entry: Node) -> Any:
    return entry.mapping["id"].value


def _merge_entries(old: Node | None, new: Node, made: Composition) -> Node:
    """Pins or rules: the same id replaces in place, a new one is appended or stands before the one it names."""
    merged = {str(_identity(entry)): entry for entry in old.items} if old else {}
    own: dict[str, Span] = {}
    for node in new.items:
        name, span = str(_identity(node)), node.mapping["id"].span
        if first := own.get(name):
            also = first.labelled(f"the other `id: {name}` is here")
            hint = "ids name one entry each; rename one of them"
            made.findings.append(span.finding("CP307", f"the id `{name}` is given twice", hint, also))
            continue
        if len(merged) >= MAX_ENTRIES:
            made.say(span, "CP108", f"a policy may hold {MAX_ENTRIES:,} pins and as many rules, inherited ones counted")
            break
        own[name] = span
        merged = _put(merged, name, node, made)
    return Node(list(merged.values()), new.span)


def _put(entries: dict[str, Node], name: str, node: Node, made: Composition) -> dict[str, Node]:
    bare = Node({k: v for k, v in node.mapping.items() if k != "before"}, node.span, node.keys)
    before = node.mapping.get("before")
    if before is None:
        entries[name] = bare
        return entries
    entries.pop(name, None)
    order = list(entries.items())
    if before.value in entries:
        order.insert(list(entries).index(str(before.value)), (name, bare))
        return dict(order)
    if not made.unsure & {"ids", *BY_ID}:
        hint = did_you_mean(str(before.value), entries) or "`before` names an inherited entry, or one further up"
        made.say(before.span, "CP308", f"there is no `{before.value}` to stand before", hint)
    return dict([*order, (name, bare)])


def disable(base: Node, names: list[Node], made: Composition) -> Node:
    value = dict(base.mapping)
    known = {str(_identity(entry)) for key in BY_ID for entry in entries(base, key)}
    for name in names:
        if name.value not in known and not made.unsure & {"ids", *BY_ID}:
            hint = did_you_mean(str(name.value), known) or "`disable` names inherited pins and rules"
            made.say(name.span, "CP308", f"there is no inherited pin or rule `{name.value}`", hint)
    gone = {name.value for name in names}
    for key in BY_ID:
        if key in value:
            value[key] = Node([e for e in value[key].items if _identity(e) not in gone], value[key].span)
    return Node(value, base.span, base.keys)
