"""Places where a text may be cut: never inside what a reader sees as one character, never inside a data URI."""

from __future__ import annotations

import re

CLUSTER = 128  # characters around a place that are looked at; a longer cluster is no character to anyone
MOVES = 128  # from one data URI into the next that hangs on it; no real text has such a chain
FLAGS_RUN = 4096  # regional indicators that are counted back to find out which two make a flag

_FLAGS = "".join(map(chr, range(0x1F1E6, 0x1F200)))
# A data URI with its payload; `\/` is how some JSON writers spell a slash.
_DATA_URI = re.compile(
    r"data:[\w.+\\/-]{0,100}(?:;[\w.+=-]{1,100}){0,9};base64,[A-Za-z0-9+/=_%-]*+(?:\\/[A-Za-z0-9+/=_%-]*+)*+"
)


def settle(text: str, place: int, step: int) -> int:
    """The nearest place at or before `place` (`step` -1) or at or after it (`step` 1) where `text` may be cut."""
    for _ in range(MOVES):
        start, end = _uri_around(text, place)
        place = _cluster_edge(text, start if step < 0 else end, step)
        if _uri_around(text, place) == (place, place):
            break
    return place


def _uri_around(text: str, place: int) -> tuple[int, int]:
    """The data URI that a cut at `place` would split, as start and end; (place, place) where there is none."""
    start = text.rfind("data:", 0, place + 4)
    if 0 <= start < place:
        uri = _DATA_URI.match(text, start)
        if uri and place < uri.end():
            return start, uri.end()
    return place, place


def _cluster_edge(text: str, place: int, step: int) -> int:
    """The edge of the grapheme cluster (Unicode UAX 29) around `place`, on the side that `step` says."""
    if not 0 < place < len(text):
        return place
    before, after = text[place - 1], text[place]
    if before < "\u0300" and after < "\u0300":
        return place + step if before == "\r" and after == "\n" else place
    if "\ud800" <= before <= "\udbff" and "\udc00" <= after <= "\udfff":
        return place + step
    start = place - max(min(CLUSTER, place), _flags_before(text, place))
    edges = _edges(text, start, min(len(text), place + CLUSTER))
    near = max((edge for edge in edges if edge <= place), default=start)
    if step > 0 and near < place:
        near = min((edge for edge in edges if edge > place), default=place)
    return place if near == start > 0 else near


def _edges(text: str, start: int, end: int) -> list[int]:
    """Where the clusters of a window begin, and its end."""
    from wcwidth import iter_graphemes  # 25 ms, and only other scripts than Latin need it

    edges = [start]
    for cluster in iter_graphemes(text[start:end]):
        edges.append(edges[-1] + len(cluster))
    return edges


def _flags_before(text: str, place: int) -> int:
    run = text[max(0, place - FLAGS_RUN) : place]
    return len(run) - len(run.rstrip(_FLAGS))
