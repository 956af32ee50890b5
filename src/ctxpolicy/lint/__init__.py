"""The linter: is a list of messages one that its provider accepts? Each rule is one of a provider's, with its code.

`lint` judges and changes nothing; `ctxpolicy.lint.fix` repairs what can be repaired.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any, cast

from ctxpolicy import formats
from ctxpolicy.errors import TranscriptInvalid
from ctxpolicy.formats.detect import detect
from ctxpolicy.lint.common import COMMON
from ctxpolicy.lint.rule import Family, Fault, Level, Rule, Subject

__all__ = ["Fault", "Level", "Rule", "family", "level_of", "lint", "rules"]


def lint(
    messages: Sequence[Any],
    format: str | None = None,
    *,
    tools: Sequence[Any] | None = None,
    system: Any = None,
    request: Mapping[str, Any] | None = None,
) -> list[Fault]:
    """What a provider would refuse in this list, by message and path; empty for a sound one.

    `format` is the wire format (None: as the messages tell). `request` is the rest of the request body where it is
    known: some rules ask for `thinking`, `store` or `cachedContent`. Rules of level `route` are among what is found;
    only some models and servers hold them (see `level_of`).
    """
    name = format or detect(messages)
    unreadable = list(_unreadable(messages, name))
    if unreadable:
        return unreadable
    subject = Subject(messages, tools, system, request or {})
    checks = (*COMMON.checks, *family(name).checks)
    return sorted((fault for check in checks for fault in check(subject)), key=lambda f: (f.index, f.path, f.code))


def _unreadable(messages: Sequence[Any], name: str) -> list[Fault]:
    """What is no message of the format: nothing else can be judged then."""
    wire_format = formats.get(name)
    found: list[Fault] = []
    for index, message in enumerate(messages):
        try:
            wire_format.read(message, index)
        except TranscriptInvalid as error:
            found.append(Fault("X-00", index, "", str(error)))
    return found


def family(name: str) -> Family:
    """The rules of a wire format. Raises CtxPolicyError for an unknown one."""
    formats.get(name)
    return cast(Family, import_module(f"ctxpolicy.lint.{name.replace('-', '_')}").FAMILY)


def rules(name: str) -> dict[str, Rule]:
    """Every rule that is judged for a wire format, by code."""
    return {rule.code: rule for rule in (*COMMON.rules, *family(name).rules)}


def level_of(fault: Fault, name: str) -> Level:
    """How grave a fault is in this format: error, warning, or route."""
    return fault.level or rules(name)[fault.code].level
