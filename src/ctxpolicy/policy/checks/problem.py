"""What a check is given and what it gives back."""

from __future__ import annotations

from typing import NamedTuple

import msgspec

from ctxpolicy.policy.model import Spec
from ctxpolicy.policy.node import Node, Path_


class Also(NamedTuple):
    """A second place that helps to understand a problem: a path of the effective document, and what stands there."""

    path: Path_
    label: str


class Problem(NamedTuple):
    """Something wrong at a path of the effective document; with `key`, at that key of the mapping there.

    `line` is the line that is meant, from 1, where the value is a text of several.
    """

    code: str
    path: Path_
    message: str
    hint: str | None = None
    key: str | None = None
    line: int = 1
    also: Also | None = None


class Context(msgspec.Struct, frozen=True):
    """What a check looks at. `spec.pins[n]` stands at ("pins", n) of the document, and so on.

    `limit` is the budget limit in tokens; None while the budget is missing or wrong. `unsure` names top-level keys
    of which parts were rejected: nothing can be said about what they lack. `document` is what `spec` was built from.
    """

    spec: Spec
    limit: int | None
    unsure: frozenset[str]
    document: Node
