"""Random transcripts in the form of OpenAI Chat: sound rounds of calls and results, and every way to get them wrong."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from properties.chance import Chance
from properties.texts import mark, text

Wire = dict[str, Any]

TOOLS = ("bash", "read_file", "search")
_ARGUMENTS = (
    '{"cmd": "ls"}',
    '{"cmd": "ls"}',
    "{}",
    "",
    "not json",
    json.dumps({"text": "word " * 80}),
    json.dumps({"left_out": "[300 tokens of bash arguments left out, ref 3f9a12c0d4e1.]"}),
)
_MEDIA: tuple[Wire, ...] = (
    {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgo="}},
    {"type": "input_audio", "input_audio": {"data": "UklGRg==", "format": "wav"}},
    {"type": "file", "file": {"file_id": "file-1"}},
    {"type": "of_another_kind", "value": 7},
)
_METAS: tuple[Wire, ...] = ({"pin": True}, {"pending": True}, {"kind": "note"})


class _Calls:
    """Call ids given out, and results that are still to come."""

    def __init__(self) -> None:
        self.count = 0
        self.late: list[Wire] = []

    def id(self, chance: Chance) -> str:
        """A new id, at times one that was used before."""
        if self.count and chance.once_in(10):
            return f"call_{chance.number(1, self.count)}"
        self.count += 1
        return f"call_{self.count}"


def transcript(chance: Chance, most: int = 18) -> list[Wire]:
    """A list of up to `most` moves, a move being one message or a round of calls and results."""
    calls = _Calls()
    made: list[Wire] = []
    if chance.mostly(5):
        made.append({"role": "system", "content": "You are an agent."})
    if chance.mostly(10):
        made += _user(chance, calls)
    for _ in range(chance.number(max(1, most // 3), most)):
        made += chance.one(_MOVES)(chance, calls)
        if calls.late and chance.once_in(2):
            made.append(calls.late.pop(0))
    return made


def metas(chance: Chance, size: int) -> dict[int, Wire]:
    """Metadata by index for up to two messages of a list of this size."""
    return {i: chance.one(_METAS) for i in chance.some(range(size), most=2, least=0)}


def _content(chance: Chance, most: int) -> Any:
    """A text, or the same in parts, sometimes with media or with nothing else."""
    said, shape = text(chance, most), chance.number(0, 11)
    if shape < 9:
        return said
    halves = [{"type": "text", "text": said[: len(said) // 2]}, {"type": "text", "text": said[len(said) // 2 :]}]
    media = _MEDIA[0] if chance.mostly(4) else chance.one(_MEDIA)
    return {9: halves, 10: [*halves, media], 11: [media]}[shape]


def _user(chance: Chance, calls: _Calls) -> list[Wire]:
    made: Wire = {"role": "user", "content": _content(chance, 60)}
    if chance.once_in(10):
        made["name"] = chance.one(("ana", "bo"))
    return [made]


def _observation(chance: Chance, calls: _Calls) -> list[Wire]:
    """What a harness writes into the user channel."""
    head = chance.one(("OBSERVATION: ", "OBSERVATION:\n", "<note>"))
    return [{"role": "user", "content": head + text(chance, 150)}]


def _answer(chance: Chance, calls: _Calls) -> list[Wire]:
    made: Wire = {"role": "assistant", "content": _content(chance, 60)}
    extra = chance.number(0, 10)
    if extra == 7:
        made["refusal"] = "I will not."
    elif extra == 8:
        made["reasoning_content"] = text(chance)
    elif extra == 9:
        made["content"] = None
    elif extra == 10:
        made |= _signed(chance)
    return [made]


def _signed(chance: Chance) -> Wire:
    """Reasoning as a gateway passes it on."""
    return {"thinking_blocks": [{"type": "thinking", "thinking": text(chance, 30), "signature": "c2lnbmVk"}]}


def _standing(chance: Chance, calls: _Calls) -> list[Wire]:
    return [{"role": chance.one(("system", "developer")), "content": text(chance, 30)}]


def _orphan(chance: Chance, calls: _Calls) -> list[Wire]:
    return [{"role": "tool", "tool_call_id": calls.id(chance), "content": text(chance, 60)}]


def _ours(chance: Chance, calls: _Calls) -> list[Wire]:
    return [{"role": "user", "content": mark(chance)}]


def _legacy(chance: Chance, calls: _Calls) -> list[Wire]:
    name = chance.one(TOOLS)
    asked = {"name": name, "arguments": chance.one(_ARGUMENTS)}
    call: Wire = {"role": "assistant", "content": None, "function_call": asked}
    return [call, {"role": "function", "name": name, "content": text(chance)}]


def _round(chance: Chance, calls: _Calls) -> list[Wire]:
    """A call message with its results, of which some may be missing, doubled or late."""
    ids = [calls.id(chance) for _ in range(chance.one((1, 1, 1, 2, 3)))]
    asked: Wire = {
        "role": "assistant",
        "content": chance.one((None, "", "Let me look.")),
        "tool_calls": [_call(chance, call_id) for call_id in ids],
    }
    if chance.once_in(8):
        asked |= _signed(chance) if chance.once_in(2) else {"reasoning_content": text(chance)}
    return [asked, *(result for call_id in ids for result in _results(chance, call_id, calls))]


def _call(chance: Chance, call_id: str) -> Wire:
    body = {"name": chance.one(TOOLS), "arguments": chance.one(_ARGUMENTS)}
    return {"id": call_id, "type": "function", "function": body}


def _results(chance: Chance, call_id: str, calls: _Calls) -> list[Wire]:
    """The results that come right after the call."""
    result: Wire = {"role": "tool", "tool_call_id": call_id, "content": _content(chance, 150)}
    fate = chance.number(0, 11)
    if fate == 8:
        return [{**result, "is_error": True}]
    if fate == 9:
        return [{**result, "content": "again"}, result]
    if fate == 10:
        calls.late.append(result)
    return [result] if fate < 8 else []


_MOVES: tuple[Callable[[Chance, _Calls], list[Wire]], ...] = (
    _user, _user, _answer, _answer, _round, _round, _round, _round, _ours, _ours, _observation, _standing, _orphan,
    _legacy,
)  # fmt: skip
