"""What a lint rule is, what it finds, and what it is given to look at."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Literal

import msgspec

Level = Literal["error", "warning", "route"]


class Rule(msgspec.Struct, frozen=True):
    """One rule of a provider.

    `level`: error, the provider refuses the request; warning, it takes it but there is harm; route, some models, clouds
    or compatible servers refuse it. `error` is the typical text of the refusal, to be found by substring; `do` is what
    to do.
    """

    code: str
    level: Level
    title: str
    error: str
    do: str


class Fault(msgspec.Struct, frozen=True):
    """Where a rule does not hold: message number (from 0), path inside that message, and what stands there.

    `level` stands in for the rule's own, where one provider is less strict than others.
    """

    code: str
    index: int
    path: str
    says: str
    level: Level | None = None


class Subject(msgspec.Struct, frozen=True):
    """What is judged: the wire messages, and what is known of the request around them.

    `tools` is None and `request` empty where only the list is known; rules that need them then say nothing.
    """

    messages: Sequence[Any]
    tools: Sequence[Any] | None = None
    system: Any = None
    request: Mapping[str, Any] = {}


Check = Callable[[Subject], Iterator[Fault]]


class Family(msgspec.Struct, frozen=True):
    """The rules of a format and the checks that find where they do not hold."""

    rules: tuple[Rule, ...]
    checks: tuple[Check, ...]


def blocks(message: Any, key: str = "content") -> list[tuple[str, dict[str, Any]]]:
    """The objects in a message's list of blocks, each with its path."""
    given = message.get(key)
    if not isinstance(given, list):
        return []
    return [(f"{key}[{n}]", block) for n, block in enumerate(given) if isinstance(block, dict)]


def is_blank(text: Any) -> bool:
    """True for a text without a character that can be seen."""
    return isinstance(text, str) and not text.strip()


LEAD = Rule(
    "X-06", "route", "the first message is not the user's", 'first message must use the "user" role',
    "begin with a user message",
)  # fmt: skip
TRAIL = Rule(
    "X-07", "route", "the last message is not the user's and no tool result",
    "The conversation must end with a user message.", "end with a user message or a tool result",
)  # fmt: skip


def lead(subject: Subject) -> Iterator[Fault]:
    """X-06, for formats without such a rule of their own."""
    roles = [message.get("role") for message in subject.messages]
    first = next((n for n, role in enumerate(roles) if role not in ("system", "developer")), None)
    if first is not None and roles[first] != "user":
        yield Fault("X-06", first, "", f"role {roles[first]!r}" if roles[first] else "an item that is no message")
