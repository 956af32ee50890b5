"""`ctxpolicy demo`: a short session under a policy, from the first message to bringing back what left."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import click

from ctxpolicy.api import loads
from ctxpolicy.archive import DirectoryArchive
from ctxpolicy.archive.restoring import restore
from ctxpolicy.cli.output import Column, counted, paint, printable, table, terminal_width, wrap
from ctxpolicy.policy.thresholds import percent
from ctxpolicy.result import Result
from ctxpolicy.simulate import scene
from ctxpolicy.simulate.endpoint import Endpoint, from_environment
from ctxpolicy.window import ManagedWindow

_LIST = (
    Column("#", right=True),
    Column("role", least=6, drop=1),
    Column("tokens", right=True, drop=2),
    Column("text", least=10),
)
_EXCERPT = 400  # characters of a message, before the table cuts it
_SCRIPTED = (
    "a scripted model: nothing is sent anywhere. For a real one set CTXPOLICY_DEMO_MODEL, and OPENAI_BASE_URL (any "
    "endpoint that speaks Chat Completions) or OPENAI_API_KEY"
)


@click.command("demo")
def command() -> int:
    """Play a short session and show what its policy does.

    An agent with three tools looks into a failed night job, in a window so small that it fills. Shown are the events
    as they happen, the list as it came in and as it is sent, and how what left is brought back.

    With CTXPOLICY_DEMO_MODEL and OPENAI_BASE_URL or OPENAI_API_KEY set, the agent is that model, and so is the
    summariser; else the agent follows a script and `extract` writes the notes. The archive is temporary.
    """
    endpoint = from_environment()
    width = terminal_width()
    model = f"{endpoint.model} at {endpoint.url}" if endpoint else _SCRIPTED
    _say(f"The agent is {model}.", width)
    with TemporaryDirectory(prefix="ctxpolicy-demo-") as folder:
        demo = _Demo(endpoint, Path(folder), width)
        demo.play()
        return demo.show()


def _say(text: str, width: int) -> None:
    for line in wrap(printable(text), width):
        click.echo(line)


class _Demo:
    """The session on its way: everything that came in, and the window it went into."""

    def __init__(self, endpoint: Endpoint | None, archive: Path, width: int) -> None:
        from ctxpolicy.summarize.extract import extract

        self._policy = loads(scene.POLICY)
        self._archive, self._width = archive, width
        self._chat = scene.scripted() if endpoint is None else lambda sent: endpoint.chat(sent, scene.TOOLS)
        self._window: ManagedWindow = self._policy.window(
            tools=scene.TOOLS, summarize=endpoint.summarize if endpoint else extract, archive=archive
        )
        self._came: list[Any] = []
        self._calls = 0

    def play(self) -> None:
        """The whole session, told as it goes."""
        for message in scene.play(self._ask):
            self._came.append(message)
            self._window.append(message)
            if message["role"] == "user":
                click.echo()
                _say(f"user: {message['content']}", self._width)
            elif message["role"] == "assistant":
                _say(f"agent: {_told(message)}", self._width)

    def _ask(self) -> Any:
        """The model's next message, to the list as the policy prepares it."""
        self._calls += 1
        sent = self._window.prepare()
        result = self._window.result
        assert result is not None
        for event in result.events:
            if event.acted or event.failed:
                for line in wrap(f"  call {self._calls}  {printable(str(event))}", self._width):
                    click.echo(paint(line, fg="red" if event.failed else "yellow"))
        return self._chat(sent)

    def show(self) -> int:
        """The list before and after, and what left brought back; 1 if that is not what came in."""
        self._window.prepare()
        sent = self._window.messages
        result = self._window.result
        assert result is not None
        self._list(f"What came in: {counted(len(self._came), 'message')}", self._came)
        self._list(f"What is sent: {counted(len(sent), 'message')}, {_filled(result)}", sent)
        back = restore(sent, DirectoryArchive(self._archive))
        click.echo()
        same = back == self._came
        _say(
            f"Brought back from the archive: {len(sent)} -> {counted(len(back), 'message')}, "
            + ("exactly what came in." if same else "which is NOT what came in: please report this."),
            self._width,
        )
        _say(
            "In Python: ctxpolicy.restore(messages, archive). On the command line: ctxpolicy restore --archive DIR "
            "list.jsonl. This archive was temporary and is gone now.",
            self._width,
        )
        return int(not same)

    def _list(self, title: str, messages: Sequence[Any]) -> None:
        click.echo()
        _say(title, self._width)
        titles, *lines = table(_LIST, list(self._cells(messages)), self._width)
        click.echo(paint(titles, bold=True))
        for line in lines:
            click.echo(line)

    def _cells(self, messages: Sequence[Any]) -> Iterator[list[str]]:
        for row, message in zip(self._policy.look(messages), messages, strict=True):
            yield [str(row.index), row.role, f"{row.tokens:,}", _told(message)]


def _filled(result: Result) -> str:
    return f"{result.usage.after['total']:,} tokens = {percent(result.usage.pressure)} of the limit"


def _told(message: Any) -> str:
    """A message on one line: its words, or its calls."""
    calls = [f"{call['function']['name']} {call['function']['arguments']}" for call in message.get("tool_calls") or ()]
    text = " ".join([str(message.get("content") or ""), *calls])
    return printable(" ".join(text[:_EXCERPT].split()))
