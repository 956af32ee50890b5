"""Every file of the corpus of real logs, where it is there: what is read, compared with its index.

`corpus.json` holds what differs from the index, with the reason, and the counts for each format.
"""

from __future__ import annotations

import csv
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from ctxpolicy import formats
from ctxpolicy.logs import LogFile, Session, read_log
from ctxpolicy.transcripts.model import Broken, Conversation

CORPUS = Path(__file__).parents[3] / "shared" / "corpus"
EXPECTED = json.loads(Path(__file__).with_name("corpus.json").read_text())
pytestmark = pytest.mark.skipif(not CORPUS.is_dir(), reason="the corpus of real logs is not here")


def index() -> list[dict[str, str]]:
    with (CORPUS / "index.csv").open(newline="") as file:
        return list(csv.DictReader(file))


@pytest.fixture(scope="module")
def read() -> dict[str, tuple[LogFile, list[Any]]]:
    """Every file of the index, with its parts but for the text between them."""
    found = {}
    for row in index():
        log = read_log(CORPUS / row["file"])
        found[row["file"]] = log, [part for part in log.parts() if not isinstance(part, str)]
    return found


def test_every_file_is_read_without_an_error(read: dict[str, tuple[LogFile, list[Any]]]) -> None:
    assert not [part.error for _, parts in read.values() for part in parts if isinstance(part, Broken)]
    assert all(parts for _, parts in read.values())


def test_counts_are_those_of_the_index_or_explained(read: dict[str, tuple[LogFile, list[Any]]]) -> None:
    differences = {}
    for row in index():
        parts = read[row["file"]][1]
        counts = [len(parts), sum(len(part.messages) for part in parts)]
        if counts != [int(row["conversations"]), int(row["messages"])]:
            differences[row["file"]] = counts
    assert differences == {file: counts for file, (*counts, _) in EXPECTED["differences"].items()}
    assert all(reason for *_, reason in EXPECTED["differences"].values())


def test_counts_for_each_format(read: dict[str, tuple[LogFile, list[Any]]]) -> None:
    counts: dict[str, Counter[str]] = {}
    for log, parts in read.values():
        tally = counts.setdefault(log.format.name if log.format else "transcript", Counter())
        tally["files"] += 1
        for part in parts:
            tally += count(part)
        counts[log.format.name if log.format else "transcript"] = tally
    assert {name: dict(sorted(tally.items())) for name, tally in counts.items()} == EXPECTED["formats"]


def count(part: Conversation) -> Counter[str]:
    """Messages, calls and results of a conversation, and how they miss each other."""
    found = Counter(conversations=1, messages=len(part.messages))
    if isinstance(part, Session):
        found.update(compactions=len(part.compactions), model_calls=len(part.usage))
    view, waiting = formats.get(part.format), Counter[Any]()
    for index_, wire in enumerate(part.messages):
        for message in view.read(wire, index_):
            waiting.update(call.id for call in message.calls)
            found["calls"] += len(message.calls)
            if message.role == "tool":
                found["results"] += 1
                found["results_without_call"] += waiting[message.result_of] < 1
                waiting[message.result_of] -= waiting[message.result_of] > 0
    found["calls_without_result"] = waiting.total()
    return +found
