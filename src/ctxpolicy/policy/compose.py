"""Composition: a policy and the policies it extends become one document, each value with the place it came from."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ctxpolicy.data import builtin_policies
from ctxpolicy.policy.findings import Finding
from ctxpolicy.policy.node import Node, Path_, Source, Span
from ctxpolicy.policy.phrases import did_you_mean
from ctxpolicy.policy.schema import validate
from ctxpolicy.policy.source import PolicyUnreadable, parse, read

MAX_CHAIN = 16  # policies that extend each other in a row
BUILTIN = "builtin:"
_BY_ID = ("pins", "rules")


@dataclass(slots=True)
class Composition:
    """What composing found. `unsure` names what is not known because something could not be read or was rejected."""

    findings: list[Finding] = field(default_factory=list)
    unsure: set[str] = field(default_factory=set)
    bases: dict[Path, Node] = field(default_factory=dict)  # composed already

    def say(self, span: Span, code: str, message: str, hint: str | None = None) -> None:
        """Record a finding."""
        self.findings.append(span.finding(code, message, hint))


def compose(source: Source, text: str, file: Path | None) -> tuple[Node | None, Composition]:
    """The effective document: bases merged in order, own entries last. None where the YAML cannot be read.

    `file` is where the text came from, so that a file which extends itself is found out.
    """
    made = Composition()
    return _document(source, text, made, (file.resolve(),) if file else ()), made


def _document(source: Source, text: str, made: Composition, chain: tuple[Path, ...]) -> Node | None:
    root, findings = parse(source, text)
    made.findings += findings
    if root is None:
        return None
    faults, paths = validate(root)
    made.findings += faults
    return _merge_bases(_prune(root, paths, made), made, chain)


def _prune(root: Node, paths: Iterable[Path_], made: Composition) -> Node:
    """The document without what the schema rejects, so that the rest can still be judged.

    An entry of a list goes as a whole, of another key only the value: half a rule means nothing.
    """
    value: dict[str, Node] = dict(root.mapping)
    items: dict[str, set[int]] = {}
    for path in paths:
        made.unsure.add(str(path[0]) if path else "")
        if len(path) > 1 and isinstance(path[1], int):
            items.setdefault(str(path[0]), set()).add(path[1])
        elif len(path) > 1 and path[0] == "budget" and path[0] in value:
            budget = value["budget"]
            value["budget"] = Node({k: v for k, v in budget.mapping.items() if k != path[1]}, budget.span, budget.keys)
        elif path:
            value.pop(str(path[0]), None)
    for key, gone in items.items():
        if key in value:
            kept = [item for index, item in enumerate(value[key].items) if index not in gone]
            value[key] = Node(kept, value[key].span)
    return Node(value, root.span, root.keys)


def _merge_bases(own: Node, made: Composition, chain: tuple[Path, ...]) -> Node:
    base: Node | None = None
    for entry in _entries(own, "extends"):
        found = _base(entry, made, chain)
        if found is None:
            made.unsure |= {"extends", "budget", "ids"}
        else:
            base = found if base is None else _merge(base, found, made)
    base = base or Node({}, own.span)
    return _merge(_disable(base, _entries(own, "disable"), made), own, made)


def _entries(document: Node, key: str) -> list[Node]:
    """The items under a key that takes one text or a list of them."""
    node = document.mapping.get(key)
    return [] if node is None else node.items if isinstance(node.value, list) else [node]


def _base(entry: Node, made: Composition, chain: tuple[Path, ...]) -> Node | None:
    target = str(entry.value)
    file = _locate(target, entry, made)
    if file is None:
        return None
    if file in chain:
        circle = " -> ".join(step.name for step in (*chain[chain.index(file) :], file))
        made.say(entry.span, "CP309", f"`{target}` extends this policy: {circle}", "remove one of the links")
        return None
    if len(chain) >= MAX_CHAIN:
        made.say(entry.span, "CP309", f"more than {MAX_CHAIN} policies extend each other in a row")
        return None
    if file not in made.bases:
        document = _read_base(file, target, entry, made, chain)
        if document is None:
            return None
        made.bases[file] = document
    return made.bases[file]


def _locate(target: str, entry: Node, made: Composition) -> Path | None:
    if target.startswith(BUILTIN):
        known = builtin_policies()
        name = target.removeprefix(BUILTIN)
        if name not in known:
            hint = did_you_mean(name, known) or f"there are {', '.join(BUILTIN + n for n in known)}"
            made.say(entry.span, "CP320", f"there is no built-in policy `{name}`", hint)
        return known.get(name)
    if "://" in target:
        made.say(
            entry.span,
            "CP320",
            "a base policy is a local file or builtin:NAME, never a URL",
            "save it beside this file",
        )
        return None
    try:
        return (entry.span.source.folder / target).resolve()
    except (OSError, RuntimeError, ValueError) as error:
        made.say(entry.span, "CP114", f"the base policy `{target}` cannot be found: {error}")
        return None


def _read_base(file: Path, target: str, entry: Node, made: Composition, chain: tuple[Path, ...]) -> Node | None:
    name = target if target.startswith(BUILTIN) else _beside(entry.span.source, target)
    try:
        source, text = read(file, name)
    except PolicyUnreadable as error:
        hint = (
            f"did you mean `{BUILTIN}{target}`?"
            if target in builtin_policies()
            else "the path is relative to this file"
        )
        made.say(entry.span, "CP114", f"the base policy is not there or is not text: {error}", hint)
        return None
    return _document(source, text, made, (*chain, file))


def _beside(source: Source, target: str) -> str:
    """The name of a base in reports: as the reader of the extending file would write it."""
    if source.name.startswith(("<", BUILTIN)) or Path(target).is_absolute():
        return target
    return str(Path(source.name).parent / target)


def _merge(base: Node, own: Node, made: Composition) -> Node:
    value: dict[str, Node] = {k: v for k, v in base.mapping.items() if k not in ("extends", "disable")}
    keys = {**own.keys, **{key: span for key, span in base.keys.items() if key not in own.keys}}
    for key, node in own.mapping.items():
        if key in ("extends", "disable"):
            continue
        old = value.get(key)
        if key in _BY_ID:
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
    entries = list(old.items) if old else []
    own: dict[str, Span] = {}
    for node in new.items:
        name, span = _identity(node), node.mapping["id"].span
        if first := own.get(name):
            message = f"the id `{name}` is given twice: first in line {first.line}, again in line {span.line}"
            made.say(span, "CP307", message, "ids name one entry each; rename one of them")
            continue
        own[name] = span
        _put(entries, node, made)
    return Node(entries, new.span)


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
    if not made.unsure & {"ids", *_BY_ID}:
        hint = did_you_mean(str(before.value), map(str, ids)) or "`before` names an inherited entry, or one further up"
        made.say(before.span, "CP308", f"there is no `{before.value}` to stand before", hint)


def _disable(base: Node, names: list[Node], made: Composition) -> Node:
    value = dict(base.mapping)
    known = {str(_identity(entry)) for key in _BY_ID for entry in _entries(base, key)}
    for name in names:
        if name.value not in known and not made.unsure & {"ids", *_BY_ID}:
            hint = did_you_mean(str(name.value), known) or "`disable` names inherited pins and rules"
            made.say(name.span, "CP308", f"there is no inherited pin or rule `{name.value}`", hint)
    gone = {name.value for name in names}
    for key in _BY_ID:
        if key in value:
            value[key] = Node([e for e in value[key].items if _identity(e) not in gone], value[key].span)
    return Node(value, base.span, base.keys)
