"""Bad template.

A template cannot be read, uses a variable that it is not given, or does more than print, choose and repeat.

Why: Templates are judged before anything of them is compiled or run: Jinja2 computes constants while it compiles, so
that `{{ 9 ** 9 ** 9 }}` would never end. Calls, imports, arithmetic and reaching into values are turned away. Texts
that stand where something left are known again by their words, so they can only print variables.

Bad:

    version: 1
    budget: {window: 128000}
    rules:
      - id: shorten
        when: {pressure: {gt: 0.7}}
        compact:
          until: {pressure: {lt: 0.5}}
          prompt: 'Summarise in {{ words }} words. {{ span }}'

Good:

    version: 1
    budget: {window: 128000}
    rules:
      - id: shorten
        when: {pressure: {gt: 0.7}}
        compact:
          until: {pressure: {lt: 0.5}}
          prompt: 'Summarise in {{ word_limit }} words. {{ span }}'
"""

from __future__ import annotations

from collections.abc import Iterator

from ctxpolicy import template
from ctxpolicy.policy.checks.problem import Context, Problem
from ctxpolicy.policy.checks.templates import MOST, too_long
from ctxpolicy.policy.checks.walk import markers, prompts

# What a prompt may be given: the first and later compactions, with and without a user's task.
_TRIALS = tuple(
    {"span": "text", "word_limit": 200, "nothing": "NOTHING", "count": 2, "previous": previous, "task": task}
    for previous in (None, "text")
    for task in ("", "text")
)


def check(context: Context) -> Iterator[Problem]:
    if place := too_long(context.spec):
        what = f"those with more than `{{{{ name }}}}` may have {MOST:,} characters together"
        message, hint = f"the templates of this policy are too long: {what}", "say less, or let rules share one text"
        yield Problem("CP311", place, message, hint)
        return
    for path, text in prompts(context.spec):
        checked = template.check(text, template.PROMPT_VARIABLES)
        for fault in checked.faults or _tried(text):
            yield Problem("CP311", path, fault.message, fault.hint, line=fault.line)
    for path, text in markers(context.spec):
        checked = template.check(text, template.MARKER_VARIABLES)
        for fault in checked.faults:
            yield Problem("CP311", path, fault.message, fault.hint, line=fault.line)
        if not checked.faults and not template.is_plain(text):
            message = f"a {path[-1]} is known again by its words, so it can only use `{{{{ name }}}}`"
            yield Problem("CP311", path, message, "leave out `{% ... %}`, filters and comments")


def _tried(text: str) -> tuple[template.Fault, ...]:
    """A template that may stand but fails when it is written out, as one that compares a text with a number does."""
    render = template.compile(text, template.PROMPT_VARIABLES)
    try:
        for trial in _TRIALS:
            render(**trial)
    except template.TemplateError as error:
        return (template.Fault(str(error), 1, "`count` and `word_limit` are numbers, all other variables are texts"),)
    return ()
