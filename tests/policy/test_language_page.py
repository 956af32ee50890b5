"""docs/language.md says what the schema says."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from language_page import page

from ctxpolicy.policy.language import homes
from ctxpolicy.policy.load import load_spec

PAGE = Path(__file__).resolve().parents[2] / "docs" / "language.md"


def test_the_page_is_made_of_the_schema(request: pytest.FixtureRequest) -> None:
    if request.config.getoption("regen", False):
        PAGE.write_text(page(), encoding="utf-8")
    assert page() == PAGE.read_text(encoding="utf-8")


def test_every_key_of_the_language_is_on_the_page() -> None:
    named = {word for row in re.findall(r"`([a-z_.]+)`", page()) for word in row.split(".")}
    assert set(homes()) - named == set()


def test_what_the_prose_says_is_so() -> None:
    head = "version: 1\nbudget: {window: 100000}\n"
    for text in ("summarizer: extract\n", "summarizer: {use: extract}\n", "summarizer: [extract, none]\n"):
        assert load_spec(head + text).findings == ()
    short, long = (load_spec(head + text).spec for text in ("summarizer: extract\n", "summarizer: {use: extract}\n"))
    assert short is not None
    assert long is not None
    assert short.summarizer == long.summarizer
