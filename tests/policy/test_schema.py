"""The JSON Schema as a contract of its own: complete, closed, readable in an editor, and in step with the model."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from jsonschema import Draft7Validator

from ctxpolicy.policy.build import build
from ctxpolicy.policy.defaults import filled
from ctxpolicy.policy.language import schema
from ctxpolicy.policy.load import load_spec
from ctxpolicy.policy.model import Compact, Mask, Match, Truncate, When

TOP = "version name description extends disable read_as budget pins rules summarizer reasoning archive allow"


def parts(body: Any, path: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    """Every schema inside the schema."""
    if isinstance(body, dict):
        yield path, body
        for key, inner in body.items():
            if key in ("properties", "definitions", "dependencies"):
                for name, one in inner.items():
                    yield from parts(one, f"{path}/{key}/{name}")
            elif key in ("items", "additionalProperties", "not", "allOf", "anyOf", "oneOf"):
                for one in inner if isinstance(inner, list) else [inner]:
                    yield from parts(one, f"{path}/{key}")


def test_it_is_a_draft_07_schema_with_all_the_keys() -> None:
    Draft7Validator.check_schema(schema())
    assert schema()["$schema"] == "http://json-schema.org/draft-07/schema#"
    assert list(schema()["properties"]) == TOP.split()


def test_every_property_has_a_description() -> None:
    bare = [
        f"{path}/{name}"
        for path, body in parts(schema())
        if "/dependencies" not in path and "/not" not in path
        for name, one in body.get("properties", {}).items()
        if "description" not in one and "description" not in _target(one)
    ]
    assert bare == []


def _target(body: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = schema()["definitions"][body["$ref"].rpartition("/")[2]] if "$ref" in body else body
    return found


def test_no_choice_between_objects() -> None:
    for path, body in parts(schema()):
        assert "oneOf" not in body, path
        for option in body.get("anyOf", ()):
            assert "properties" not in option, path
            assert "$ref" not in option, path


def test_every_object_is_closed() -> None:
    for path, body in parts(schema()):
        if "properties" in body and "/dependencies" not in path and not path.endswith("/not"):
            assert body["additionalProperties"] is False, path


def names(definition: str) -> set[str]:
    return set(schema()["definitions"][definition]["properties"])


def test_the_model_and_the_schema_have_the_same_keys() -> None:
    assert {name.rstrip("_") for name in Match.__struct_fields__} - {"everything"} == names("match")
    assert set(Truncate.__struct_fields__) == names("truncate")
    assert set(Mask.__struct_fields__) == names("mask")
    spelled = {"span_min": "span", "span_max": "span", "input_tokens": "input"}
    assert {spelled.get(name, name) for name in Compact.__struct_fields__} == names("compact")
    facts = {"pressure", "used", "messages", "tool_tokens", "results", "turns", "headroom"}
    assert names("when") == facts | {"any", "all", "not"}
    assert set(When.__struct_fields__) == {"facts", "not_", "any_", "all_"}


FULL = """
version: 1
budget: {window: 100000}
summarizer: [{use: extract}, none]
read_as: [{match: {role: user, not: {role: user, oldest: 1}}, as: tool}]
pins: [{id: recent, match: {newest: {share: 0.1}}}]
rules:
  - {id: cap, at: append, match: {role: tool}, truncate: {max_tokens: 2000}}
  - {id: tail, at: send, match: {role: tool}, truncate: {max_tokens: 2000, tail: 0.9}}
  - {id: refuse, match: {share: {gte: 1}}, refuse: {}}
  - {id: mask, match: all, mask: {batch: 3}}
  - {id: compact, when: {pressure: {gt: 0.7}}, compact: {until: {pressure: {lt: 0.5}}}}
  - {id: evict, when: {any: [{pressure: {gt: 0.9}}, {headroom: {lt: 100}}]}, evict: {until: all}}
"""


@pytest.mark.parametrize("text", [FULL, "version: 1\nextends: [builtin:default]\n"])
def test_defaults_of_schema_and_model_agree(text: str) -> None:
    loaded = load_spec(text)
    assert loaded.spec is not None
    assert loaded.document is not None
    plain, full = loaded.document.plain(), filled(loaded.document).plain()
    Draft7Validator(schema()).validate(full)
    ours, theirs = build(plain), build(full)
    for name in ("budget", "read_as", "pins", "rules", "reasoning", "archive", "summarizer", "name"):
        assert getattr(ours, name) == getattr(theirs, name)


def test_what_is_left_out_of_head_and_tail_is_the_rest() -> None:
    spec = load_spec(FULL).spec
    assert spec is not None
    ends = [(rule.action.head, rule.action.tail) for rule in spec.rules if isinstance(rule.action, Truncate)]
    assert ends == [(0.6, 0.4), (0.1, 0.9)]
