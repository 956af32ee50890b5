"""Text that ends before a number sign.

A plain text is followed by ` #`, which begins a comment.

Why: What follows is not part of the text. An issue number or a colour needs quotes around the whole text.

Bad:

    version: 1
    budget: {window: 128000}
    pins:
      - id: ticket
        match:
          contains: ticket #4711
          newest: 1

Good:

    version: 1
    budget: {window: 128000}
    pins:
      - id: ticket
        match:
          contains: 'ticket #4711'
          newest: 1
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ctxpolicy.policy.checks.problem import Context, Problem
from ctxpolicy.policy.checks.written import is_plain, texts

_CUT = re.compile(r"\s+#[A-Za-z0-9_]+")  # a comment that is meant as one has a space after its sign


def check(context: Context) -> Iterator[Problem]:
    for path, node in texts(context.document):
        if is_plain(node) and (cut := _CUT.match(node.rest_of_line())):
            message = f"the text ends before `{cut[0].strip()}`: ` #` begins a comment"
            hint = f"use single quotes: `'{node.value}{cut[0]}'`; a comment has a space after `#`"
            yield Problem("CP416", path, message, hint)
