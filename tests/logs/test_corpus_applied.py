"""A policy with summaries applied to every conversation of the corpus of real logs, where it is there."""

from __future__ import annotations

import csv
from collections import Counter
from pathlib import Path

import pytest

from ctxpolicy import MessageTooLarge, restore
from ctxpolicy.archive import DirectoryArchive
from ctxpolicy.cli.options import Setup, setup
from ctxpolicy.lint import level_of, lint
from ctxpolicy.logs import read_log
from ctxpolicy.transcripts import Conversation

CORPUS = Path(__file__).parents[3] / "shared" / "corpus"
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not CORPUS.is_dir(), reason="the corpus of real logs is not here"),
]


@pytest.fixture(scope="module")
def chosen() -> Setup:
    """`--window 16000 --summarizer extract` with the default policy."""
    return setup("builtin:default", 16_000, None, None, "extract")


def conversations() -> list[Conversation]:
    with (CORPUS / "index.csv").open(newline="") as file:
        paths = [CORPUS / row["file"] for row in csv.DictReader(file)]
    return [found for path in paths for found in read_log(path).conversations()]


def refused(messages: list[object], format: str, sent: Conversation) -> Counter[str]:
    """How often a provider refuses the list for each of its rules."""
    found = lint(messages, format, tools=sent.tools, system=sent.system)
    return Counter(fault.code for fault in found if level_of(fault, format) == "error")


def test_no_new_fault_and_everything_comes_back(chosen: Setup, tmp_path: Path) -> None:
    acted = turned_away = 0
    for number, conversation in enumerate(conversations()):
        archive = DirectoryArchive(tmp_path / str(number))
        try:
            result = chosen.apply(conversation, archive=archive)
        except MessageTooLarge:
            turned_away += 1
            continue
        acted += bool(result.removed)
        format = chosen.format_of(conversation)
        new = refused(result.messages, format, conversation) - refused(conversation.messages, format, conversation)
        assert not new, conversation.where
        assert restore(result.messages, archive) == conversation.messages, conversation.where
    assert acted > 100
    assert turned_away < 30
