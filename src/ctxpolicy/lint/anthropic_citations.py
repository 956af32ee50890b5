"""What the Anthropic Messages API accepts of citations: they name what they cite by its number in the whole list."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from ctxpolicy.lint.rule import Fault, Rule, Subject, blocks

# A warning: there is no recorded answer to such a list, and a citation may also have come to name another document.
RULES = (
    Rule("ANT-29", "warning", "a citation of a document that is not in the list", "400 invalid_request_error",
         "keep the document, or take the citations out of the text block"),
)  # fmt: skip

_CITED = {  # type of a citation: the type of block that it numbers, and where the number stands
    "char_location": ("document", "document_index"),
    "page_location": ("document", "document_index"),
    "content_block_location": ("document", "document_index"),
    "search_result_location": ("search_result", "search_result_index"),
}


def _citations(subject: Subject) -> Iterator[Fault]:
    seen: Counter[str] = Counter()
    for index, message in enumerate(subject.messages):
        seen.update(_kinds(message.get("content")))
        for path, kind, number in _cited(message):
            if number >= seen[kind]:
                yield Fault("ANT-29", index, path, f"{kind} {number} of {seen[kind]} up to here, counted from 0")


def _kinds(content: Any) -> Iterator[str]:
    """The types of all blocks, those inside results too."""
    stack = [content]
    while stack:
        here = stack.pop()
        if isinstance(here, list):
            stack += here
        elif isinstance(here, dict):
            stack.append(here.get("content"))
            if isinstance(here.get("type"), str):
                yield here["type"]


def _cited(message: Any) -> Iterator[tuple[str, str, int]]:
    """What the text blocks of a message cite by number: the place, the type of block, its number."""
    for path, block in blocks(message):
        for at, citation in blocks(block, "citations"):
            kind, key = _CITED.get(str(citation.get("type")), ("", ""))
            if isinstance(citation.get(key), int):
                yield f"{path}.{at}", kind, citation[key]


CHECKS = (_citations,)
