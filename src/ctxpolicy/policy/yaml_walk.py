"""One walk over a YAML parser's events: plain values, each with its place, and what a policy may not hold.

The walk works on events and not on composed nodes: events still tell an alias from its anchor and a tag that was
written from one that was guessed, and nothing recurses, so no nesting can exhaust the stack.
"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec
import yaml

from ctxpolicy.policy.findings import Finding
from ctxpolicy.policy.model import Scalar
from ctxpolicy.policy.node import Node, Source, Span
from ctxpolicy.policy.scalars import plain_scalar
from ctxpolicy.policy.yaml_faults import star_hint

MAX_DEPTH = 32
MAX_NODES = 20_000  # with every alias counted as what it stands for


class Stop(Exception):
    """The walk cannot go on; the finding that says why is recorded."""


class _Open(msgspec.Struct):
    """A mapping or list that the walk is inside of."""

    start: Span
    anchor: str | None
    count: int  # values seen before it
    entries: dict[str, Node] | None = None  # of a mapping
    items: list[Node] = msgspec.field(default_factory=list)  # of a list
    keys: dict[str, Span] = msgspec.field(default_factory=dict)
    key: str | None = None
    at_value: bool = False  # a key was read, its value comes next
    height: int = 1


class _Anchored(msgspec.Struct):
    node: Node
    size: int
    height: int


class Walk:
    """Events to nodes. Faults that leave the rest readable are recorded and stepped over."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.findings: list[Finding] = []
        self.stack: list[_Open] = []
        self.anchors: dict[str, _Anchored] = {}
        self.count = 0
        self.root: Node | None = None

    def run(self, events: Iterator[yaml.Event]) -> Node | None:
        for event in events:
            self.step(event)
        return self.root

    def step(self, event: yaml.Event) -> None:
        if isinstance(event, yaml.DocumentStartEvent):
            if self.root is not None:
                raise self.stop(self.span(event), "CP113", "a policy file holds one document; a second one begins here")
        elif isinstance(event, yaml.CollectionStartEvent):
            self.open(event)
        elif isinstance(event, yaml.CollectionEndEvent):
            self.close(event)
        elif isinstance(event, yaml.AliasEvent):
            self.alias(event)
        elif isinstance(event, yaml.ScalarEvent):
            self.scalar(event)

    def span(self, event: yaml.Event) -> Span:
        a, b = event.start_mark, event.end_mark
        assert a is not None, "a parser's events have marks"
        assert b is not None, "a parser's events have marks"
        return Span(self.source, a.line + 1, a.column + 1, b.line + 1, b.column + 1)

    def say(self, span: Span, code: str, message: str, hint: str | None = None) -> None:
        self.findings.append(span.finding(code, message, hint))

    def stop(self, span: Span, code: str, message: str, hint: str | None = None) -> Stop:
        self.say(span, code, message, hint)
        return Stop()

    def grow(self, span: Span, size: int, height: int) -> None:
        """Room for a value of `size` values, `height` levels high."""
        self.count += size
        if self.count > MAX_NODES:
            message = f"a policy may hold {MAX_NODES:,} values, aliases counted as what they stand for"
            raise self.stop(span, "CP108", message)
        if len(self.stack) + height > MAX_DEPTH:
            raise self.stop(span, "CP107", f"values may be nested {MAX_DEPTH} deep; this one is deeper")

    def tag(self, event: yaml.CollectionStartEvent | yaml.ScalarEvent) -> None:
        if event.tag is not None:
            hint = "remove it; quotes make a text, digits a number"
            self.say(
                self.span(event), "CP105", f"YAML tags such as `{_short(event.tag)}` have no place in a policy", hint
            )

    def open(self, event: yaml.CollectionStartEvent) -> None:
        span = self.span(event)
        self.grow(span, 1, 1)
        self.tag(event)
        entries: dict[str, Node] | None = {} if isinstance(event, yaml.MappingStartEvent) else None
        self.stack.append(_Open(span, event.anchor, self.count - 1, entries))

    def close(self, event: yaml.Event) -> None:
        done = self.stack.pop()
        end = self.span(event)
        span = Span(self.source, done.start.line, done.start.column, end.end_line, end.end_column)
        node = Node(done.items if done.entries is None else done.entries, span, done.keys)
        if done.anchor:
            self.anchors[done.anchor] = _Anchored(node, self.count - done.count, done.height)
        if self.stack:
            self.stack[-1].height = max(self.stack[-1].height, done.height + 1)
        self.place(node)

    def alias(self, event: yaml.AliasEvent) -> None:
        span = self.span(event)
        name = event.anchor or ""
        found = self.anchors.get(name)
        if found is None:
            message = f"`*{_short(name)}` is an alias in YAML, and there is no `&{_short(name)}` above it"
            raise self.stop(span, "CP110", message, star_hint(self.source, span))
        self.grow(span, found.size, found.height)
        if self.stack:
            self.stack[-1].height = max(self.stack[-1].height, found.height + 1)
        self.place(found.node)

    def scalar(self, event: yaml.ScalarEvent) -> None:
        span = self.span(event)
        self.grow(span, 1, 0)
        self.tag(event)
        plain = not event.style
        value: Scalar = event.value
        if plain and event.tag is None:
            value = self.plain(event.value, span)
        node = Node(value, span)
        if event.anchor:
            self.anchors[event.anchor] = _Anchored(node, 1, 0)
        self.place(node, merge=plain and event.value == "<<")

    def plain(self, text: str, span: Span) -> Scalar:
        try:
            return plain_scalar(text)
        except ValueError:
            self.say(span, "CP112", f"the number `{_short(text)}` is out of range")
            return 1  # so that the bounds of the key have nothing to add

    def place(self, node: Node, merge: bool = False) -> None:
        """Put a finished value where it belongs: the next key, value or item of what is open."""
        if not self.stack:
            self.root = node
            return
        inside = self.stack[-1]
        if inside.entries is None:
            inside.items.append(node)
        elif not inside.at_value:
            inside.at_value = True
            if merge:
                self.no_merge(node)
            inside.key = None if merge else self.new_key(node, inside)
        else:
            inside.at_value = False
            if inside.key is not None:
                inside.entries[inside.key] = node

    def no_merge(self, node: Node) -> None:
        self.say(
            node.span, "CP106", "merge keys (`<<`) have no place in a policy", "write the keys out, or use `extends`"
        )

    def new_key(self, node: Node, inside: _Open) -> str | None:
        """The key, or None where its value is to be left out."""
        key = node.value
        if not isinstance(key, str):
            shown = "a list or mapping" if isinstance(key, (list, dict)) else f"`{_written(self.source, node.span)}`"
            self.say(node.span, "CP104", f"a key must be text, but this one is {shown}", "put it in quotes")
            return None
        if first := inside.keys.get(key):
            message, also = f"`{_short(key)}` is given twice", first.labelled("it is given here first")
            self.findings.append(node.span.finding("CP103", message, "keep one of them", also))
            return None
        inside.keys[key] = node.span
        return key


def _short(text: str) -> str:
    return text if len(text) <= 40 else text[:39] + "…"


def _written(source: Source, span: Span) -> str:
    return _short(source.lines[span.line - 1][span.column - 1 : span.end_column - 1]) or "null"
