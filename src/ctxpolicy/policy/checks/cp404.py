"""No archive.

`archive: false` keeps no originals.

Why: What leaves the list cannot be restored.

Bad:

    version: 1
    budget: {window: 128000}
    archive: false

Good:

    version: 1
    budget: {window: 128000}
    archive: {path: .ctxpolicy/archive}
"""

from __future__ import annotations

from collections.abc import Iterator

from ctxpolicy.policy.checks.problem import Context, Problem


def check(context: Context) -> Iterator[Problem]:
    if context.spec.archive.path is None:
        message = "without an archive, what leaves the list cannot be restored"
        yield Problem("CP404", ("archive",), message, "leave `archive` out for the default, or say why under `allow`")
