"""Texts to count that are not made: written for this, found on any machine, or recorded beside the repository."""

from __future__ import annotations

import json
import random
import sysconfig
from collections.abc import Iterable, Iterator
from pathlib import Path
from pydoc_data.topics import topics
from typing import Any

import yaml

ROOT = Path(__file__).parents[2]
CORPUS = ROOT.parent / "shared" / "corpus"
PIECE = 3_000  # characters of one text; about what a tool result has
SHORT = 200  # below, a ratio of two counts says little


def written() -> dict[str, list[str]]:
    """Short texts in many scripts, by group."""
    groups = yaml.safe_load((Path(__file__).parent / "scripts.yaml").read_text(encoding="utf-8"))
    return {group: list(texts.values()) for group, texts in groups.items()}


def found() -> dict[str, list[str]]:
    """Pieces of what any machine with Python and this repository has, by kind."""
    return {kind: _thinned(list(_pieces(texts)), 100) for kind, texts in whole().items()}


def whole() -> dict[str, list[str]]:
    """The same, whole."""
    library = Path(sysconfig.get_path("stdlib"))
    pages = [*ROOT.glob("*.md"), *(page for page in sorted(ROOT.glob("docs/*.md")) if page.name != "counting.md")]
    return {
        "prose": [topics[name] for name in sorted(topics)],  # Python's reference
        "python": [_read(path) for path in sorted(library.glob("*.py"))],
        "markdown": [_read(page) for page in pages],  # without the page that this makes the table of
        "yaml": [_read(path) for path in sorted(ROOT.glob("policies/**/*.yaml"))],
    }


def recorded() -> list[list[str]]:
    """The texts of each file of real transcripts; none where they do not stand beside the repository."""
    files = [path for path in sorted(CORPUS.rglob("*.json*")) if path.stat().st_size > 2000]
    lists = ([text for text in _strings([*_values(path)]) if len(text) >= SHORT] for path in files)
    return [texts for texts in lists if texts]


def transcripts(files: list[list[str]]) -> dict[str, list[str]]:
    """The kind `transcripts`: some texts of each file, cut to size."""
    texts = [text[:PIECE] for texts in files for text in _thinned(texts, 10)]
    return {"transcripts": texts} if texts else {}


def windows(kinds: dict[str, list[str]], many: int = 40) -> list[list[str]]:
    """Whole windows, the texts of their messages: prose, code, JSON and logs in many mixtures."""
    mixed = [kinds[kind] for kind in ("prose", "python", "json", "json indented", "logs")]
    return [list(_messages(random.Random(seed), mixed)) for seed in range(many)]


def _messages(chance: random.Random, mixed: list[list[str]]) -> Iterator[str]:
    shares = [chance.random() for _ in mixed]
    for texts in chance.choices(mixed, shares, k=40):
        yield chance.choice(texts)[: chance.randrange(100, PIECE)]


def _pieces(texts: Iterable[str]) -> Iterator[str]:
    for text in texts:
        for start in range(0, len(text) - PIECE + 1, PIECE):
            yield text[start : start + PIECE]


def _thinned(texts: list[str], most: int) -> list[str]:
    return texts[:: -(-len(texts) // most)] if texts else []


def _values(path: Path) -> Iterator[Any]:
    text = _read(path)
    try:
        yield json.loads(text)
    except ValueError:
        for line in text.splitlines():
            try:
                yield json.loads(line)
            except ValueError:
                continue


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, (dict, list)):
        for part in value.values() if isinstance(value, dict) else value:
            yield from _strings(part)


def _read(path: Path) -> str:
    return path.read_text(encoding="utf-8", errors="ignore")
