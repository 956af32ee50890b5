r"""Bad regular expression.

RE2 does not take the pattern.

Why: RE2 searches in linear time, so that no message can make a policy hang. It has no lookaround and no
back-references.

Bad:

    version: 1
    budget: {window: 128000}
    pins:
      - {id: errors, match: {regex: 'error(?!s)', newest: 3}}

Good:

    version: 1
    budget: {window: 128000}
    pins:
      - {id: errors, match: {regex: 'error\b', newest: 3}}
"""

from __future__ import annotations

from collections.abc import Iterator

import re2

from ctxpolicy.policy.checks.problem import Context, Problem
from ctxpolicy.policy.checks.walk import control_character, patterns

MEMORY = 1 << 20  # bytes that a compiled pattern may take
LONGEST = 2_000  # characters of a pattern
MOST = 200_000  # steps of the compiled patterns together; usual ones have 10 to 2,000 each
_TOO_LARGE = 40_000  # steps that one which is turned away counts for: finding out takes as long


def check(context: Context) -> Iterator[Problem]:
    steps, seen = 0, set[str]()
    for path, pattern in patterns(context.spec):
        if pattern in seen or control_character(pattern) is not None:
            continue
        seen.add(pattern)
        if steps > MOST:
            message = f"the patterns of this policy are too large: together they may take {MOST:,} steps"
            yield Problem(
                "CP310", path, message, "make them simpler; counts such as `{100}` repeat what they stand behind"
            )
            return
        size, fault = compiled(pattern)
        steps += size
        if fault:
            yield Problem("CP310", path, f"this is no RE2 pattern: {fault}", _hint(pattern))


def compiled(pattern: str) -> tuple[int, str | None]:
    """How many steps RE2 makes of a pattern, and why it does not take it, None where it does."""
    if len(pattern) > LONGEST:
        return 0, f"it has {len(pattern):,} characters, and {LONGEST:,} are allowed"
    options = re2.Options()
    options.log_errors = False
    options.max_mem = MEMORY
    try:
        return re2.compile(pattern, options).programsize, None
    except re2.error as error:
        text = error.args[0] if error.args else "it cannot be read"
        reason = text.decode("utf-8", "replace") if isinstance(text, bytes) else str(text)
        return (_TOO_LARGE if "too large" in reason else 0), reason
    except UnicodeEncodeError:
        return 0, "it holds half a character (a lone surrogate)"


def _hint(pattern: str) -> str | None:
    if len(pattern) > LONGEST:
        return "list several shorter ones"
    if any(look in pattern for look in ("(?=", "(?!", "(?<=", "(?<!")):
        return "RE2 has no lookaround; say the rest with `not: {regex: ...}`"
    if any(f"\\{digit}" in pattern for digit in "123456789"):
        return "RE2 has no back-references"
    return "write the character itself with a backslash before it, such as `\\(`"
