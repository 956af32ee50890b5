"""Logs that hold their messages just as they are sent: read as any transcript, and written back in place."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from ctxpolicy.logs.chat import usage
from ctxpolicy.logs.model import Session, Usage
from ctxpolicy.logs.source import Source
from ctxpolicy.transcripts.decoding import BOM, decode
from ctxpolicy.transcripts.model import Broken, Conversation
from ctxpolicy.transcripts.reader import document

_BOM = BOM.decode()


def sessions(source: Source, log: str, used: Callable[[Any], Any] = lambda message: None) -> Iterator[Session | str]:
    """The parts of the file, its conversations as sessions. `used` finds the usage record of a message."""
    text = decode(source.name, 1, source.beginning(-1))
    if text.startswith(_BOM):
        yield _BOM
        text = text.removeprefix(_BOM)
    for part in document(source.name, 1, text, source.document):
        if isinstance(part, Broken):
            source.faults.append(part.error)
        elif isinstance(part, Conversation):
            if part.messages:
                yield _session(part, log, used)
        else:
            yield part


def _session(part: Conversation, log: str, used: Callable[[Any], Any]) -> Session:
    calls: list[Usage] = []
    for index, message in enumerate(part.messages):
        sent, got, cached, written = usage(used(message))
        if sent is not None:
            calls.append(Usage(index, sent, got, cached, written))
    return Session(
        part.messages, part.file, part.first_line, part.source, part.tools, part.system, part.lead, "openai-chat",
        log=log, usage=calls,
    )  # fmt: skip
