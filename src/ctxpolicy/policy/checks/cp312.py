"""Template without a variable that it needs.

A prompt does not show the span, or a text that stands for what left has no reference.

Why: A summariser that does not see the transcript invents one. Without its reference a marker leads to nothing in the
archive, and what left could not be restored.

Bad:

    version: 1
    budget: {window: 128000}
    rules:
      - {id: make-room, when: {pressure: {gt: 0.9}}, evict: {until: all, marker: '[some earlier turns left out]'}}

Good:

    version: 1
    budget: {window: 128000}
    rules:
      - id: make-room
        when: {pressure: {gt: 0.9}}
        evict: {until: all, marker: '[{{ count }} earlier turns left out, ref {{ ref }}]'}
"""

from __future__ import annotations

from collections.abc import Iterator

from ctxpolicy import template
from ctxpolicy.policy.checks.problem import Context, Problem
from ctxpolicy.policy.checks.templates import too_long
from ctxpolicy.policy.checks.walk import markers, prompts


def check(context: Context) -> Iterator[Problem]:
    if too_long(context.spec):
        return  # CP311 says so
    for path, text in prompts(context.spec):
        checked = template.check(text, template.PROMPT_VARIABLES)
        if not checked.faults and "span" not in checked.variables:
            message = "the prompt never shows the summarizer what to summarise"
            yield Problem("CP312", path, message, "put `{{ span }}` where the transcript belongs")
    if context.spec.archive.path is None:
        return
    for path, text in markers(context.spec):
        checked = template.check(text, template.MARKER_VARIABLES)
        if not checked.faults and template.is_plain(text) and "ref" not in checked.variables:
            message = f"this {path[-1]} has no reference, so what it stands for could not be found in the archive"
            yield Problem("CP312", path, message, "put `{{ ref }}` into it, or set `archive: false`")
