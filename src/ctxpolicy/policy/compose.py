"""Composition: a policy and the policies it extends become one document, each value with the place it came from."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from ctxpolicy.data import builtin_policies
from ctxpolicy.policy.merge import Composition, disable, entries, merge
from ctxpolicy.policy.node import Node, Path_, Source
from ctxpolicy.policy.phrases import did_you_mean
from ctxpolicy.policy.schema import validate
from ctxpolicy.policy.source import MAX_BYTES, PolicyUnreadable, parse, read

MAX_CHAIN = 16  # policies that extend each other in a row
BUILTIN = "builtin:"
_LOSING = ("CP104", "CP106")  # keys that could not be read, with all that stands under them


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
    broken = {finding.line for finding in findings}  # what YAML has lost there, the schema need not miss
    if any(finding.code in _LOSING for finding in findings):
        made.unsure.add("")
    made.findings += [fault for fault in faults if fault.line not in broken]
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
    for entry in entries(own, "extends"):
        found = _base(entry, made, chain)
        if found is None:
            made.unsure |= {"extends", "budget", "ids"}
        else:
            base = found if base is None else merge(base, found, made)
    base = base or Node({}, own.span)
    return merge(disable(base, entries(own, "disable"), made), own, made)


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
        message = "a base policy is a local file or builtin:NAME, never a URL"
        made.say(entry.span, "CP320", message, "save it beside this file")
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
        meant = f"did you mean `{BUILTIN}{target}`?" if target in builtin_policies() else None
        made.say(entry.span, "CP114", str(error), meant or "the path is relative to this file")
        return None
    made.size += len(text)
    if made.size > MAX_BYTES:
        made.say(
            entry.span, "CP109", f"what a policy extends may have {MAX_BYTES:,} characters together; this has more"
        )
        return None
    return _document(source, text, made, (*chain, file))


def _beside(source: Source, target: str) -> str:
    """The name of a base in reports: as the reader of the extending file would write it."""
    if source.name.startswith(("<", BUILTIN)) or Path(target).is_absolute():
        return target
    return str(Path(source.name).parent / target)
