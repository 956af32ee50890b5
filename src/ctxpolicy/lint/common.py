"""Rules that hold for every provider."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from ctxpolicy.lint.encoded import is_base64
from ctxpolicy.lint.rule import Family, Fault, Rule, Subject

RULES = (
    Rule("X-00", "error", "not a message of this format", "400 invalid_request_error",
         "check that the file holds messages, and what format they are in (--for)"),
    Rule("X-09", "error", "tool-call arguments that are no JSON object", "Input should be a valid dictionary",
         "give the arguments as a JSON object"),
    Rule("X-10", "error", "a lone surrogate, which cannot be sent as UTF-8",
         "The request body is not valid JSON: no low surrogate in string", "cut text at whole characters"),
    Rule("X-12", "error", "media whose base64 is cut or broken", "invalid base64 data",
         "send the media whole, or a text in its place"),
)  # fmt: skip

_BASE64_KEYS = ("data", "image_url", "url", "file_data")


def _surrogates(subject: Subject) -> Iterator[Fault]:
    for index, message in enumerate(subject.messages):
        for path, text in _strings(message, ""):
            if not text.isascii() and _has_lone_surrogate(text):
                yield Fault("X-10", index, path, "this text has a lone surrogate")


def _has_lone_surrogate(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return True
    return False


def _strings(value: Any, path: str) -> Iterator[tuple[str, str]]:
    """Every text in a JSON value, keys too, with its path."""
    stack = [(path, value)]
    while stack:
        at, here = stack.pop()
        if isinstance(here, str):
            yield at, here
        elif isinstance(here, dict):
            for key, inner in here.items():
                yield f"{at}.{key}".lstrip("."), key
                stack.append((f"{at}.{key}".lstrip("."), inner))
        elif isinstance(here, list):
            stack += [(f"{at}[{n}]", inner) for n, inner in enumerate(here)]


def _media(subject: Subject) -> Iterator[Fault]:
    for index, message in enumerate(subject.messages):
        for path, text in _strings(message, ""):
            data = _base64_of(path, text)
            if data is not None and not is_base64(data):
                yield Fault("X-12", index, path, f"{len(data):,} characters that do not decode as base64")


def _base64_of(path: str, text: str) -> str | None:
    """The base64 in a text, where its place or its beginning says that it is one."""
    if text.startswith("data:") and ";base64," in text[:100]:
        return text.partition(";base64,")[2]
    parent, _, key = path.rpartition(".")
    media = parent.endswith(("source", "inlineData", "inline_data", "input_audio"))
    is_data = key in _BASE64_KEYS and media and not text.startswith(("http", "gs:")) and " " not in text[:80]
    return text if is_data else None


def _content(subject: Subject) -> Iterator[Fault]:
    """X-00 for messages whose content is of a kind that no provider takes."""
    for index, message in enumerate(subject.messages):
        content = message.get("content") if "role" in message else None
        if content is not None and not isinstance(content, (str, list)):
            kind = "an object" if isinstance(content, dict) else json.dumps(content)
            yield Fault("X-00", index, "content", f"the content is {kind}, neither text nor a list of blocks")


COMMON = Family(RULES, (_content, _surrogates, _media))
