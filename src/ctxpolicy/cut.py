"""Cutting one text down to a cap: its head and tail stay, a marker between them says what is missing.

Everything is measured in characters while a cut is made; `_fit` finds the number of characters that meets the caps, so
a counter is asked about texts the size of the cap and never about each candidate place.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import cache
from math import inf, isqrt

import msgspec
import re2

from ctxpolicy import cut_json
from ctxpolicy.graphemes import settle
from ctxpolicy.policy.model import Truncate

DEFAULT_TRUNCATE_MARKER = "\n... [{{ chars }} chars dropped, {{ lines }} lines, ref {{ ref }}.] ...\n"
DEFAULT_ELEMENTS_MARKER = "... [{{ count }} of {{ total }} {{ kind }} left out, ref {{ ref }}.] ..."
NOTICE = "This was JSON. It was cut as text and does not parse.\n"

NEAR = 16  # a piece gives up to a sixteenth of itself to end with a whole line
SAVED = 2  # lines saved by `keep_lines` take up to half of the room
FULL = 0.98  # of a cap; from here on a longer cut is not looked for

_LINE = re.compile(r"[^\r\n]+(?:\r\n|\r|\n)?")

Marker = Callable[..., str]
Range = tuple[int, int]


def cut(text: str, how: Truncate, count: Callable[[str], int], ref: str, marker: Marker | None = None) -> str | None:
    """`text` shortened to `how`, or None where it is within the caps or no shorter text with its marker is.

    `count` gives the tokens of a text. `ref` is the reference of the original. `marker` renders the policy's own
    marker from `count`, `chars`, `lines`, `tokens` (what is missing; numbers with thousands commas; `count` is elements
    in JSON, else lines) and `ref`; None is the default text. The result is within the caps and shorter than the text,
    so cutting it again gives None.
    """
    marks = _Marks(count, ref, marker)
    caps = _Caps.of(text, how, marks)
    if caps.full <= 1:
        return None
    knife = _Knife(how, marks)
    if not cut_json.is_document(text):
        return _fit(lambda room: knife.squeeze(text, room), caps)
    if how.json == "prune":
        pruner = cut_json.Pruner(knife.squeeze, marks.text, marks.elements, knife.head)
        pruned = _fit(lambda room: pruner.prune(text, room), caps)
        if pruned is not None:
            return pruned
    return _fit(lambda room: _noticed(knife.squeeze(text, room - len(NOTICE))), caps)


def count_breaks(text: str) -> int:
    """Line breaks in a text: LF, CR, and CRLF as one."""
    return text.count("\n") + text.count("\r") - text.count("\r\n")


def count_lines(text: str) -> int:
    """Lines in a text; one without a break at its end counts."""
    return count_breaks(text) + (not text.endswith(("\n", "\r")) and text != "")


def _render(template: str, **variables: str) -> str:
    """The default texts are templates only to be read by others; they need no Jinja."""
    for name, value in variables.items():
        template = template.replace(f"{{{{ {name} }}}}", value)
    return template


def _noticed(text: str | None) -> str | None:
    return None if text is None else NOTICE + text


class _Caps(msgspec.Struct, frozen=True):
    """What a cut has to meet: at most so many tokens and lines, fewer characters than the text, its reference in it.

    `full` is how full the text itself makes the fullest cap; above 1 it has to be cut.
    """

    count: Callable[[str], int]
    tokens: int
    lines: float
    chars: int
    ref: str
    full: float

    @classmethod
    def of(cls, text: str, how: Truncate, marks: _Marks) -> _Caps:
        tokens, lines = marks.count(text), how.max_lines or inf
        full = max(tokens / how.max_tokens, count_lines(text) / lines)
        ref = marks.ref if marks.ref in marks.text("") else ""
        return cls(marks.count, min(how.max_tokens, tokens), lines, len(text), ref, full)

    def load(self, made: str) -> float:
        """How full `made` makes the fullest cap. Without the reference it is no cut: JSON may only have lost spaces."""
        if len(made) >= self.chars or self.ref not in made:
            return inf
        return max(self.count(made) / self.tokens, count_lines(made) / self.lines)


def _fit(render: Callable[[int], str | None], caps: _Caps) -> str | None:
    """The longest text found that `render` makes in some number of characters and that is not over the caps.

    `render` gives None where its room is too small for a marker. The first guesses assume that tokens grow with
    characters, the rest halve the interval on a logarithmic scale.
    """
    best, low, high = "", 0, caps.chars
    room, guesses = int(high / caps.full), 3
    while high - low > 1 + low // 128:
        if guesses == 0 or not low < room < high:
            room = isqrt((low + 1) * high)
        guesses = max(0, guesses - 1)
        made = render(room)
        full = 0.0 if made is None else caps.load(made)
        if full > 1:
            high = room
        else:
            low, best = room, max(best, made or "", key=len)
        if FULL <= full <= 1:
            break
        room = int(room / full) if 0 < full < inf else 0
    return best or None


class _Later(msgspec.Struct, frozen=True):
    """A number that is only worked out where a template prints it."""

    count: Callable[[str], int]
    text: str

    def __str__(self) -> str:
        return f"{self.count(self.text):,}"


class _Marks(msgspec.Struct, frozen=True):
    """The markers of one cut."""

    count: Callable[[str], int]
    ref: str
    marker: Marker | None

    def text(self, dropped: str) -> str:
        """The marker that stands for a piece of text."""
        chars, lines = f"{len(dropped):,}", f"{count_breaks(dropped):,}"
        if self.marker is None:
            return _render(DEFAULT_TRUNCATE_MARKER, chars=chars, lines=lines, ref=self.ref)
        return self.marker(count=lines, chars=chars, lines=lines, tokens=_Later(self.count, dropped), ref=self.ref)

    def elements(self, dropped: Iterable[str], left_out: int, total: int, kind: str) -> str:
        """The marker that stands for elements or keys of a JSON value."""
        if self.marker is None:
            of = {"count": f"{left_out:,}", "total": f"{total:,}", "kind": kind}
            return _render(DEFAULT_ELEMENTS_MARKER, ref=self.ref, **of)
        text = ",".join(dropped)
        chars, lines, tokens = f"{len(text):,}", f"{count_breaks(text):,}", _Later(self.count, text)
        return self.marker(count=f"{left_out:,}", chars=chars, lines=lines, tokens=tokens, ref=self.ref).strip()


class _Knife:
    """Cuts texts to a number of characters, as one `truncate` says."""

    def __init__(self, how: Truncate, marks: _Marks) -> None:
        self.marks = marks
        self.head = how.head / (how.head + how.tail or 1)
        self.widest = cache(lambda text: len(marks.text(text)))  # no marker inside `text` is longer
        self.wanted = cache(lambda text: _matching_lines(text, how.keep_lines) if how.keep_lines else ())

    def squeeze(self, text: str, room: int) -> str | None:
        """`text` without its middle in at most `room` characters, markers included; None where no marker fits."""
        if len(text) <= room:
            return text
        keep = room - self.widest(text)
        if keep < 0:
            return None
        return self._assemble(text, self._kept(text, keep))

    def _kept(self, text: str, keep: int) -> list[Range]:
        """The ranges that stay, in order and apart: head, saved lines, tail; at most `keep` characters in all."""
        saved = self._saved(text, keep) if self.wanted(text) else []
        keep -= sum(end - start + self.widest(text) for start, end in saved)
        start, end = self._ends(text, keep)
        kept = [(0, start)]
        for piece in [*saved, (end, len(text))]:
            if piece[0] - kept[-1][1] <= self.widest(text):  # a marker here would save nothing
                kept[-1] = (kept[-1][0], max(kept[-1][1], piece[1]))
            else:
                kept.append(piece)
        return kept

    def _ends(self, text: str, keep: int) -> Range:
        """Where the head ends and the tail begins; what the head leaves of its share is the tail's."""
        head = settle(text, _line_before(text, int(keep * self.head)), -1)
        left = keep - head if self.head < 1 else 0
        return head, settle(text, _line_after(text, len(text) - left), 1)

    def _saved(self, text: str, keep: int) -> list[Range]:
        """The first wanted lines of the middle that fit, each with a marker of its own, into their part of `keep`."""
        room, mark = keep // SAVED, self.widest(text)
        start, end = self._ends(text, keep - room)
        saved = []
        for line in self.wanted(text):
            cost = line[1] - line[0] + mark
            if room <= mark:
                break
            if start <= line[0] and line[1] <= end and cost <= room:
                saved.append(line)
                room -= cost
        return saved

    def _assemble(self, text: str, kept: list[Range]) -> str:
        out, last = [], 0
        for start, end in kept:
            if start > last:
                out.append(self.marks.text(text[last:start]))
            out.append(text[start:end])
            last = end
        return "".join(out)


def _line_before(text: str, place: int) -> int:
    """The end of the last line that ends at or shortly before `place`, else `place`."""
    floor = place - place // NEAR
    return max(text.rfind("\n", floor, place), text.rfind("\r", floor, place)) + 1 or place


def _line_after(text: str, place: int) -> int:
    """The start of the first line that begins at or shortly after `place`, else `place`."""
    ceiling = place + (len(text) - place) // NEAR
    found = [at for at in (text.find("\n", place - 1, ceiling), text.find("\r", place - 1, ceiling)) if at >= 0]
    return min(found) + 1 if found and place else place


def _matching_lines(text: str, pattern: str) -> tuple[Range, ...]:
    """The lines in which the pattern is found, each with its line break. RE2 takes no lone surrogates: `?` for it."""
    search = re2.compile(pattern).search
    clean = text.encode("utf-8", "replace").decode("utf-8")
    return tuple(found.span() for found in _LINE.finditer(clean) if search(found[0].rstrip("\r\n")))
