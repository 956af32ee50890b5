"""Editor support: the real yaml-language-server, led to the schema by nothing but a policy's first line.

Slow, and only where CTXPOLICY_NODE_MODULES names a folder with the npm package `yaml-language-server`:

    npm install --prefix DIR yaml-language-server
    CTXPOLICY_NODE_MODULES=DIR/node_modules pytest -m slow tests/policy/test_editor.py
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ctxpolicy.policy.language import schema

ROOT = Path(__file__).resolve().parents[2]
POLICY = ROOT / "policies" / "default.yaml"
SERVER = Path(os.environ.get("CTXPOLICY_NODE_MODULES", "")) / "yaml-language-server" / "bin" / "yaml-language-server"
NODE = shutil.which("node")

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        "CTXPOLICY_NODE_MODULES" not in os.environ,
        reason="CTXPOLICY_NODE_MODULES does not say where npm put yaml-language-server",
    ),
    pytest.mark.skipif(NODE is None, reason="node is not installed"),
]


class Editor:
    """As much of an editor as the questions need: it speaks the Language Server Protocol over pipes."""

    def __init__(self) -> None:
        assert SERVER.is_file(), f"{SERVER} is not there: npm install yaml-language-server"
        command = [str(NODE), str(SERVER), "--stdio"]
        self._server = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self._asked = 0
        self.diagnostics: dict[str, list[dict[str, Any]]] = {}
        self.ask(
            "initialize", processId=None, rootUri=ROOT.as_uri(), capabilities={"workspace": {"configuration": True}}
        )
        self.tell("initialized")

    def close(self) -> None:
        self._server.kill()
        self._server.communicate()

    def tell(self, method: str, **params: Any) -> None:
        self._send({"method": method, "params": params})

    def ask(self, method: str, **params: Any) -> Any:
        """The answer to a request; what the server asks or tells meanwhile is dealt with."""
        self._asked += 1
        self._send({"id": self._asked, "method": method, "params": params})
        while True:
            message = self._next()
            if message.get("id") == self._asked and "method" not in message:
                assert "error" not in message, message
                return message["result"]

    def open(self, text: str, name: str = "policies/typed.yaml") -> str:
        """Open a text as the policy of that name; it need not be on the disk. Returns its address."""
        uri = (ROOT / name).as_uri()
        self.tell("textDocument/didOpen", textDocument={"uri": uri, "languageId": "yaml", "version": 1, "text": text})
        return uri

    def faults(self, uri: str) -> list[dict[str, Any]]:
        """What the server underlines in a text."""
        while uri not in self.diagnostics:
            self._next()
        return self.diagnostics[uri]

    def _send(self, message: dict[str, Any]) -> None:
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        assert self._server.stdin is not None
        self._server.stdin.write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
        self._server.stdin.flush()

    def _next(self) -> dict[str, Any]:
        out = self._server.stdout
        assert out is not None
        size = 0
        while line := out.readline().strip():
            name, _, value = line.partition(b":")
            size = int(value) if name.lower() == b"content-length" else size
        message: dict[str, Any] = json.loads(out.read(size))
        if message.get("method") == "textDocument/publishDiagnostics":
            self.diagnostics[message["params"]["uri"]] = message["params"]["diagnostics"]
        elif "method" in message and "id" in message:
            wanted = (
                message.get("params", {}).get("items", []) if message["method"] == "workspace/configuration" else []
            )
            self._send({"id": message["id"], "result": [_settings(item.get("section", "")) for item in wanted] or None})
        return message


def _settings(section: str) -> dict[str, Any] | None:
    """The editor's settings: defaults, and no store of schemas on the network."""
    return (
        {"validate": True, "hover": True, "completion": True, "schemaStore": {"enable": False}}
        if section == "yaml"
        else None
    )


@pytest.fixture(scope="module")
def editor() -> Iterator[Editor]:
    running = Editor()
    yield running
    running.close()


@pytest.fixture(scope="module")
def text() -> str:
    return POLICY.read_text(encoding="utf-8")


def place(text: str, words: str) -> dict[str, int]:
    """Where the first of these words ends, as the protocol counts."""
    before = text[: text.index(words) + len(words)]
    return {"line": before.count("\n"), "character": len(before) - before.rfind("\n") - 1}


def labels(answer: Any) -> set[str]:
    return {item["label"] for item in (answer["items"] if isinstance(answer, dict) else answer)}


def test_the_default_policy_has_no_faults(editor: Editor, text: str) -> None:
    assert editor.faults(editor.open(text, "policies/default.yaml")) == []


def test_an_unknown_key_is_underlined(editor: Editor, text: str) -> None:
    (fault,) = editor.faults(editor.open(text.replace("    truncate:", "    trunkate:"), "policies/unknown.yaml"))[:1]
    assert "trunkate" in fault["message"]
    assert fault["range"]["start"] == {**place(text, "    truncate:"), "character": 4}


def test_hover_says_what_a_key_means(editor: Editor, text: str) -> None:
    uri = editor.open(text, "policies/hover.yaml")
    said = editor.ask("textDocument/hover", textDocument={"uri": uri}, position=place(text, "      word_li"))
    assert schema()["definitions"]["compact"]["properties"]["word_limit"]["description"] in said["contents"]["value"]


def test_completion_offers_the_keys_of_the_place(editor: Editor, text: str) -> None:
    typed = text.replace("    evict: {until: {pressure: {lt: 0.70}}}", "    evict:\n      un")
    uri = editor.open(typed, "policies/keys.yaml")
    offered = editor.ask(
        "textDocument/completion", textDocument={"uri": uri}, position=place(typed, "    evict:\n      un")
    )
    assert set(schema()["definitions"]["evict"]["properties"]) <= labels(offered)


def test_completion_offers_the_values_of_a_key(editor: Editor, text: str) -> None:
    typed = re.sub(r"    at: append.*", "    at: ", text, count=1)
    uri = editor.open(typed, "policies/values.yaml")
    offered = editor.ask("textDocument/completion", textDocument={"uri": uri}, position=place(typed, "    at: "))
    assert {"append", "send"} <= labels(offered)
