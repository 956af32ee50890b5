"""What a YAML parser's error means to the one who wrote the file."""

from __future__ import annotations

import re

import yaml

from ctxpolicy.policy.findings import Finding
from ctxpolicy.policy.node import Source, Span

# The parser stumbles over these further down; where they begin is the place to look.
_AT_THE_BEGINNING = ("alias", "anchor", "end of stream", "expected ',' or")
QUOTES = "use single quotes"
_QUOTED = re.compile(r'"((?:[^"\\]|\\.)*)"')


def explain(error: yaml.MarkedYAMLError, source: Source) -> Finding:
    """One finding for a parser's error, at the place the parser stumbled over."""
    problem = error.problem or "it cannot be read"
    context = error.context or ""
    mark = error.problem_mark or error.context_mark
    if any(part in context + problem for part in _AT_THE_BEGINNING) and "escape" not in problem:
        mark = error.context_mark or mark
    line = mark.line if mark else 0
    column = mark.column if mark else 0
    span = Span(source, line + 1, column + 1, line + 1, column + 2)
    text = source.lines[line] if line < len(source.lines) else ""
    if "scanning an alias" in context:
        return span.finding("CP110", "text that begins with `*` is an alias in YAML", star_hint(source, span))
    if "maximum nesting depth" in problem:
        return span.finding("CP107", "values are nested too deep")
    if "cannot start any token" in problem:
        return _bad_start(span, text[column : column + 1])
    message, hint = _words(problem, context)
    if "begins an escape" in message and error.context_mark:
        hint = _single_quoted(source.lines[error.context_mark.line][error.context_mark.column :])
    if "not closed" in message and " #" in text[column:]:
        hint = f"` #` begins a comment that hides the rest of the line; {QUOTES} around text with `#`"
    return span.finding("CP101", message, hint)


def star_hint(source: Source, span: Span) -> str:
    """How to write what begins with `*`."""
    rest = source.lines[span.line - 1][span.column - 1 :]
    word = rest.split(" #")[0].split(",")[0].rstrip(" ]}")
    return f"{QUOTES}: `'{word}'`" if 0 < len(word) <= 60 and "'" not in word else QUOTES


def _single_quoted(rest: str) -> str:
    """How to write what stands in double quotes at the beginning of `rest`."""
    quoted = _QUOTED.match(rest)
    short = quoted is not None and len(quoted[1]) <= 60 and "'" not in quoted[1]
    return f"{QUOTES}: `'{quoted[1]}'`" if quoted and short else f"{QUOTES} around patterns"


def _bad_start(span: Span, character: str) -> Finding:
    if character == "\t":
        return span.finding("CP101", "a tab cannot indent in YAML", "indent with spaces")
    return span.finding("CP101", f"text cannot begin with `{character}` in YAML", QUOTES)


def _words(problem: str, context: str) -> tuple[str, str | None]:
    if "unknown escape" in problem or "invalid Unicode character escape" in problem or "hexdecimal" in problem:
        return "in double quotes a backslash begins an escape, and this one is unknown", QUOTES
    if "end of stream" in problem and "quoted" in context:
        return "this quote is never closed", "close it on the same line"
    if "mapping values are not allowed" in problem:
        return "a `: ` cannot stand here", f"check the indentation above, or {QUOTES} around text with a colon"
    if "could not find expected ':'" in problem:
        return "a key needs a colon and a space after it", "write `key: value`"
    if "block sequence entries are not allowed" in problem:
        return "a list item cannot begin here", "put `- ` on a line of its own, below the key"
    if "expected ',' or ']'" in problem:
        return "a list that was opened with `[` is not closed", "add `]`, or a comma between the items"
    if "expected ',' or '}'" in problem:
        return "a mapping that was opened with `{` is not closed", "add `}`, or a comma between the entries"
    if "<document start>" in problem:
        return "nothing can follow here", "remove what is left over"
    if "expected key" in problem or "expected <block end>" in problem or "expected '-' indicator" in problem:
        return "this line does not fit what stands above it", "check the indentation and the quotes"
    if "undefined tag handle" in problem:
        return "YAML tags have no place in a policy", "remove it"
    return f"this is not valid YAML: {problem}" + (f" ({context})" if context else ""), None
