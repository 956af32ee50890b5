"""What a session log gives: conversations with what was recorded beside their messages."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import msgspec

from ctxpolicy.transcripts.model import Conversation

Fields = Mapping[str, Any]
Time = str | float | int | None


class Usage(msgspec.Struct, frozen=True):
    """What one model call took, in tokens. `index` is the place of the last message that the call gave.

    `input` is everything that was sent, also what came from a cache (`cached`) or went into one (`written`).
    """

    index: int
    input: int
    output: int
    cached: int = 0
    written: int = 0


class Compaction(msgspec.Struct, frozen=True):
    """A place where the agent itself cut its history. `index` is the first message of what it saw from then on.

    `tokens_before` and `tokens_after` are as recorded; `carried` counts the messages from `index` on that stood in the
    log before, too.
    """

    index: int
    trigger: str | None = None
    tokens_before: int | None = None
    tokens_after: int | None = None
    carried: int = 0


@dataclass(frozen=True, slots=True)
class Session(Conversation):
    """One conversation of a session log.

    `log` is the name of the log's format, `format` that of the messages. `fields` and `times` have an entry for each
    message: the scalar fields of its record, and when it was written. `usage` is in order of `index`. Where the agent
    compacted its history, what it saw before and after are two sessions, and the later one begins with a compaction.
    """

    log: str = ""
    times: Sequence[Time] = ()
    usage: Sequence[Usage] = ()
    compactions: Sequence[Compaction] = ()

    @property
    def began(self) -> datetime | None:
        """When the first message with a time was recorded, in UTC."""
        return _first_time(self.times)

    @property
    def ended(self) -> datetime | None:
        """When the last message with a time was recorded, in UTC."""
        return _first_time(self.times[::-1])


def _first_time(times: Sequence[Time]) -> datetime | None:
    return next((found for time in times if (found := as_datetime(time)) is not None), None)


def as_datetime(time: Time) -> datetime | None:
    """A recorded time: ISO 8601 text (UTC where it names no zone), or seconds, ms, us or ns since 1970."""
    if isinstance(time, str) and not time.isdecimal():
        try:
            found = datetime.fromisoformat(time)
        except ValueError:
            return None
        return found.replace(tzinfo=UTC) if found.tzinfo is None else found.astimezone(UTC)
    try:
        seconds = float(time or 0)
        while seconds > 1e11:  # the year 5138 in seconds: the unit is smaller
            seconds /= 1000
        return datetime.fromtimestamp(seconds, UTC) if seconds > 0 else None
    except (ValueError, OverflowError, OSError):
        return None


@dataclass(frozen=True, slots=True)
class Written:
    """How a session is written: a log is never rewritten, its messages become one line of JSON with what is sent along.

    `lines` are the lines of the log on which the messages stand.
    """

    lines: Sequence[int]
    around: Fields = field(default_factory=dict)

    def line(self, index: int) -> int:
        """The line of the log on which message `index` begins."""
        return self.lines[index] if index < len(self.lines) else 1

    def render(self, old: Sequence[Any], new: Sequence[Any]) -> str:
        """One line: `{"messages": [...]}`, and `system` and `tools` where the log has them."""
        value = {**self.around, "messages": list(new)}
        try:
            return msgspec.json.encode(value).decode() + "\n"
        except UnicodeEncodeError:  # lone surrogates
            return json.dumps(value) + "\n"


def scalars(record: Fields) -> dict[str, Any]:
    """The scalar fields of a record: what `field` sees of a log's line beside the message."""
    return {key: value for key, value in record.items() if not isinstance(value, (dict, list)) and value is not None}


def mapping(value: Any) -> dict[str, Any]:
    """The value where it is an object, else an empty one: logs are read as they come."""
    return value if isinstance(value, dict) else {}


def snaked(record: Fields) -> dict[str, Any]:
    """The record with its keys in snake case: some writers changed how they spell theirs."""
    return {"".join(f"_{c.lower()}" if c.isupper() else c for c in key): value for key, value in record.items()}


def entries(value: Any) -> list[dict[str, Any]]:
    """The objects in a list, and nothing of any other value."""
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def amount(value: Any) -> int:
    """The value where it is a number, else 0."""
    return int(value) if isinstance(value, (int, float)) else 0


def name(value: Any) -> str | int | None:
    """The value where it can name something, else None."""
    return value if isinstance(value, (str, int)) else None


class Gathering:
    """A session while its messages are read."""

    def __init__(self, log: str, format: str, file: str) -> None:
        self._log, self._format, self._file = log, format, file
        self.messages: list[Any] = []
        self.lines: list[int] = []
        self.fields: list[Fields] = []
        self.times: list[Time] = []
        self.usage: list[Usage] = []
        self.compactions: list[Compaction] = []
        self.tools: list[Any] | None = None
        self.system: Any = None

    def add(self, message: Any, line: int = 1, fields: Fields | None = None, time: Time = None) -> None:
        """Append a message that stands on `line`, with the scalar fields of its record."""
        self.messages.append(message)
        self.lines.append(line)
        self.fields.append(fields or {})
        self.times.append(time)

    def used(self, input: Any, output: Any, cached: Any = 0, written: Any = 0, index: int | None = None) -> None:
        """Note the usage of the call that gave message `index` (default: the last one)."""
        place = len(self.messages) - 1 if index is None else index
        if place < 0 or not isinstance(input, (int, float)):
            return
        self.usage.append(Usage(place, int(input), amount(output), amount(cached), amount(written)))

    def compacted(self, trigger: Any = None, before: Any = None, after: Any = None, carried: int = 0) -> None:
        """Note that the agent's view was cut where the next message will stand."""
        here = len(self.messages)
        known = trigger if isinstance(trigger, str) else None
        self.compactions.append(Compaction(here, known, amount(before) or None, amount(after) or None, carried))

    def session(self) -> Session:
        """The session. It has at least one message."""
        around = {key: value for key, value in (("system", self.system), ("tools", self.tools)) if value}
        return Session(
            self.messages,
            self._file,
            self.lines[0] if self.lines else 1,
            Written(self.lines, around),
            self.tools,
            self.system,
            format=self._format,
            fields=self.fields,
            log=self._log,
            times=self.times,
            usage=self.usage,
            compactions=self.compactions,
        )
