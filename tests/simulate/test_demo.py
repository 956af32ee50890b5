"""`demo`: the scripted session, the same with an endpoint, and what is said when that fails."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result

from ctxpolicy.simulate import scene

Run = Callable[..., Result]
KEY = "sk-very-secret"


@pytest.fixture(autouse=True)
def _no_endpoint(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_BASE_URL", "OPENAI_API_KEY", "CTXPOLICY_DEMO_MODEL"):
        monkeypatch.delenv(name, raising=False)


class _Handler(BaseHTTPRequestHandler):
    """Answers as the scripted model does, or with what the server says is wrong."""

    def do_POST(self) -> None:
        server: Any = self.server
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        server.asked.append((self.path, self.headers.get("Authorization"), body))
        if server.fault:
            self._answer(*server.fault)
        elif "tools" not in body:
            self._answer(200, {"choices": [{"message": {"role": "assistant", "content": "A note on the night job."}}]})
        else:
            self._answer(200, {"choices": [{"message": server.model(body["messages"])}]})

    def _answer(self, status: int, value: Any) -> None:
        data = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: Any) -> None:
        """Nothing: a test prints no log."""


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """An endpoint on this machine, named in the environment."""
    made: Any = HTTPServer(("127.0.0.1", 0), _Handler)
    made.asked, made.fault, made.model = [], None, scene.scripted()
    thread = threading.Thread(target=made.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    monkeypatch.setenv("OPENAI_BASE_URL", f"http://127.0.0.1:{made.server_port}/v1/")
    monkeypatch.setenv("CTXPOLICY_DEMO_MODEL", "small-model")
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    yield made
    made.shutdown()
    thread.join()
    made.server_close()


def test_the_scripted_session(run: Run, tmp_path: Path) -> None:
    before = sorted(tmp_path.iterdir())
    done = run("demo")
    assert (done.exit_code, done.stderr) == (0, "")
    assert done.stdout.startswith("The agent is a scripted model: nothing is sent anywhere.")
    assert "cap-tool-results: cut 1 tool result on arrival" in done.stdout
    assert "compact-oldest: compacted " in done.stdout
    assert "What came in: 26 messages" in done.stdout
    assert "exactly what came in." in done.stdout
    assert sorted(tmp_path.iterdir()) == before


@pytest.mark.parametrize("width", [20, 80])
def test_it_fits_the_terminal(run: Run, monkeypatch: pytest.MonkeyPatch, width: int) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    assert max(map(len, run("demo").stdout.splitlines())) <= width


def test_the_same_session_with_an_endpoint(run: Run, server: Any) -> None:
    done = run("demo")
    assert (done.exit_code, done.stderr) == (0, "")
    assert done.stdout.startswith("The agent is small-model at http://127.0.0.1:")
    assert "exactly what came in." in done.stdout
    assert KEY not in done.stdout
    assert {(path, key) for path, key, _ in server.asked} == {("/v1/chat/completions", f"Bearer {KEY}")}
    summaries = [body for _, _, body in server.asked if "tools" not in body]
    assert summaries
    assert all(body["model"] == "small-model" for _, _, body in server.asked)


def test_a_key_alone_is_no_endpoint(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    assert "a scripted model" in run("demo").stdout


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        ((401, {"error": {"message": f"bad key {KEY}"}}), 'answered 401: {"error": {"message": "bad key [key]"}}'),
        ((200, {"choices": []}), "answered without a message"),
        ((200, ["no"]), "answered without a message"),
    ],
)
def test_what_the_endpoint_says_is_told(run: Run, server: Any, fault: tuple[int, Any], said: str) -> None:
    server.fault = fault
    done = run("demo")
    assert done.exit_code == 2
    assert said in done.stderr
    assert KEY not in done.stdout + done.stderr


def test_an_endpoint_that_is_not_there(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CTXPOLICY_DEMO_MODEL", "m")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9")
    done = run("demo")
    assert done.exit_code == 2
    assert "gave no answer" in done.stderr
    monkeypatch.setenv("OPENAI_BASE_URL", "file:///etc")
    assert "begins with http" in run("demo").stderr


def test_tools_answer_nonsense_with_a_sentence() -> None:
    assert "are not what read_log takes" in scene.use("read_log", "{")
    assert "are not what read_log takes" in scene.use("read_log", "[]")
    assert scene.use("fly", '{"to": "moon"}') == "fly knows no 'moon'"
