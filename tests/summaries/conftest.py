"""A server that fails as told, and quick patience."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from summaries.server import Server, serving

KEY = "sk-test-3f9a12c0d4e1-never-to-be-seen"


@pytest.fixture
def endpoint(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    """A server that `openai:` and `anthropic:` reach by the environment, with a key in it."""
    pytest.importorskip("openai", reason="the openai extra is not installed")
    monkeypatch.setattr("ctxpolicy.summarize.remote._FIRST_WAIT", 0.01)
    with serving() as server:
        for provider in ("OPENAI", "ANTHROPIC"):
            monkeypatch.setenv(f"{provider}_API_KEY", KEY)
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        monkeypatch.setenv("ANTHROPIC_BASE_URL", server.url.removesuffix("/v1"))
        yield server
