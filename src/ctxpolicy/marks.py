"""The texts the policy puts into a list, and how they are known again without any state.

Gap markers are known by their whole text, summaries by the lines of their label, placeholders by their template;
each variable of a template matches anything. Only user messages can be marks.
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

Render = Callable[..., str]
VARIABLES = ("count", "chars", "lines", "tokens", "tool", "ref")


class Mark(msgspec.Struct, frozen=True, dict=True):
    """A text template with the pattern that finds it again. Amounts reach the template with thousands commas."""

    render: Render

    def text(self, *, count: int = 0, chars: int = 0, lines: int = 0, tokens: int = 0, tool: str = "", ref: str) -> str:
        return self.render(
            count=f"{count:,}", chars=f"{chars:,}", lines=f"{lines:,}", tokens=f"{tokens:,}", tool=tool, ref=ref
        )

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """The template as a pattern: rendered with stand-ins that become wild cards, `count` and `ref` captured."""
        stand_ins = {name: f"\ue000{name}\ue001" for name in VARIABLES}
        source = re.escape(self.render(**stand_ins))
        for name, stand_in in stand_ins.items():
            wild = {"count": r"([\d,]+)", "ref": "([0-9a-f]{12})"}.get(name, ".*?")
            first = f"(?P<{name}>{wild[1:-1]})" if name in ("count", "ref") else wild
            source = source.replace(re.escape(stand_in), first, 1).replace(re.escape(stand_in), wild)
        return re.compile(source, re.DOTALL)


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
        for mark in self.labels:
            found = mark.pattern.match(text)
            if found and text[found.end() : found.end() + 1] in ("", "\n"):
                return _known("summary", found)
        for mark in self.markers:
            found = mark.pattern.fullmatch(text)
            if found:
                return _known("gap", found)
        return None

    def is_placeholder(self, text: str) -> bool:
        return any(mark.pattern.fullmatch(text) for mark in self.placeholders)


def _known(kind: Ours, found: re.Match[str]) -> Known:
    named = found.groupdict()
    count = named.get("count")
    return Known(kind, int(count.replace(",", "")) if count else 0, named.get("ref"))


def marks(labels: list[Render], markers: list[Render], placeholders: list[Render]) -> Marks:
    """The marks of a policy from its compiled templates."""
    made = [tuple(Mark(render) for render in renders) for renders in (labels, markers, placeholders)]
    openings = {mark.render(**dict.fromkeys(VARIABLES, "\ue000")).partition("\ue000")[0][:1] for mark in (*made[0], *made[1])}
    return Marks(made[0], made[1], made[2], tuple(sorted(openings)))
