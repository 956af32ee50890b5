"""How values were written: quotes make a difference to what was meant."""

from __future__ import annotations

from collections.abc import Iterator

from ctxpolicy.policy.node import Node, Path_


def texts(node: Node, path: Path_ = ()) -> Iterator[tuple[Path_, Node]]:
    """Every text of a document that is a value, with its path."""
    if isinstance(node.value, dict):
        for key, inner in node.value.items():
            yield from texts(inner, (*path, key))
    elif isinstance(node.value, list):
        for index, inner in enumerate(node.value):
            yield from texts(inner, (*path, index))
    elif isinstance(node.value, str):
        yield path, node


def is_plain(node: Node) -> bool:
    """True for a text without quotes on a single line."""
    span = node.span
    line = span.source.lines[span.line - 1]
    return span.line == span.end_line and line[span.column - 1 : span.column] not in ("", "'", '"', "|", ">", "*", "&")
