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
def inlined() -> dict[str, Any]:
    """The schema with every `$ref` replaced by what it names: following them is a third of the time of a validation.

    Parts that contain themselves, such as a match, do so here too.
    """
    made: dict[str, dict[str, Any]] = {}

    def named(name: str) -> dict[str, Any]:
        if name not in made:
            made[name] = {}  # before what it holds, which may hold it
            made[name].update(resolved(schema()["definitions"][name]))
        return made[name]

    def resolved(part: Any) -> Any:
        if isinstance(part, list):
            return [resolved(item) for item in part]
        if not isinstance(part, dict):
            return part
        if "$ref" in part:
            return named(part["$ref"].rpartition("/")[2])
        if "allOf" in part and len(part["allOf"]) == 1:  # a reference with a description of its own
            return resolved(part["allOf"][0])
        return {key: resolved(inner) for key, inner in part.items() if key != "definitions"}

    whole: dict[str, Any] = resolved(schema())
    return whole


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
