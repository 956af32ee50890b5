"""The effective policy as YAML that loads again, each value with the place it came from."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from ctxpolicy.policy.defaults import filled
from ctxpolicy.policy.model import Scalar, Spec
from ctxpolicy.policy.node import DEFAULT, Node, Path_
from ctxpolicy.policy.report import visible
from ctxpolicy.policy.scalars import plain_scalar
from ctxpolicy.policy.thresholds import thresholds

_COLUMN = 48  # where comments begin, if the line leaves room
_BARE = re.compile(r"[A-Za-z_./][A-Za-z0-9_./+-]*( [A-Za-z0-9_./+-]+)*")


def listing(document: Node, spec: Spec) -> str:
    """The document as YAML, defaults filled in, with `# file:line` (or `# default`) and tokens beside each value."""
    notes = {t.path: f"{t.tokens:,} tokens, {t.window_share(spec.budget)} of the window" for t in thresholds(spec)}
    return "\n".join(_Writer(notes).mapping(filled(document), (), "")) + "\n"


class _Writer:
    def __init__(self, notes: dict[Path_, str]) -> None:
        self.notes = notes

    def mapping(self, node: Node, path: Path_, indent: str) -> Iterator[str]:
        for key, value in node.mapping.items():
            yield from self.entry(f"{indent}{_scalar(key)}:", value, (*path, key), indent)

    def entry(self, head: str, node: Node, path: Path_, indent: str) -> Iterator[str]:
        """A value after its key or dash."""
        inner = indent + "  "
        if isinstance(node.value, dict) and node.value:
            yield head
            yield from self.mapping(node, path, inner)
        elif isinstance(node.value, list) and node.value and not _short_list(node):
            yield head
            for index, item in enumerate(node.value):
                yield from self.item(item, (*path, index), inner)
        elif isinstance(node.value, str) and _blockable(node.value):
            ended = node.value.endswith("\n")
            yield self.noted(f"{head} |{'' if ended else '-'}", node, path)
            lines = node.value.removesuffix("\n").split("\n")
            yield from (inner + line if line else "" for line in lines)
        else:
            yield self.noted(f"{head} {_inline(node)}", node, path)

    def item(self, node: Node, path: Path_, indent: str) -> Iterator[str]:
        if isinstance(node.value, dict) and node.value:
            lines = list(self.mapping(node, path, indent + "  "))
            yield f"{indent}- {lines[0].lstrip()}"
            yield from lines[1:]
        else:
            yield from self.entry(f"{indent}-", node, path, indent)

    def noted(self, line: str, node: Node, path: Path_) -> str:
        origin = "default" if node.span is DEFAULT else visible(str(node.span))
        note = f"; {self.notes[path]}" if path in self.notes else ""
        return f"{line:<{_COLUMN}} # {origin}{note}"


def _short_list(node: Node) -> bool:
    """A list of a few scalars from one line stands on one line."""
    items = node.items
    plain = all(not isinstance(item.value, (dict, list)) for item in items)
    return plain and len({item.span.line for item in items}) == 1 and len(_inline(node)) <= 100


def _inline(node: Node) -> str:
    if isinstance(node.value, dict):
        return "{}"
    if isinstance(node.value, list):
        return f"[{', '.join(_inline(item) for item in node.value)}]"
    return _scalar(node.value)


def _scalar(value: Scalar) -> str:
    if not isinstance(value, str):
        return json.dumps(value)
    if _BARE.fullmatch(value) and _reads_as_text(value):
        return value
    if value.isprintable():
        return "'" + value.replace("'", "''") + "'"
    return '"' + "".join(map(_escaped, value)) + '"'


def _escaped(char: str) -> str:
    if char in '"\\':
        return "\\" + char
    return char if char.isprintable() else f"\\U{ord(char):08x}"


def _reads_as_text(value: str) -> bool:
    try:
        return isinstance(plain_scalar(value), str)
    except ValueError:
        return False


def _blockable(value: str) -> bool:
    """True for a text of several lines that a block scalar can hold and still look like itself.

    The first line sets the indentation, one line break at most may end the text, and blanks alone on a line get lost.
    """
    several = "\n" in value and value.replace("\n", "").isprintable()
    return several and not value[0].isspace() and not value.endswith("\n\n") and not re.search(r"^ +$", value, re.M)
