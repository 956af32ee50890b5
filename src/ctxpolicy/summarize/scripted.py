"""A summariser that reads its replies from a file: for tests, demonstrations and replays."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from ctxpolicy.errors import CtxPolicyError
from ctxpolicy.summarize.request import SummaryReply, SummaryRequest

_FIELDS = SummaryReply.__struct_fields__


class Scripted:
    """Gives the replies of a file in order, one for each request.

    The file has one JSON value a line, a string or an object with the fields of SummaryReply; or it is plain text, the
    replies separated by lines `---`. Raises CtxPolicyError when it cannot be read or holds no reply.
    """

    def __init__(self, path: Path) -> None:
        self.name = f"scripted:{path}"
        try:
            text = path.read_text(encoding="utf-8-sig")
        except (OSError, UnicodeDecodeError) as error:
            raise CtxPolicyError(f"{self.name} cannot be read: {error}") from error
        self._replies = _from_lines(text, path) if _is_json_lines(text) else _from_text(text)
        if not self._replies:
            raise CtxPolicyError(
                f"{self.name} holds no reply; write one JSON string a line, or texts between lines ---"
            )
        self._used = 0

    def __call__(self, request: SummaryRequest) -> str | SummaryReply:
        """The next reply, whatever the request. Raises CtxPolicyError when there is none left."""
        if self._used == len(self._replies):
            raise CtxPolicyError(
                f"{self.name} has no reply left after {self._used}; add one for each summary asked for"
            )
        self._used += 1
        return self._replies[self._used - 1]


def _is_json_lines(text: str) -> bool:
    # not splitlines: a JSON string may hold U+2028
    first = next((line for line in text.split("\n") if line.strip()), "")
    try:
        return isinstance(json.loads(first), (str, dict))
    except ValueError:
        return False


def _from_lines(text: str, path: Path) -> list[str | SummaryReply]:
    numbered = enumerate(text.split("\n"), 1)
    return [_reply(line, f"{path}:{number}") for number, line in numbered if line.strip()]


def _reply(line: str, where: str) -> str | SummaryReply:
    try:
        value: Any = json.loads(line)
    except ValueError as error:
        raise CtxPolicyError(f"{where} is not JSON ({error}); every line must be a JSON string or object") from error
    if isinstance(value, str):
        return value
    if not isinstance(value, dict) or not isinstance(value.get("text"), (str, type(None))):
        raise CtxPolicyError(f"{where} is not a reply; write a JSON string, or an object with `text`")
    if unknown := sorted(set(value) - set(_FIELDS)):
        raise CtxPolicyError(f"{where} has unknown fields {', '.join(unknown)}; a reply has {', '.join(_FIELDS)}")
    return SummaryReply(**({"text": None} | value))


def _from_text(text: str) -> list[str | SummaryReply]:
    return [reply.strip() for reply in re.split(r"(?m)^---[ \t\r]*$", text) if reply.strip()]
