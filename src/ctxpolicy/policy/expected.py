"""A value that the schema turns away: what it should have been, and what was probably meant."""

from __future__ import annotations

from typing import Any

from ctxpolicy.policy.fault import Fault, Said
from ctxpolicy.policy.phrases import did_you_mean, listed, short, where
from ctxpolicy.policy.scalars import lookalike


def describe_value(fault: Fault) -> Said:
    value, place = fault.value, where(fault.path)
    wanted = expected(fault.schema)
    codes = {"type": "CP202", "enum": "CP203", "const": "CP203", "pattern": "CP203", "not": "CP203"}
    code = codes.get(fault.kind, "CP204")
    if fault.kind == "maxProperties":
        return Said(code, f"{place} takes one key, not {len(value)}", "keep one of them")
    if fault.kind == "maxItems":
        most = fault.schema["maxItems"]
        return Said(code, f"{place} may have {most} entries, and this has {len(value):,}", "use fewer")
    if code == "CP202" and isinstance(value, (dict, list)):
        return Said(code, f"{place} must be {wanted}, not {short(value)}", _shape_hint(fault))
    shown = "nothing" if value is None else f"`{short(value)}`"
    return Said(code, f"{place} must be {wanted}, not {shown}", _value_hint(fault))


def _shape_hint(fault: Fault) -> str | None:
    value, schema = fault.value, fault.schema
    if isinstance(value, list) and "object" in _types(schema):
        return "remove the `-`: the keys stand below it, indented" if value else "write `{}`"
    if isinstance(value, dict) and "array" in _types(schema):
        return "begin each entry with `- `"
    return None


def _value_hint(fault: Fault) -> str | None:
    value, schema = fault.value, fault.schema
    types = _types(schema)
    if value is None and "object" in types:
        return f"write `{fault.path[-1]}: {{}}` where every default will do" if fault.path else None
    if isinstance(value, str):
        choices = schema.get("enum") or _words(schema)
        near = did_you_mean(value, [c for c in choices if isinstance(c, str)])
        return near or lookalike(value, types)
    if _number(value) and schema.get("maximum", value) < value <= 100:
        more = f", or `{{tokens: {value:g}}}` for a number of tokens" if "object" in types else ""
        return f"did you mean `{value / 100:g}`?{more}"
    if _number(value) and value > 100 and "object" in types:
        return f"write `{{tokens: {value:g}}}` for a number of tokens"
    if _number(value) and "string" in types and not isinstance(value, bool):
        return f"put it in quotes: `'{value}'`"
    return None


def _number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _types(schema: dict[str, Any]) -> set[str]:
    types = schema.get("type", [])
    return {types} if isinstance(types, str) else set(types)


def _words(schema: dict[str, Any]) -> list[str]:
    """The words that a pattern such as `^(a|b)$` stands for."""
    pattern = schema.get("pattern", "")
    inner = pattern.removeprefix("^").removesuffix("$").removeprefix("(").removesuffix(")")
    words = inner.split("|") if pattern.startswith("^") else []
    return words if all(word.replace("_", "").isalpha() for word in words) else []


_NAMES = {"string": "text", "object": "a mapping", "array": "a list", "boolean": "true or false", "null": "nothing"}


def expected(schema: dict[str, Any]) -> str:
    """What a schema accepts, in words: `a whole number of 1 or more`."""
    if "const" in schema:
        return short(schema["const"])
    if "enum" in schema:
        return listed(map(short, schema["enum"]))
    kinds = [
        _kind(kind, schema)
        for kind in ([schema["type"]] if isinstance(schema.get("type"), str) else schema.get("type", []))
    ]
    return listed([kind for kind in kinds if kind]) if kinds else "something else"


def _kind(kind: str, schema: dict[str, Any]) -> str:
    if kind in ("integer", "number"):
        return ("a whole number" if kind == "integer" else "a number") + _bounds(schema)
    if kind == "boolean" and "not" in schema:
        return "false"
    if kind == "string" and "pattern" in schema:
        known = (words for start, words in _PATTERNS.items() if schema["pattern"].startswith(start))
        return listed(_words(schema)) if _words(schema) else next(known, "text")
    if kind == "object" and len(schema.get("required", ())) == 1:
        return f"a mapping with `{schema['required'][0]}`"
    return _NAMES[kind]


_PATTERNS = {
    "^[A-Za-z0-9]": "a name of letters, digits, dots, dashes and underscores",
    "^[A-Za-z_]": "a name of letters, digits and underscores",
    "^https?://": "an address that begins with http:// or https://",
    "^(none": "one of none, extract, scripted:FILE, command:CMD, PROVIDER:MODEL",
    "\\S": "text that is not blank",
}


def _bounds(schema: dict[str, Any]) -> str:
    low, high = schema.get("minimum"), schema.get("maximum")
    over = schema.get("exclusiveMinimum")
    if high is not None:
        return f" above {over} and at most {high}" if over is not None else f" from {low} to {high}"
    return f" above {over}" if over is not None else f" of {low} or more" if low is not None else ""
