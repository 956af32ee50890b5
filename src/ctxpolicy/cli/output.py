"""What the terminal gets: widths, colours, bars and tables."""

from __future__ import annotations

import os
import shutil
import sys
import textwrap
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import click
import msgspec

_NO_LIMIT = 10_000  # columns
_WAIT = 0.5  # seconds before progress is shown, and between two updates
TOO_DEEP = "is nested too deeply to be read; flatten what is in it"
Tick = Callable[[], None]
_EIGHTHS = " ▏▎▍▌▋▊▉█"


def terminal_width() -> int:
    """Columns to write in: those of the terminal, or COLUMNS; what goes into a pipe or file is never cut."""
    return max(1, shutil.get_terminal_size(fallback=(_NO_LIMIT, 0)).columns)


def coloured() -> bool:
    """Whether standard output takes colour: a terminal that is not dumb, and NO_COLOR (no-color.org) is not set."""
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def paint(text: str, **style: Any) -> str:
    """The text in a style (`click.style`), or as it is where there is no colour."""
    return click.style(text, **style) if coloured() else text


def note(text: str) -> None:
    """A line beside the results, on standard error."""
    click.echo(text, err=True)


@contextmanager
def progress(things: str) -> Iterator[Tick]:
    """Counts on standard error how many `things` are done, where that is a terminal and it takes a while."""
    shown, count, due = sys.stderr.isatty(), 0, time.monotonic() + _WAIT
    written = False

    def tick() -> None:
        nonlocal count, due, written
        count += 1
        if shown and time.monotonic() >= due:
            due, written = time.monotonic() + _WAIT, True
            click.echo(f"\r{count:,} {things}", err=True, nl=False)

    try:
        yield tick
    finally:
        if written:
            click.echo("\r" + " " * (len(things) + 12) + "\r", err=True, nl=False)


def printable(text: str) -> str:
    """A text from a transcript on one line, without what could steer the terminal."""
    return "".join(char if char.isprintable() else "?" for char in text)


def fit(text: str, width: int) -> str:
    """The text cut to `width` characters, the last being an ellipsis where something is missing."""
    return text if len(text) <= width else text[: width - 1] + _ellipsis() if width > 0 else ""


def bar(share: float, cells: int) -> str:
    """A share of 1.0 as a bar of `cells` characters; more than 1.0 fills it."""
    eighths = round(max(0.0, min(share, 1.0)) * cells * 8)
    if not can_show(_EIGHTHS):
        return ("#" * (eighths // 8)).ljust(cells, ".")
    return ("█" * (eighths // 8) + _EIGHTHS[eighths % 8].strip()).ljust(cells)


def wrap(text: str, width: int) -> list[str]:
    """A sentence in lines of at most `width` characters, those after the first indented."""
    indent = " " * (len(text) - len(text.lstrip()) + 2) if width > 40 else ""
    return textwrap.wrap(text, width, subsequent_indent=indent, break_on_hyphens=False)


def counted(number: int, thing: str) -> str:
    """`1 message`, `2 messages`."""
    return f"{number:,} {thing}{'' if number == 1 else 's'}"


def can_show(text: str) -> bool:
    """Whether standard output has all these characters."""
    try:
        text.encode(getattr(sys.stdout, "encoding", None) or "ascii")
    except UnicodeEncodeError:
        return False
    return True


def _ellipsis() -> str:
    return "…" if can_show("…") else "~"


class Column(msgspec.Struct, frozen=True):
    """A column of a table. It may be cut down to `least` characters; where all are, the highest `drop` goes first."""

    title: str
    right: bool = False
    least: int | None = None  # None: never cut
    drop: int = 0
    end: bool = False  # where it is cut, the end stays


def table(columns: Sequence[Column], rows: Sequence[Sequence[str]], width: int) -> list[str]:
    """The lines of a table, its titles first, none longer than `width`. The last column is not padded."""
    wanted = [max(len(c.title), *(len(row[i]) for row in rows), 0) for i, c in enumerate(columns)]
    shown = [i for i, size in enumerate(wanted) if any(row[i] for row in rows)] or [0]
    while len(shown) > 1 and _total(_floor(columns, wanted, i) for i in shown) > width:
        shown.remove(max(shown, key=lambda i: (columns[i].drop, i)))
    sizes = {i: wanted[i] for i in shown}
    while (over := _total(sizes.values()) - width) > 0:
        widest = max(shown, key=lambda i: sizes[i] - _floor(columns, wanted, i))
        spare = sizes[widest] - _floor(columns, wanted, widest)
        if spare <= 0:
            break
        sizes[widest] -= max(1, min(over, spare) // 2)
    lines = [[c.title for c in columns], *rows]
    return [fit(_line(columns, line, sizes), width) for line in lines]


def _total(sizes: Iterable[int]) -> int:
    return sum(size + 2 for size in sizes) - 2


def _floor(columns: Sequence[Column], wanted: Sequence[int], i: int) -> int:
    least = columns[i].least
    return wanted[i] if least is None else min(wanted[i], least)


def _line(columns: Sequence[Column], cells: Sequence[str], sizes: dict[int, int]) -> str:
    texts = [(_fit(columns[i], cells[i], size), columns[i].right, size) for i, size in sizes.items()]
    return "  ".join(text.rjust(size) if right else text.ljust(size) for text, right, size in texts).rstrip()


def _fit(column: Column, text: str, width: int) -> str:
    return fit(text[::-1], width)[::-1] if column.end else fit(text, width)
