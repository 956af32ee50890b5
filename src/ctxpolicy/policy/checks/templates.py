"""Templates: they use what they are given, say what is needed, and can be told apart from other text."""

from __future__ import annotations

from collections.abc import Iterator

from ctxpolicy import template
from ctxpolicy.cut import DEFAULT_TRUNCATE_MARKER
from ctxpolicy.policy.checks.problem import Context, Problem
from ctxpolicy.policy.checks.walk import action_of, markers, rules
from ctxpolicy.policy.model import Compact, Truncate
from ctxpolicy.policy.node import Path_
from ctxpolicy.tokens import counter

FEWEST_WORDS = 6  # letters and digits of its own by which a marker is known again
# The longest that a marker can get: a text of a hundred million characters, a long tool name.
_LARGEST = {
    "count": "99,999",
    "chars": "99,999,999",
    "lines": "9,999,999",
    "tokens": "99,999,999",
    "tool": "a_tool_with_a_long_name",
    "ref": "0" * 12,
}


def _prompts(context: Context) -> Iterator[Problem]:
    for path, rule in rules(context.spec):
        if not isinstance(rule.action, Compact) or rule.action.prompt is None:
            continue
        place = (*path, "compact", "prompt")
        checked = template.check(rule.action.prompt, template.PROMPT_VARIABLES)
        yield from _faults(place, checked)
        if not checked.faults and "span" not in checked.variables:
            message = "the prompt never shows the summarizer what to summarise"
            yield Problem("CP312", place, message, "put `{{ span }}` where the transcript belongs")


def _markers(context: Context) -> Iterator[Problem]:
    archived = context.spec.archive.path is not None
    for path, text in markers(context.spec):
        checked = template.check(text, template.MARKER_VARIABLES)
        yield from _faults(path, checked)
        if checked.faults:
            continue
        name = path[-1]
        if not template.is_plain(text):
            message = f"a {name} is known again by its words, so it can only use `{{{{ name }}}}`"
            yield Problem("CP311", path, message, "leave out `{% ... %}`, filters and comments")
        elif archived and "ref" not in checked.variables:
            message = f"this {name} has no reference, so what it stands for could not be found in the archive"
            yield Problem("CP312", path, message, "put `{{ ref }}` into it, or set `archive: false`")
        elif sum(map(str.isalnum, template.literal(text))) < FEWEST_WORDS:
            message = f"this {name} has hardly a word of its own, so it could not be told from other text"
            yield Problem(
                "CP313", path, message, "add a few words that stay the same, such as `left out, ref {{ ref }}`"
            )


def _faults(path: Path_, checked: template.Checked) -> Iterator[Problem]:
    for fault in checked.faults:
        yield Problem("CP311", path, fault.message, fault.hint, line=fault.line)


def _cap(context: Context) -> Iterator[Problem]:
    """A cap that the marker alone fills leaves no room for the text."""
    if context.unsure & {"budget"} or context.spec.budget.counter.startswith("tokenizer:"):
        count = counter("estimate")
    else:
        count = counter(context.spec.budget.counter)
    for path, rule in rules(context.spec):
        action = rule.action
        if not isinstance(action, Truncate):
            continue
        text = DEFAULT_TRUNCATE_MARKER if action.marker is None else action.marker
        if template.check(text, template.MARKER_VARIABLES).faults or not template.is_plain(text):
            continue
        size = count(template.compile(text)(**_LARGEST))
        if action.max_tokens <= size:
            message = f"max_tokens {action.max_tokens:,} leaves no room: the marker alone may take {size:,} tokens"
            yield Problem(
                "CP306", (*path, action_of(rule), "max_tokens"), message, f"allow more than {size:,}; 2000 is usual"
            )


CHECKS = (_prompts, _markers, _cap)
