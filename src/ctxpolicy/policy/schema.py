"""The second layer: a document against the JSON Schema, one sentence for each mistake."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache, partial
from itertools import islice
from typing import Any

from jsonschema import Draft7Validator
from jsonschema.exceptions import ValidationError
from msgspec.structs import replace

from ctxpolicy.policy.fault import Fault
from ctxpolicy.policy.findings import MOST, Finding, Place
from ctxpolicy.policy.language import inlined
from ctxpolicy.policy.model import ACTIONS
from ctxpolicy.policy.node import Node, Path_
from ctxpolicy.policy.wording import describe_fault


@cache
def _validator() -> Draft7Validator:
    return Draft7Validator(inlined())


def validate(root: Node) -> tuple[list[Finding], list[Path_]]:
    """What the schema says against a document, and the paths of the values that it says it about."""
    found: dict[tuple[str, Path_, str | None], Finding] = {}
    paths: list[Path_] = []
    for fault in islice(_faults(_validator().iter_errors(root.plain())), MOST + 1):
        paths.append(fault.path)
        fault = _second_action(root, fault)
        said = describe_fault(fault)
        span = root.key(fault.path, fault.key) if fault.key is not None else root.place(fault.path)
        also = _action_beside(root, fault) if fault.kind == "forbidden" else None
        # A third action in a rule is still one mistake; so is a value that two keywords reject.
        hint = said.hint or _comment_hint(root.at(fault.path))
        found.setdefault((said.code, fault.path, said.about), span.finding(said.code, said.message, hint, also))
    return _without_echoes(found), paths


def _second_action(root: Node, fault: Fault) -> Fault:
    """Of two actions in a rule, the one that stands further down is too many."""
    if fault.kind != "forbidden" or fault.key not in ACTIONS:
        return fault
    keys = root.at(fault.path).keys
    first, second = sorted((str(fault.action), str(fault.key)), key=lambda key: (keys[key].line, keys[key].column))
    return replace(fault, action=first, key=second)


def _action_beside(root: Node, fault: Fault) -> Place:
    """Where the action stands that a key does not go with."""
    return root.key(fault.path, str(fault.action)).labelled(f"`{fault.action}` is here")


def _comment_hint(node: Node) -> str | None:
    """Where nothing is left of a text that begins with `#`."""
    cut = node.value is None and node.rest_of_line().lstrip().startswith("#")
    return "what follows `#` is a comment; put the text in single quotes" if cut else None


def _without_echoes(found: dict[tuple[str, Path_, str | None], Finding]) -> list[Finding]:
    """An action misspelt is an unknown key; that the rule then has no action says nothing new."""
    unknown = {path for code, path, _ in found if code == "CP201"}
    return [finding for (code, path, _), finding in found.items() if code != "CP207" or path not in unknown]


def _faults(errors: Iterable[ValidationError]) -> Iterator[Fault]:
    for error in errors:
        path = tuple(error.absolute_path)
        rule: Any = error.validator_value
        body: Any = error.schema
        value: Any = error.instance
        make = partial(Fault, value=value, schema=body, action=_action(error))
        if error.validator == "anyOf":
            yield from _faults(_branch(error))
        elif error.validator == "additionalProperties" and rule is False:
            extra = [key for key in value if key not in body.get("properties", {})]
            yield from (make("unknown", path, key=key) for key in extra)
        elif error.validator == "required":
            # jsonschema makes one error for each missing key, and names it only in its message
            yield from (make("missing", path, missing=key) for key in rule if error.message.startswith(repr(key)))
        elif error.validator == "not" and rule == {}:  # a key that does not go with the action
            yield make("forbidden", path[:-1], key=str(path[-1]))
        elif "propertyNames" in error.schema_path:
            yield make("name", path, key=str(value))
        else:
            yield make(str(error.validator), path)


def _action(error: ValidationError) -> str | None:
    """The action whose dependency was broken."""
    steps = list(error.absolute_schema_path)
    return str(steps[steps.index("dependencies") + 1]) if "dependencies" in steps else None


def _branch(error: ValidationError) -> list[ValidationError]:
    """Of the alternatives, the one for this kind of value: a list is meant as a list, anything else as one value."""
    wanted = isinstance(error.instance, list)
    options: Any = error.validator_value
    for index, option in enumerate(options):
        if (option.get("type") == "array") == wanted:
            return [e for e in error.context or [] if e.schema_path[0] == index]
    return list(error.context or [])
