"""What Gemini's generateContent accepts as `contents`."""

from __future__ import annotations

import base64
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

from ctxpolicy.lint.encoded import is_cut_bytes
from ctxpolicy.lint.rule import Family, Fault, Rule, Subject

_CALL = ("functionCall", "function_call")
_RESPONSE = ("functionResponse", "function_response")
_SIGNATURE = ("thoughtSignature", "thought_signature")
_DATA = (
    "text", "inlineData", "inline_data", "fileData", "file_data", "executableCode", "executable_code",
    "codeExecutionResult", "code_execution_result", "toolCall", "tool_call", "toolResponse", "tool_response",
    *_CALL, *_RESPONSE,
)  # fmt: skip
_BESIDE = {  # what may stand beside the data of a part
    "thought", "videoMetadata", "video_metadata", "mediaResolution", "media_resolution", "partMetadata",
    "part_metadata", *_SIGNATURE,
}  # fmt: skip

# The stand-ins that Google documents, as they are and as the base64 that JSON asks for.
_STAND_INS = ("skip_thought_signature_validator", "context_engineering_is_the_way_to_go")
_DUMMIES = {form for text in _STAND_INS for form in (text, text.encode(), base64.b64encode(text.encode()).decode())}

RULES = (
    Rule("GEM-01", "error", "a function call that does not follow a user or function response turn",
         "function call turn comes immediately after a user turn or after a function response turn",
         "put a user content before it"),
    Rule("GEM-02", "error", "a function response that does not follow its call",
         "function response turn comes immediately after a function call turn",
         "put it right after its call, or remove it"),
    Rule("GEM-03", "error", "not as many responses as calls",
         "the number of function response parts is equal to the number of function call parts",
         "give each call of the turn one response"),
    Rule("GEM-04", "warning", "words beside function responses",
         "function response turn comes immediately after a function call turn",
         "put them after the responses, better into the next user content"),
    Rule("GEM-05", "error", "a role that Gemini does not know", "Please use a valid role: user, model.",
         "use user or model; the system text goes into systemInstruction"),
    Rule("GEM-06", "route", "contents that do not alternate from user to user",
         "Please ensure that multiturn requests alternate between user and model.",
         "begin and end with user, merge neighbours"),
    Rule("GEM-07", "error", "a content without parts, or a part without data",
         "required oneof field 'data' must have one initialized field", "remove what is empty"),
    Rule("GEM-08", "route", "the first call of a step without its thought signature",
         "Function call is missing a thought_signature in functionCall parts",
         "send the signature back on the part it came with"),
    Rule("GEM-09", "error", "a thought signature that is cut", "Corrupted thought signature",
         "send the signature as it came, on its own part"),
    Rule("GEM-10", "warning", "a stand-in for a thought signature", "accepted: the model does without its thoughts",
         "send the real signature where there is one"),
    Rule("GEM-11", "error", "a response of another name than its call, or one that is no object",
         "Invalid value at 'contents[N].parts[M].function_response.response'",
         "use the name of the call and give an object"),
    Rule("GEM-12", "route", "a field that is not Gemini's", "Invalid JSON payload received. Unknown name",
         "remove the field"),
    Rule("GEM-13", "error", "system text or tools beside cached content",
         "CachedContent can not be used with GenerateContent request setting system_instruction, tools or tool_config",
         "leave them out: they are in the cache"),
)  # fmt: skip


def _value(part: Any, names: tuple[str, ...]) -> Any:
    return next((part[name] for name in names if part.get(name) is not None), None) if isinstance(part, dict) else None


def _parts(content: Any) -> list[Any]:
    parts = content.get("parts")
    return parts if isinstance(parts, list) else []


def _all(content: Any, names: tuple[str, ...]) -> list[tuple[str, dict[str, Any]]]:
    """Calls or responses of a content, each with its path."""
    found = ((n, _value(part, names)) for n, part in enumerate(_parts(content)))
    return [(f"parts[{n}]", value) for n, value in found if isinstance(value, dict)]


def _pairs(subject: Subject) -> Iterator[Fault]:
    """GEM-01 to GEM-03, GEM-11. What the last content asks for is still in flight."""
    turns = list(_turns(subject))
    for n, (index, calls, responses) in enumerate(turns):
        before = turns[n - 1][1] if n else []
        if responses and not before:
            yield Fault("GEM-02", index, responses[0][0], "no function call in the content before")
        elif before and len(responses) != len(before):
            yield Fault("GEM-03", index, "parts", f"{len(before)} calls and {len(responses)} responses")
        elif Counter(_names(before)) != Counter(_names(responses)):
            yield Fault("GEM-11", index, "parts", f"calls of {_names(before)} and responses of {_names(responses)}")
        if calls and not n:
            yield Fault("GEM-01", index, calls[0][0], "nothing stands before this call")


_Turn = tuple[int, list[tuple[str, dict[str, Any]]], list[tuple[str, dict[str, Any]]]]


