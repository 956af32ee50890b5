"""The policy language as data: its JSON Schema, and where each of its keys may stand."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache
from typing import Any

from ctxpolicy.data import schema_file


@cache
def schema() -> dict[str, Any]:
    """The JSON Schema as data. Shared: not to be changed."""
    data: dict[str, Any] = json.loads(schema_file().read_text(encoding="utf-8"))
    return data


@cache
def homes() -> dict[str, list[str]]:
    """Every key of the language, and the keys under which it may stand."""
    found: dict[str, list[str]] = {}
    for owner, mapping in _mappings(schema()):
        for key in mapping.get("properties", {}):
            if owner not in found.setdefault(key, []):
                found[key].append(owner)
    return found


def _mappings(language: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    groups = {**language["definitions"], **language["properties"]}
    names = {
        "pin": "pins",
        "rule": "rules",
        "wire_match": "match",
        "summarizer_entry": "summarizer",
        "amount": "min_gain",
    }
    for name, body in groups.items():
        if not name.endswith(("compare", "rank", "equals")):
            yield names.get(name, name), body
        for key, inner in body.get("properties", {}).items():
            if isinstance(inner, dict) and "properties" in inner and key not in ("until", "not"):
                yield key, inner
