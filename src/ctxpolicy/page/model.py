"""What a page shows, ready to be laid out: words, numbers and positions, no HTML."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Tile:
    """A figure with what it is, and a line to judge it by."""

    label: str
    value: str
    hint: str = ""


@dataclass(frozen=True, slots=True)
class Rail:
    """A threshold across the chart, `top` percent from its upper edge."""

    text: str
    top: float


@dataclass(frozen=True, slots=True)
class Mark:
    """What was done at a call: `left` percent along the chart; `kind` is an action, or `failed`."""

    left: float
    kind: str
    text: str


@dataclass(frozen=True, slots=True)
class Chart:
    """Pressure over calls. Paths are SVG path data in a square of 1000 x 1000.

    `sent` is what went out, `whole` what keeping everything would send (it may leave the chart at the top).
    """

    sent: str
    area: str
    whole: str
    rails: Sequence[Rail]
    marks: Sequence[Mark]
    ticks: Sequence[Rail]
    calls: int
    kinds: Sequence[str]


@dataclass(frozen=True, slots=True)
class Bar:
    """A role or tool: its share of the tokens in the list, and of those sent over the session."""

    name: str
    calls: int
    tokens: int
    share: float
    sent: int
    sent_share: float
    high: int
    largest: int
    repeated: int


@dataclass(frozen=True, slots=True)
class Row:
    """A message and its fate. `left` is what is left of its tokens."""

    index: int
    role: str
    tool: str
    tokens: int
    fate: str
    by: str
    left: int
    text: str


@dataclass(frozen=True, slots=True)
class Note:
    """What a rule did or why it did not; `mood` is `acted`, `quiet` or `failed`."""

    call: str
    rule: str
    text: str
    change: str
    mood: str


@dataclass(frozen=True, slots=True)
class Section:
    """One session."""

    name: str
    tiles: Sequence[Tile]
    chart: Chart | None
    roles: Sequence[Bar]
    tools: Sequence[Bar]
    notes: Sequence[Note]
    rows: Sequence[Row]
    when: str = ""  # the moment of which the rows tell
    left_out: int = 0  # rows too many for a page
    verdict: Sequence[str] = ()
    passed: bool | None = None  # None: nothing was judged


@dataclass(frozen=True, slots=True)
class Line:
    """A session among others: its name and figures."""

    name: str
    cells: Sequence[str]
    bad: bool = False


@dataclass(frozen=True, slots=True)
class Page:
    """A page. `overall` is what fills all sessions together, `lines` has a line for each where there are several."""

    title: str
    subtitle: str
    sections: Sequence[Section]
    overall: Section | None = None
    titles: Sequence[str] = ()
    lines: Sequence[Line] = ()
    unshown: int = 0  # sessions that have a line and no section
    thresholds: Sequence[tuple[str, str, str, str]] = field(default=())
