"""One thing that the schema turns away, before and after it is put into words."""

from __future__ import annotations

from typing import Any, NamedTuple

import msgspec

from ctxpolicy.policy.node import Path_


class Fault(msgspec.Struct, frozen=True):
    """One thing that the schema rejects.

    `kind` is the schema's keyword, or unknown, missing, forbidden, name for what concerns a key. `value` stands at
    `path` and should have met `schema`. `key` is a key of the mapping there, `missing` one that it lacks. `action` is
    the action of the rule whose other keys are wrong.
    """

    kind: str
    path: Path_
    value: Any
    schema: dict[str, Any]
    key: str | None = None
    missing: str | None = None
    action: str | None = None


class Said(NamedTuple):
    """A finding before it has a place. Two with the same code, path and `about` are the same mistake."""

    code: str
    message: str
    hint: str | None = None
    about: str | None = None
