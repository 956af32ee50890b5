"""Template without words of its own.

A text that stands where something left has hardly anything but variables.

Why: It is known again by its words when the list comes back. Without any, every short message would look like it.

Bad:

    version: 1
    budget: {window: 128000}
    rules:
      - {id: make-room, when: {pressure: {gt: 0.9}}, evict: {until: all, marker: '{{ count }} {{ ref }}'}}

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
from ctxpolicy.policy.checks.walk import markers

FEWEST_WORDS = 6  # letters and digits of its own by which a text is known again


def check(context: Context) -> Iterator[Problem]:
    if too_long(context.spec):
        return  # CP311 says so
    archived = context.spec.archive.path is not None
    for path, text in markers(context.spec):
        checked = template.check(text, template.MARKER_VARIABLES)
        if checked.faults or not template.is_plain(text) or (archived and "ref" not in checked.variables):
            continue  # CP311 and CP312 say more
        if sum(map(str.isalnum, template.literal(text))) < FEWEST_WORDS:
            message = f"this {path[-1]} has hardly a word of its own, so it could not be told from other text"
            hint = "add a few words that stay the same, such as `left out, ref {{ ref }}`"
            yield Problem("CP313", path, message, hint)
