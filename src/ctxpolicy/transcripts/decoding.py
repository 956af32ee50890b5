"""From the bytes of a file to JSON values, with errors that name the place and what to do."""

from __future__ import annotations

from typing import Any

from ctxpolicy.errors import TranscriptInvalid
from ctxpolicy.transcripts.jsontext import loads

BOM = b"\xef\xbb\xbf"


def refuse_foreign(name: str, data: bytes) -> None:
    """Raises TranscriptInvalid where the first bytes of a file are not text in UTF-8 at all."""
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise TranscriptInvalid(f"{name}: is UTF-16 text; convert it to UTF-8 (iconv -f UTF-16 -t UTF-8)")
    if data.startswith(b"\x1f\x8b"):
        raise TranscriptInvalid(f"{name}: is compressed; unpack it first (gunzip)")
    if b"\0" in data:
        raise TranscriptInvalid(f"{name}: is a binary file, not a transcript; give JSON or JSON Lines")


def decode(name: str, number: int, data: bytes) -> str:
    """The text of bytes that begin on line `number`."""
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        line = number + data.count(b"\n", 0, error.start)
        column = error.start - data.rfind(b"\n", 0, error.start)
        raise TranscriptInvalid(
            f"{name}:{line}: byte {column} of the line (0x{data[error.start]:02x}) is not UTF-8; save the file as UTF-8"
        ) from None


def parse(name: str, number: int, text: str) -> Any:
    """The JSON value of a text that begins on line `number`."""
    try:
        return loads(text)
    except RecursionError:
        raise TranscriptInvalid(f"{name}:{number}: is nested too deeply to be a transcript") from None
    except ValueError as error:
        raise TranscriptInvalid(f"{name}:{_why_not_json(number, text, error)}") from None


def _why_not_json(number: int, text: str, error: ValueError) -> str:
    place, message = getattr(error, "pos", 0), getattr(error, "msg", str(error))
    place = min(place, len(text.rstrip()))
    line = number + text.count("\n", 0, place)
    if not text[place:].strip() or message.startswith("Unterminated string"):
        return (
            f"{line}: is cut off in the middle (the JSON ends too early); remove what is left of it or restore the rest"
        )
    column = place - text.rfind("\n", 0, place)
    if (line, column) == (1, 1):  # perhaps a file of another kind: a policy, say
        return (
            "1:1: is not JSON; a transcript has a message on each line, or all in one array (`ctxpolicy formats` lists "
            "what is read): name one, or repair the line"
        )
    return f"{line}:{column}: is not JSON: {message[:1].lower()}{message[1:]}; repair or remove the line"
