"""YAML 1.2 core scalars, and what people write who know another YAML."""

from __future__ import annotations

import math
import re

from ctxpolicy.policy.model import Scalar

LARGEST = 1e15  # above it a float no longer holds every whole number, and no token count comes near

_WORDS: dict[str, Scalar] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL"), None),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}
# YAML 1.2.2, section 10.3.2. Its `.inf` and `.nan` are left out: no key of a policy takes them.
_INT = re.compile(r"[-+]?[0-9]+")
_BASED = re.compile(r"0o[0-7]+|0x[0-9a-fA-F]+")
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")

_YES = frozenset({"y", "yes", "on"})
_NO = frozenset({"n", "no", "off"})
_NUMBER = re.compile(r"([0-9]+(?:\.[0-9]+)?) ?(%|[kKmM])")


def plain_scalar(text: str) -> Scalar:
    """The value of an unquoted scalar. Raises ValueError for a number out of range."""
    if text in _WORDS:
        return _WORDS[text]
    if _INT.fullmatch(text):
        return int(_bounded(text))
    if _BASED.fullmatch(text):
        return int(_short(text), 0)
    return _bounded(text) if _FLOAT.fullmatch(text) else text


def _short(text: str) -> str:
    if len(text) > 14:
        raise ValueError(text)
    return text


def _bounded(text: str) -> float:
    number = float(text)
    if not math.isfinite(number) or abs(number) > LARGEST:
        raise ValueError(text)
    return number


def truth_word(text: str) -> bool | None:
    """What a word such as `yes` or `off` means to those who know YAML 1.1; None for any other text."""
    low = text.strip().lower()
    return True if low in _YES else False if low in _NO else None


def lookalike(text: str, types: set[str]) -> str | None:
    """What to write instead of a text where a number or truth value is wanted, in the schema's words for types."""
    low = text.strip().lower()
    if "boolean" in types and (meant := truth_word(text)) is not None:
        return f"`{text}` is text in YAML 1.2; write `{str(meant).lower()}`"
    if not types & {"number", "integer"}:
        return None
    if low.lstrip("+-") in (".nan", ".inf"):
        return f"`{text}` is not a number here; write one in digits"
    if re.fullmatch(r"[0-9]{1,3}([_,' ][0-9]{3})+|[0-9]+(_[0-9]+)+", low):
        return f"write `{re.sub('[^0-9]', '', low)}`, without separators"
    if re.fullmatch(r"[0-9]+(:[0-5]?[0-9])+", low):
        return f"`{text}` is text in YAML 1.2; write one plain number"
    if number := _NUMBER.fullmatch(low):
        factor = {"%": 0.01, "k": 1000, "m": 1_000_000}[number[2]]
        return f"write `{float(number[1]) * factor:.10g}`"
    return f"write `{low}` without quotes" if _FLOAT.fullmatch(low) else None
