"""An OpenAI- and Anthropic-compatible server on this machine that fails as told: one way of answering a request."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Way = Callable[["Handler"], None]

NOTE = "The user wants the importer on port 8443. deploy.sh failed with exit code 2 and must stay as it is."


class Server(ThreadingHTTPServer):
    """`ways` is how the next requests are answered, the last over and over; `asked` is what they said."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.ways: list[Way] = [says(NOTE)]
        self.asked: list[dict[str, Any]] = []
        self.headers: list[Mapping[str, str]] = []
        self.over = threading.Event()  # set at the end, so that no way of hanging outlives its test

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/v1"

    @property
    def prompts(self) -> list[str]:
        return [body["messages"][0]["content"] for body in self.asked]

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that gave up is no news."""


class Handler(BaseHTTPRequestHandler):
    server: Server
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.asked.append({**body, "path": self.path})
        self.server.headers.append({name.lower(): value for name, value in self.headers.items()})
        ways = self.server.ways
        (ways.pop(0) if len(ways) > 1 else ways[0])(self)

    def answer(self, body: bytes, status: int = 200, kind: str = "application/json", **headers: str) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """Quiet."""


@contextmanager
def serving() -> Iterator[Server]:
    server = Server()
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.over.set()
        server.shutdown()
        thread.join()
        server.server_close()


# ---- ways to answer ---------------------------------------------------------------------------


def chat(text: str | None, finish: str = "stop", **message: Any) -> dict[str, Any]:
    return {
        "id": "1",
        "object": "chat.completion",
        "model": "m",
        "choices": [
            {"index": 0, "finish_reason": finish, "message": {"role": "assistant", "content": text, **message}}
        ],
        "usage": {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120},
    }


def anthropic(text: str, stop: str = "end_turn") -> dict[str, Any]:
    usage = {"input_tokens": 70, "cache_read_input_tokens": 30, "output_tokens": 20}
    content = [{"type": "thinking", "thinking": "Hm.", "signature": "s"}, {"type": "text", "text": text}]
    return {"id": "1", "type": "message", "role": "assistant", "content": content, "stop_reason": stop, "usage": usage}


def gives(value: Any) -> Way:
    """This JSON."""
    return lambda handler: handler.answer(json.dumps(value).encode())


def says(text: str | None, finish: str = "stop", **message: Any) -> Way:
    """A chat completion."""
    return gives(chat(text, finish, **message))


def fails(status: int, body: Any = None, **headers: str) -> Way:
    """An error status."""
    told = {"error": {"message": "no luck"}} if body is None else body
    return lambda handler: handler.answer(json.dumps(told).encode(), status, **headers)


def page(status: int = 200) -> Way:
    """A web page where JSON was due."""
    html = b"<!DOCTYPE html><html><head><title>Bad Gateway</title></head><body>nginx</body></html>"
    return lambda handler: handler.answer(html, status, "text/html")


def hangs(handler: Handler) -> None:
    """No answer at all."""
    handler.server.over.wait(5)


def half(handler: Handler) -> None:
    """Half of the promised body, then the connection closes."""
    body = json.dumps(chat(NOTE)).encode()
    _begin(handler, body)
    handler.wfile.write(body[: len(body) // 2])
    handler.close_connection = True


def stops(handler: Handler) -> None:
    """Half of the promised body, then nothing more comes."""
    body = json.dumps(chat(NOTE)).encode()
    _begin(handler, body)
    handler.wfile.write(body[: len(body) // 2])
    handler.wfile.flush()
    handler.server.over.wait(5)


def trickles(handler: Handler) -> None:
    """A byte now and then: never silent for long, and never done."""
    body = json.dumps(chat(NOTE)).encode()
    _begin(handler, body)
    with suppress(OSError):
        for byte in body:
            handler.wfile.write(bytes([byte]))
            handler.wfile.flush()
            if handler.server.over.wait(0.02):
                return


def closes(handler: Handler) -> None:
    """The connection closes before a word."""
    handler.close_connection = True


def _begin(handler: Handler, body: bytes) -> None:
    handler.send_response(200)
    handler.send_header("Content-Type", "application/json")
    handler.send_header("Content-Length", str(len(body)))
    handler.end_headers()
