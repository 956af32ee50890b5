"""Word that looks like true or false.

`yes`, `no`, `on` or `off` stands unquoted where a field or metadata must equal it.

Why: In YAML 1.2 these are texts, so a caller's `True` never equals them.

Bad:

    version: 1
    budget: {window: 128000}
    pins:
      - {id: explicit, match: {meta: {pin: yes}}}

Good:

    version: 1
    budget: {window: 128000}
    pins:
      - {id: explicit, match: {meta: {pin: true}}}
"""

from __future__ import annotations

from collections.abc import Iterator

from ctxpolicy.policy.checks.problem import Context, Problem
from ctxpolicy.policy.checks.written import is_plain, texts
from ctxpolicy.policy.scalars import truth_word


def check(context: Context) -> Iterator[Problem]:
    for path, node in texts(context.document):
        meant = truth_word(str(node.value))
        if meant is not None and is_plain(node) and {"meta", "field"} & set(path[:-1]):
            shown = str(meant).lower()
            message = f"`{node.value}` is text in YAML 1.2, so it never equals {shown}"
            yield Problem("CP415", path, message, f"write `{shown}`, or `'{node.value}'` where the text is meant")