def _turns(subject: Subject) -> Iterator[_Turn]:
    """Contents with their calls and responses; neighbours of one role are one turn, as the API takes them."""
    speaker: str | None = None
    turn: _Turn | None = None
    for index, content in enumerate(subject.messages):
        role = "model" if content.get("role") == "model" else "user"
        if turn is None or role != speaker:
            if turn is not None:
                yield turn
            turn, speaker = (index, [], []), role
        turn[1].extend(_all(content, _CALL))
        turn[2].extend(_all(content, _RESPONSE))
    if turn is not None:
        yield turn


def _names(found: list[tuple[str, dict[str, Any]]]) -> list[str]:
    return sorted(str(value.get("name")) for _, value in found)


def _bodies(subject: Subject) -> Iterator[Fault]:
    for index, content in enumerate(subject.messages):
        for path, response in _all(content, _RESPONSE):
            if not isinstance(response.get("response"), dict):
                yield Fault("GEM-11", index, f"{path}.functionResponse.response", "the response is no object")
        for path, call in _all(content, _CALL):
            if not isinstance(call.get("args") or {}, dict):
                yield Fault("X-09", index, f"{path}.functionCall.args", "the arguments are no object")


def _mixed(subject: Subject) -> Iterator[Fault]:
    for index, content in enumerate(subject.messages):
        kinds = ["response" if _value(part, _RESPONSE) else "words" for part in _parts(content)]
        if len(set(kinds)) > 1:
            yield Fault("GEM-04", index, f"parts[{kinds.index('words')}]", "words stand beside function responses")


def _roles(subject: Subject) -> Iterator[Fault]:
    roles = [content.get("role", "user") for content in subject.messages]
    for index, role in enumerate(roles):
        if role not in ("user", "model", "function"):
            yield Fault("GEM-05", index, "role", f"role {role!r}")
    if roles and roles[0] == "model":
        yield Fault("GEM-06", 0, "role", "the first content is the model's")
    if roles and roles[-1] == "model":
        yield Fault("GEM-06", len(roles) - 1, "role", "the last content is the model's")
    for index, (a, b) in enumerate(pairwise(roles), 1):
        if a == b:
            yield Fault("GEM-06", index, "role", f"another {b} content right before")


def _empty(subject: Subject) -> Iterator[Fault]:
    for index, content in enumerate(subject.messages):
        parts = _parts(content)
        if not parts:
            yield Fault("GEM-07", index, "parts", "no parts")
        for n, part in enumerate(parts):
            data = [key for key in _DATA if isinstance(part, dict) and part.get(key) is not None]
            if data == ["text"] and part["text"] == "" and not _value(part, _SIGNATURE):
                yield Fault("GEM-07", index, f"parts[{n}].text", "an empty text", "route")
            elif not data and isinstance(part, dict) and set(part) - _BESIDE:
                yield Fault("GEM-12", index, f"parts[{n}]", f"a part of {', '.join(sorted(set(part) - _BESIDE))}")
            elif len(data) != 1 and not (not data and _value(part, _SIGNATURE)):
                yield Fault("GEM-07", index, f"parts[{n}]", f"{len(data)} data fields, must be one")


def _signatures(subject: Subject) -> Iterator[Fault]:
    """GEM-08, where the model signs at all: in the running turn each step's first call is signed."""
    said = [n for n, c in enumerate(subject.messages) if c.get("role", "user") == "user" and not _all(c, _RESPONSE)]
    start = said[-1] + 1 if said else 0
    signed = any(_value(part, _SIGNATURE) for content in subject.messages for part in _parts(content))
    for index in range(start, len(subject.messages)) if signed else ():
        calls = [(n, p) for n, p in enumerate(_parts(subject.messages[index])) if _value(p, _CALL)]
        if calls and not _value(calls[0][1], _SIGNATURE):
            yield Fault("GEM-08", index, f"parts[{calls[0][0]}]", "the first call of this step is not signed")


def _sealed(subject: Subject) -> Iterator[Fault]:
    """GEM-09 and GEM-10."""
    for index, content in enumerate(subject.messages):
        for n, part in enumerate(_parts(content)):
            signature = _value(part, _SIGNATURE)
            if isinstance(signature, (str, bytes)) and signature in _DUMMIES:
                yield Fault("GEM-10", index, f"parts[{n}].thoughtSignature", "a stand-in, not what a model signed")
            elif signature and is_cut_bytes(signature):
                yield Fault("GEM-09", index, f"parts[{n}].thoughtSignature", "this is no base64: something cut it")


def _private(subject: Subject) -> Iterator[Fault]:
    for index, content in enumerate(subject.messages):
        for key in content:
            if key not in ("role", "parts"):
                yield Fault("GEM-12", index, key, f"the field {key!r}")


def _cache(subject: Subject) -> Iterator[Fault]:
    request = subject.request
    if request.get("cachedContent") and (subject.tools or subject.system):
        yield Fault("GEM-13", 0, "", "the request has cachedContent and system text or tools")


FAMILY = Family(RULES, (_pairs, _bodies, _mixed, _roles, _empty, _signatures, _sealed, _private, _cache))
