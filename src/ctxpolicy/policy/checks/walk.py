"""Every match, condition, pattern and template of a policy, with the path where it stands."""

from __future__ import annotations

from collections.abc import Iterator

from ctxpolicy.policy.model import Compact, Evict, Mask, Match, Refuse, Rule, Spec, Summarizer, Truncate, When
from ctxpolicy.policy.node import Path_

AT_APPEND = (Truncate, Refuse)  # what is possible when a message arrives
RANKS = ("newest", "oldest", "all_but_newest")

_KIND = {"Truncate": "truncate", "Mask": "mask", "Compact": "compact", "Evict": "evict", "Refuse": "refuse"}


def action_of(rule: Rule) -> str:
    """The word for a rule's action."""
    return _KIND[type(rule.action).__name__]


def rules(spec: Spec) -> Iterator[tuple[Path_, Rule]]:
    """Every rule with its path."""
    for index, rule in enumerate(spec.rules):
        yield ("rules", index), rule


def root_matches(spec: Spec) -> Iterator[tuple[Path_, Match]]:
    """The outermost match of every entry, pin, rule and `keep`."""
    for index, entry in enumerate(spec.read_as):
        yield ("read_as", index, "match"), entry.match
    for index, pin in enumerate(spec.pins):
        yield ("pins", index, "match"), pin.match
    for path, rule in rules(spec):
        if rule.match:
            yield (*path, "match"), rule.match
        if isinstance(rule.action, (Compact, Evict)) and rule.action.keep:
            yield (*path, action_of(rule), "keep"), rule.action.keep


def nested(path: Path_, match: Match, depth: int = 1) -> Iterator[tuple[Path_, Match, int]]:
    """A match and those inside it, each with its path and how deep it stands, from 1."""
    yield path, match, depth
    if match.not_:
        yield from nested((*path, "not"), match.not_, depth + 1)
    for key, inner in (("any", match.any_), ("all", match.all_)):
        for index, one in enumerate(inner or ()):
            yield from nested((*path, key, index), one, depth + 1)


def conditions(spec: Spec) -> Iterator[tuple[Path_, When]]:
    """Every `when` and `until`, those inside them included."""
    for path, rule in rules(spec):
        if rule.when:
            yield from _inside((*path, "when"), rule.when)
        until = getattr(rule.action, "until", None)
        if isinstance(until, When):
            yield from _inside((*path, action_of(rule), "until"), until)


def _inside(path: Path_, when: When) -> Iterator[tuple[Path_, When]]:
    yield path, when
    if when.not_:
        yield from _inside((*path, "not"), when.not_)
    for key, inner in (("any", when.any_), ("all", when.all_)):
        for index, one in enumerate(inner or ()):
            yield from _inside((*path, key, index), one)


def markers(spec: Spec) -> Iterator[tuple[Path_, str]]:
    """Every template that stands where something left: markers, placeholders and labels."""
    for path, rule in rules(spec):
        action = rule.action
        texts: dict[str, str | None] = {}
        if isinstance(action, Mask):
            texts = {"placeholder": action.placeholder}
        elif isinstance(action, (Truncate, Evict)):
            texts = {"marker": action.marker}
        elif isinstance(action, Compact):
            texts = {"label": action.label, "marker": action.marker}
        for key, text in texts.items():
            if text is not None:
                yield (*path, action_of(rule), key), text


def prompts(spec: Spec) -> Iterator[tuple[Path_, str]]:
    """Every compaction prompt that is written out."""
    for path, rule in rules(spec):
        if isinstance(rule.action, Compact) and rule.action.prompt is not None:
            yield (*path, "compact", "prompt"), rule.action.prompt


def patterns(spec: Spec) -> Iterator[tuple[Path_, str]]:
    """Every regular expression."""
    for root, match in root_matches(spec):
        for path, inner, _ in nested(root, match):
            several = inner.regex or ()
            for index, pattern in enumerate(several):
                yield (*path, "regex", index) if len(several) > 1 else (*path, "regex"), pattern
    for path, rule in rules(spec):
        if isinstance(rule.action, Truncate) and rule.action.keep_lines is not None:
            yield (*path, "truncate", "keep_lines"), rule.action.keep_lines


def control_character(pattern: str) -> str | None:
    """The first character of a pattern that nobody can see."""
    return next((char for char in pattern if ord(char) < 32 or ord(char) == 127), None)


def own_summarizers(spec: Spec) -> Iterator[tuple[Path_, tuple[Summarizer, ...]]]:
    """The summarizers that rules name for themselves."""
    for path, rule in rules(spec):
        if isinstance(rule.action, Compact) and rule.action.summarizer:
            yield (*path, "compact", "summarizer"), rule.action.summarizer


def given(match: Match) -> list[str]:
    """The names of the keys that a match gives."""
    return [name for name in Match.__struct_fields__ if getattr(match, name) not in (None, False)]
