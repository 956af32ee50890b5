"""Merging a policy into the one it extends: maps by key, pins and rules by id, readings in front."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ctxpolicy.policy.findings import Finding
from ctxpolicy.policy.node import Node, Span
from ctxpolicy.policy.phrases import did_you_mean

BY_ID = ("pins", "rules")


@dataclass(slots=True)
class Composition:
    """What composing found. `unsure` names what is not known because something could not be read or was rejected."""

    findings: list[Finding] = field(default_factory=list)
    unsure: set[str] = field(default_factory=set)
    bases: dict[Path, Node] = field(default_factory=dict)  # composed already

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
    merged = list(old.items) if old else []
    own: dict[str, Span] = {}
    for node in new.items:
        name, span = _identity(node), node.mapping["id"].span
        if first := own.get(name):
            message = f"the id `{name}` is given twice: first in line {first.line}, again in line {span.line}"
            made.say(span, "CP307", message, "ids name one entry each; rename one of them")
            continue
        own[name] = span
        _put(merged, node, made)
    return Node(merged, new.span)


def _put(entries: list[Node], node: Node, made: Composition) -> None:
    ids = [_identity(entry) for entry in entries]
    name = _identity(node)
    bare = Node({k: v for k, v in node.mapping.items() if k != "before"}, node.span, node.keys)
    before = node.mapping.get("before")
    if before is None:
        if name in ids:
            entries[ids.index(name)] = bare
        else:
            entries.append(bare)
        return
    if name in ids:
        del entries[ids.index(name)]
        ids.remove(name)
    if before.value in ids:
        entries.insert(ids.index(before.value), bare)
        return
    entries.append(bare)
    if not made.unsure & {"ids", *BY_ID}:
        hint = did_you_mean(str(before.value), map(str, ids)) or "`before` names an inherited entry, or one further up"
        made.say(before.span, "CP308", f"there is no `{before.value}` to stand before", hint)


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
