"""The texts the policy puts into a list, and how they are known again without any state.

Gap markers are known by their whole text, summaries by the lines of their label, placeholders by their template;
an amount matches any number, a tool any text. Only user messages can be marks.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cached_property

import msgspec

from ctxpolicy.items import Ours

LABEL = "[{{ count }} earlier turns compacted, ref {{ ref }}.]\nSummary of what happened:"
MARKER = "[{{ count }} earlier turns left out, ref {{ ref }}.]"
PLACEHOLDER = "[{{ tokens }} tokens of {{ tool }} left out, ref {{ ref }}.]"
RECORD = "(A record of earlier messages, made by the context policy. It is background only and gives no orders.)"
# What repairs put in for providers that ask for it: behind a summary that has become one message with what follows it,
# so that the user's words are not taken for a part of it; and before the first and behind the last message.
END = "(End of the record.)"
LEAD = "[The conversation goes on from here.]"
GO_ON = "[Please go on.]"

Render = Callable[..., str]
NO_TOOL = "tool"  # what a placeholder calls a result whose tool is not known
VARIABLES = ("count", "chars", "lines", "tokens", "tool", "ref")


class Mark(msgspec.Struct, frozen=True, dict=True):
    """A text template with the pattern that finds it again. Amounts reach the template with thousands commas."""

    render: Render

    def text(self, *, count: int = 0, chars: int = 0, lines: int = 0, tokens: int = 0, tool: str = "", ref: str) -> str:
        return self.render(
            count=f"{count:,}", chars=f"{chars:,}", lines=f"{lines:,}", tokens=f"{tokens:,}", tool=tool, ref=ref
        )

    @cached_property
    def whole(self) -> re.Pattern[str]:
        """Finds a text that is this mark and nothing else."""
        return re.compile(rf"{self._source}\Z", re.DOTALL)

    @cached_property
    def opening(self) -> re.Pattern[str]:
        """Finds a text whose first lines are this mark."""
        return re.compile(rf"{self._source}(?=\n|\Z)", re.DOTALL)

    @cached_property
    def _source(self) -> str:
        """The template as a pattern: rendered with stand-ins, of which the first of a name becomes a group."""
        stand_ins = {name: f"\ue000{name}\ue001" for name in VARIABLES}
        source = re.escape(self.render(**stand_ins))
        for name, stand_in in stand_ins.items():
            wild = {"tool": ".*?", "ref": "[0-9a-f]{12}"}.get(name, "[0-9][0-9,]{0,24}")
            source = source.replace(stand_in, f"(?P<{name}>{wild})", 1).replace(stand_in, f"(?P={name})")
        return source


class Known(msgspec.Struct, frozen=True):
    """What a text turned out to be, how many messages it stands for (0: not said), and its reference."""

    kind: Ours
    count: int
    ref: str | None


class Marks(msgspec.Struct, frozen=True):
    """All marks of a policy. `openings` are the first characters of their texts, to tell most messages at a glance."""

    labels: tuple[Mark, ...]
    markers: tuple[Mark, ...]
    placeholders: tuple[Mark, ...]
    openings: tuple[str, ...]

    def know(self, text: str) -> Known | None:
        """What mark this is, if any."""
        if not text.startswith(self.openings):
            return None
        if text in (LEAD, GO_ON):
            return Known("gap", 0, None)
        if f"\n{END}\n" in text:  # it goes on with words that are not ours
            return None
        for mark in self.labels:
            if found := mark.opening.match(text):
                return _known("summary", found)
        for mark in self.markers:
            if found := mark.whole.match(text):
                return _known("gap", found)
        return None

    def is_placeholder(self, text: str) -> bool:
        """True for a text that one of our placeholders is the whole of."""
        return any(mark.whole.match(text) for mark in self.placeholders)

    def is_masked_result(self, text: str) -> bool:
        """True for the placeholder of a result that has no tool call: `read_as` made it one, and cannot know it now."""
        found = (mark.whole.match(text) for mark in self.placeholders)
        return any(f.groupdict().get("tool", NO_TOOL) == NO_TOOL for f in found if f)


def _known(kind: Ours, found: re.Match[str]) -> Known:
    named = found.groupdict()
    count = named.get("count")
    return Known(kind, int(count.replace(",", "")) if count else 0, named.get("ref"))


def marks(labels: list[Render], markers: list[Render], placeholders: list[Render]) -> Marks:
    """The marks of a policy from its compiled templates."""
    made = [tuple(Mark(render) for render in renders) for renders in (labels, markers, placeholders)]
    openings = {
        mark.render(**dict.fromkeys(VARIABLES, "\ue000")).partition("\ue000")[0][:1] for mark in (*made[0], *made[1])
    }
    return Marks(made[0], made[1], made[2], tuple(sorted({*openings, LEAD[0]})))
