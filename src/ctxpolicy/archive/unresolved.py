"""What `restore` could not put back: marks of ours that still stand in a list."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cache
from typing import Any

from ctxpolicy import template
from ctxpolicy.actions.mask import ARGUMENTS_KEY
from ctxpolicy.archive.standing import parts_of
from ctxpolicy.cut import DEFAULT_TRUNCATE_MARKER
from ctxpolicy.marks import LABEL, MARKER, PLACEHOLDER, Mark
from ctxpolicy.messages import Message

_ARGUMENTS = re.compile(rf'\{{"{ARGUMENTS_KEY}": ?"(.*)"\}}', re.DOTALL)
_ELEMENTS = re.compile(r'"\.\.\. \[[0-9,]+ of [0-9,]+ \w+ left out, ref ([0-9a-f]{12})\.\] \.\.\."')  # in JSON
_LINE = re.compile(r'\\n|["\n]')  # between lines, those of a text inside JSON too


def unresolved(messages: Iterable[Any]) -> list[str]:
    """The references of the marks in these wire messages, each once, in order.

    Only marks of the default templates are known. A mark is the whole of a text, the opening lines of a summary, or for
    a cut result a line of its own: one that is quoted among other words is none.
    """
    parts = (part for wire in messages for part in parts_of(wire))
    return list(dict.fromkeys(ref for part in parts for ref in _references(part)))


def _references(message: Message) -> Iterator[str]:
    arguments = (found[1] for call in message.calls if (found := _ARGUMENTS.fullmatch(call.arguments)))
    for text in (message.text, *message.extra, *arguments):
        if "ref " in text:
            yield from _of_whole(text)
            yield from _of_lines(text)


def _of_whole(text: str) -> Iterator[str]:
    label, marker, placeholder, _ = _marks()
    if found := label.opening.match(text) or marker.whole.match(text) or placeholder.whole.match(text):
        yield found["ref"]


def _of_lines(text: str) -> Iterator[str]:
    cut = _marks()[3]
    for line in _LINE.split(text):
        if line.startswith("... [") and (found := cut.whole.match(line)):
            yield found["ref"]
    yield from _ELEMENTS.findall(text)


@cache
def _marks() -> tuple[Mark, Mark, Mark, Mark]:
    label, marker, placeholder, cut = (
        Mark(template.compile(text)) for text in (LABEL, MARKER, PLACEHOLDER, DEFAULT_TRUNCATE_MARKER.strip())
    )
    return label, marker, placeholder, cut
