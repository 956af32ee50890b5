"""What the Anthropic Messages API accepts of cache marks (`cache_control`)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ctxpolicy.lint.anthropic_thinking import THINKING
from ctxpolicy.lint.rule import Fault, Rule, Subject, is_blank

_MOST_MARKS = 4

RULES = (
    Rule("ANT-21", "error", "more than four cache marks", "A maximum of 4 blocks with cache_control may be provided",
         "keep the last four"),
    Rule("ANT-22", "error", "a cache mark where none may stand", "cache_control cannot be set for empty text blocks",
         "remove it; longer ttl before shorter"),
)  # fmt: skip


def _marks(subject: Subject) -> Iterator[Fault]:
    marks = [*_marks_of(subject.tools, "tools", -1), *_marks_of(subject.system, "system", -1)]
    for index, message in enumerate(subject.messages):
        marks += [(index, f"content{path}", block) for _, path, block in _marks_of(message.get("content"), "", index)]
    for index, path, _ in marks[_MOST_MARKS:]:
        yield Fault("ANT-21", max(index, 0), path, f"one of {len(marks)} cache marks")
    shortest: Any = None
    for index, path, block in marks:
        kind = block.get("type")
        if kind in THINKING or (kind == "text" and is_blank(block.get("text", ""))):
            yield Fault("ANT-22", max(index, 0), path, f"a cache mark on {'an empty ' if kind == 'text' else ''}{kind}")
        ttl = block["cache_control"].get("ttl", "5m") if isinstance(block["cache_control"], dict) else "5m"
        if ttl == "1h" and shortest == "5m":
            yield Fault("ANT-22", max(index, 0), path, "a mark for 1h after one for 5m")
        shortest = "5m" if ttl == "5m" else shortest


def _marks_of(value: Any, path: str, index: int) -> Iterator[tuple[int, str, dict[str, Any]]]:
    """Blocks with a cache mark, those inside tool results too."""
    for n, block in enumerate(value if isinstance(value, list) else ()):
        if not isinstance(block, dict):
            continue
        if block.get("type") == "tool_result":
            yield from _marks_of(block.get("content"), f"{path}[{n}].content", index)
        if block.get("cache_control"):
            yield index, f"{path}[{n}]", block


CHECKS = (_marks,)
