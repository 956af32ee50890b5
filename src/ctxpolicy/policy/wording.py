"""From a rejected value to a sentence that says what is wrong and what to write instead."""

from __future__ import annotations

from ctxpolicy.policy.expected import describe_value
from ctxpolicy.policy.fault import Fault, Said
from ctxpolicy.policy.language import homes
from ctxpolicy.policy.model import ACTIONS
from ctxpolicy.policy.node import Path_
from ctxpolicy.policy.phrases import did_you_mean, listed, short, where


def describe_fault(fault: Fault) -> Said:
    """The finding that a fault is."""
    if fault.kind == "unknown" and fault.key is not None:
        return _unknown(fault.key, fault.path, list(fault.schema.get("properties", {})))
    if fault.kind == "missing":
        return _missing(str(fault.missing), fault)
    if fault.kind == "forbidden":
        return _forbidden(str(fault.key), fault)
    if fault.kind == "name":
        return Said("CP203", f"`{short(fault.value)}` is no code of a warning", "codes look like CP401", str(fault.key))
    if fault.kind in ("minProperties", "minItems", "minLength"):
        return _empty(fault)
    if fault.kind == "not" and not isinstance(fault.value, bool):
        return Said("CP207", f"{where(fault.path)} has no action", f"a rule has one of {listed(ACTIONS)}")
    return describe_value(fault)


def _unknown(key: str, path: Path_, known: list[str]) -> Said:
    hint = did_you_mean(key, known)
    if hint is None:
        elsewhere = homes().get(key, [])
        hint = f"`{key}` belongs under {listed(elsewhere[:4])}" if elsewhere else f"known here: {listed(known, 'and')}"
    place = f" in {where(path)}" if path else ""
    return Said("CP201", f"unknown key `{short(key)}`{place}", hint, key)


_NEEDS = {
    "version": "write `version: 1`",
    "id": "give it a name, such as `id: recent`",
    "when": "say when it acts, such as `when: {pressure: {gt: 0.7}}`",
    "match": "say which messages, such as `match: {role: tool}`",
    "at": "write `at: append` (when a message arrives) or `at: send` (before every model call)",
}


def _missing(key: str, fault: Fault) -> Said:
    action = fault.action
    owner = f"a rule with `{action}`" if action else where(fault.path)
    return Said("CP205", f"{owner} needs `{key}`", _NEEDS.get(key) or f"add `{key}: ...`", key)


def _forbidden(key: str, fault: Fault) -> Said:
    action = fault.action
    if key in ACTIONS:
        return Said(
            "CP206", f"a rule has one action, and this one has `{action}` already", f"make `{key}` a rule of its own"
        )
    hint = "it takes the oldest units there are; say with `keep` what must stay"
    return Said("CP206", f"`{action}` takes no `{key}`", hint)


def _empty(fault: Fault) -> Said:
    last = next((step for step in reversed(fault.path) if isinstance(step, str)), "")
    if fault.kind == "minLength":
        return Said("CP203", f"{where(fault.path)} is an empty text", "write one, or leave the key out")
    if fault.kind == "minItems":
        return Said("CP208", f"{where(fault.path)} is an empty list", "add an item, or leave the key out")
    hint = "give a key, or leave it out"
    if last in ("match", "keep", "not", "any", "all"):
        hint = "say `match: all` for every message" if last == "match" else "give at least one key"
    return Said("CP208", f"{where(fault.path)} is empty, and so says nothing", hint)
