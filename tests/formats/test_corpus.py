"""Request bodies that real APIs accepted: lint refuses nothing in them, and a run under a tiny window keeps it so."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from ctxpolicy.archive.restoring import restore
from ctxpolicy.lint import level_of, lint

from .policies import tiny

CORPUS = Path(__file__).resolve().parents[2].parent / "shared" / "corpus"
FOLDERS = [CORPUS / name for name in ("pydantic-ai", "llm-cli", "openllmetry")]
pytestmark = pytest.mark.skipif(not CORPUS.is_dir(), reason="the corpus of recorded exchanges is not here")


def bodies(file: Path) -> Iterator[tuple[str, list[Any], dict[str, Any]]]:
    """Format, messages and body of each request in a recording that was answered with 200."""
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    for exchange in yaml.load(file.read_text(encoding="utf-8"), Loader=loader).get("interactions", ()):
        request, status = exchange["request"], exchange["response"].get("status", {}).get("code")
        body = request.get("parsed_body") or _parsed(request.get("body"))
        key = next((k for k in ("contents", "input", "messages") if isinstance(body.get(k), list)), None)
        if status == 200 and key and "converse" not in request["uri"]:
            chat = "anthropic" if "/messages" in request["uri"] else "openai-chat"
            name = {"contents": "gemini", "input": "openai-responses"}.get(key, chat)
            yield name, body[key], body


def _parsed(body: Any) -> dict[str, Any]:
    text = body.get("string") if isinstance(body, dict) else body
    try:
        value = json.loads(text)
    except (TypeError, ValueError):
        return {}
    return value if isinstance(value, dict) else {}


def errors(messages: list[Any], name: str, body: dict[str, Any]) -> Counter[str]:
    found = lint(messages, name, tools=body.get("tools"), system=body.get("system"), request=body)
    return Counter(fault.code for fault in found if level_of(fault, name) == "error")


FILES = sorted(file for folder in FOLDERS for file in folder.rglob("*.yaml")) if CORPUS.is_dir() else []


def test_there_is_something_to_judge() -> None:
    formats = Counter(name for file in FILES for name, _, _ in bodies(file))
    assert min(formats[name] for name in ("openai-chat", "anthropic", "openai-responses", "gemini")) >= 40


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_nothing_is_refused_that_was_accepted(folder: Path) -> None:
    for file in sorted(folder.rglob("*.yaml")):
        for name, messages, body in bodies(file):
            assert not errors(messages, name, body), file.name


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
@pytest.mark.parametrize("window", [60, 400])
def test_a_tiny_window_keeps_it_so(folder: Path, window: int) -> None:
    acted = 0
    for file in sorted(folder.rglob("*.yaml")):
        for name, messages, body in bodies(file):
            result = tiny(window, 61).apply(messages, format=name, summarize=lambda _: "A note.")
            assert not errors(result.messages, name, body), file.name
            assert restore(result.messages, result.removed) == messages
            acted += bool(result.removed)
    assert acted
