"""Patterns: every regular expression is one that RE2 takes, and is what its author sees."""

from __future__ import annotations

from collections.abc import Iterator

import re2

from ctxpolicy.policy.checks.problem import Context, Problem
from ctxpolicy.policy.checks.walk import nested, root_matches, rules
from ctxpolicy.policy.model import Truncate
from ctxpolicy.policy.node import Path_

MEMORY = 8 << 20  # bytes, RE2's own default: what a compiled pattern may take
_ESCAPES = {
    "\b": "\\b",
    "\n": "\\n",
    "\t": "\\t",
    "\f": "\\f",
    "\v": "\\v",
    "\a": "\\a",
    "\r": "\\r",
    "\0": "\\0",
    "\x1b": "\\x1b",
}


def _patterns(context: Context) -> Iterator[Problem]:
    for path, pattern in _written(context):
        if bad := next((char for char in pattern if ord(char) < 32 or ord(char) == 127), None):
            shown = _ESCAPES.get(bad, f"\\x{ord(bad):02x}")
            message = f"the pattern holds a control character, U+{ord(bad):04X}"
            yield Problem("CP111", path, message, f"use single quotes: in double quotes `{shown}` is that character")
        elif fault := reason(pattern):
            yield Problem("CP310", path, f"this is no RE2 pattern: {fault[0]}", fault[1])


def _written(context: Context) -> Iterator[tuple[Path_, str]]:
    for root, match in root_matches(context.spec):
        for path, inner, _ in nested(root, match):
            several = inner.regex or ()
            for index, pattern in enumerate(several):
                yield (*path, "regex", index) if len(several) > 1 else (*path, "regex"), pattern
    for path, rule in rules(context.spec):
        if isinstance(rule.action, Truncate) and rule.action.keep_lines is not None:
            yield (*path, "truncate", "keep_lines"), rule.action.keep_lines


def reason(pattern: str) -> tuple[str, str | None] | None:
    """Why RE2 does not take a pattern, and a hint; None when it does."""
    options = re2.Options()
    options.log_errors = False
    options.max_mem = MEMORY
    try:
        re2.compile(pattern, options)
    except re2.error as error:
        text = error.args[0] if error.args else "it cannot be read"
        return (text.decode("utf-8", "replace") if isinstance(text, bytes) else str(text)), _hint(pattern)
    except UnicodeEncodeError:
        return "it holds half a character (a lone surrogate)", None
    return None


def _hint(pattern: str) -> str | None:
    if any(look in pattern for look in ("(?=", "(?!", "(?<=", "(?<!")):
        return "RE2 has no lookaround; say the rest with `not: {regex: ...}`"
    if any(f"\\{digit}" in pattern for digit in "123456789"):
        return "RE2 has no back-references"
    return "write the character itself with a backslash before it, such as `\\(`"


CHECKS = (_patterns,)
