r"""Character that cannot stand in a policy.

A control character stands in the file, or in a pattern, where `"\b"` in double quotes has become a backspace.

Why: It cannot be seen, and it is not what was meant: in single quotes `\b` reaches the pattern as it is.

Bad:

    version: 1
    budget: {window: 128000}
    pins:
      - {id: names, match: {regex: "\bname\b", newest: 1}}

Good:

    version: 1
    budget: {window: 128000}
    pins:
      - {id: names, match: {regex: '\bname\b', newest: 1}}
"""

from __future__ import annotations

from collections.abc import Iterator

from ctxpolicy.policy.checks.problem import Context, Problem
from ctxpolicy.policy.checks.walk import control_character, patterns

_ESCAPES = dict(zip("\b\n\t\f\v\a\r\0\x1b", (rf"\{letter}" for letter in "bntfvar0e"), strict=True))


def check(context: Context) -> Iterator[Problem]:
    for path, pattern in patterns(context.spec):
        if bad := control_character(pattern):
            shown = _ESCAPES.get(bad, f"\\x{ord(bad):02x}")
            message = f"the pattern holds a control character, U+{ord(bad):04X}"
            yield Problem("CP111", path, message, f"use single quotes: in double quotes `{shown}` is that character")
