"""The effective document with the defaults written out. The schema is where they are kept; editors show them too."""

from __future__ import annotations

from typing import Any

from ctxpolicy.policy.language import schema
from ctxpolicy.policy.node import DEFAULT, Node


def filled(document: Node) -> Node:
    """The document with every default that the schema has for what is not given. Defaults have the place DEFAULT."""
    return _fill(document, schema())


def _fill(node: Node, body: dict[str, Any]) -> Node:
    body = _resolved(body)
    if isinstance(node.value, list):
        items = _resolved(body.get("items", {}))
        return Node([_fill(item, items) for item in node.value], node.span)
    if not isinstance(node.value, dict):
        return node
    known: dict[str, Any] = body.get("properties", {})
    given = {key: _fill(value, known.get(key, {})) for key, value in node.value.items()}
    missing = {key: _default(part) for key, part in known.items() if key not in given and "default" in part}
    value = {key: {**given, **missing}[key] for key in _order(known, given, missing)}
    return Node(_with_ends(value) if "max_tokens" in known and "tail" in known else value, node.span, node.keys)


def _order(known: dict[str, Any], given: dict[str, Node], missing: dict[str, Node]) -> list[str]:
    """The schema's order, so that `show` prints every policy alike; keys of the caller's own keep theirs."""
    return [key for key in known if key in given or key in missing] + [key for key in given if key not in known]


def _resolved(body: dict[str, Any]) -> dict[str, Any]:
    if "allOf" in body:
        body = body["allOf"][0]
    if "$ref" in body:
        body = schema()["definitions"][body["$ref"].rpartition("/")[2]]
    return body


def _default(part: dict[str, Any]) -> Node:
    return _fill(_node(part["default"]), part)


def _node(value: Any) -> Node:
    if isinstance(value, dict):
        return Node({key: _node(inner) for key, inner in value.items()}, DEFAULT)
    return Node([_node(inner) for inner in value], DEFAULT) if isinstance(value, list) else Node(value, DEFAULT)


def _with_ends(value: dict[str, Node]) -> dict[str, Node]:
    """Of `head` and `tail`, the one that is not given is what the other leaves."""
    if "tail" in value and value["head"].span is DEFAULT:
        return {**value, "head": Node(_rest(value["tail"]), DEFAULT)}
    if "tail" in value:
        return value
    ends = {"head": value["head"], "tail": Node(_rest(value["head"]), DEFAULT)}
    return {key: {**value, **ends}[key] for key in dict.fromkeys([*_until_head(value), *ends, *value])}


def _until_head(value: dict[str, Node]) -> list[str]:
    keys = list(value)
    return keys[: keys.index("head")]


def _rest(end: Node) -> float:
    return round(1 - float(str(end.value)), 9)
