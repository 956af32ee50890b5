"""Small turns of phrase that findings share."""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterable
from typing import Any

from ctxpolicy.policy.node import Path_


def did_you_mean(word: str, known: Iterable[str]) -> str | None:
    """A hint with the known word that is meant most likely, if one is near."""
    close = difflib.get_close_matches(word, list(known), 1, 0.6) if len(word) <= 40 else []
    return f"did you mean `{close[0]}`?" if close else None


def short(value: Any, most: int = 40) -> str:
    """A value as it may stand in a sentence."""
    if isinstance(value, dict):
        return "a mapping"
    if isinstance(value, list):
        return "a list"
    text = value if isinstance(value, str) else json.dumps(value)
    return text if len(text) <= most else text[: most - 1] + "…"


def listed(words: Iterable[Any], link: str = "or") -> str:
    """`a, b or c`."""
    *rest, last = map(str, words)
    return f"{', '.join(rest)} {link} {last}" if rest else last


def where(path: Path_) -> str:
    """A path as people write it: `rules[2].match.tokens`."""
    text = ""
    for step in path:
        text += f"[{step}]" if isinstance(step, int) else f".{step}"
    return f"`{text.removeprefix('.')}`" if text else "the policy"
