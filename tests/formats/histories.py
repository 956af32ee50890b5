"""Random histories that a provider accepts, told once and written in each wire format."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from hypothesis import strategies as st

FORMATS = ("openai-chat", "anthropic", "openai-responses", "gemini")
_CHARS = st.characters(codec="utf-8", exclude_categories=("Cs", "Cc"))
_WORDS = st.one_of(
    st.text(_CHARS, min_size=1, max_size=30).filter(str.strip),
    st.integers(1, 60).map(lambda n: "the gauge was read and found steady " * n),
)


@dataclass(frozen=True)
class Call:
    """A tool call with what came back; `result` None only where nothing has come back yet."""

    tool: str
    arguments: dict[str, Any]
    result: str
    error: bool = False
    picture: bool = False


@dataclass(frozen=True)
class Turn:
    """What the user says, then what the assistant answers; `aside` are words sent together with the results."""

    user: str
    picture: bool
    steps: tuple[tuple[str | None, str | None, tuple[Call, ...], str | None], ...]  # reasoning, words, calls, aside
    answer: str | None  # None: the turn is still running, and ends with results or the user's words


_CALLS = st.builds(
    Call,
    st.sampled_from(["bash", "read_file", "look"]),
    st.dictionaries(st.sampled_from(["path", "n", "note"]), st.one_of(_WORDS, st.integers()), max_size=2),
    st.one_of(_WORDS, st.just("")),
    st.booleans(),
    st.booleans(),
)
_STEPS = st.tuples(
    st.none() | _WORDS, st.none() | _WORDS, st.lists(_CALLS, min_size=1, max_size=3).map(tuple), st.none() | _WORDS
)
_TURNS = st.builds(Turn, _WORDS, st.booleans(), st.lists(_STEPS, max_size=3).map(tuple), _WORDS)


def histories() -> st.SearchStrategy[list[Turn]]:
    """Turns; the last may be running."""
    running = st.builds(Turn, _WORDS, st.booleans(), st.lists(_STEPS, max_size=3).map(tuple), st.none())
    return st.tuples(st.lists(_TURNS, min_size=1, max_size=6), st.lists(running, max_size=1)).map(
        lambda p: [*p[0], *p[1]]
    )


def write(turns: list[Turn], name: str) -> list[Any]:
    """The history as wire messages of a format."""
    writers = {"openai-chat": _Chat, "anthropic": _Anthropic, "openai-responses": _Responses, "gemini": _Gemini}
    return writers[name]().write(turns)


class _Writer:
    def __init__(self) -> None:
        self.out: list[Any] = []
        self.count = 0

    def write(self, turns: list[Turn]) -> list[Any]:
        for turn in turns:
            self.user(turn.user, turn.picture)
            for reasoning, words, calls, aside in turn.steps:
                ids = []
                for _ in calls:
                    self.count += 1
                    ids.append(f"call{self.count:05d}")
                self.step(reasoning, words, calls, ids, aside)
            if turn.answer is not None:
                self.answer(turn.answer)
        return self.out

    def user(self, text: str, picture: bool) -> None:
        raise NotImplementedError

    def step(
        self, reasoning: str | None, words: str | None, calls: tuple[Call, ...], ids: list[str], aside: str | None
    ) -> None:
        raise NotImplementedError

    def answer(self, text: str) -> None:
        raise NotImplementedError


PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="


class _Chat(_Writer):
    def user(self, text: str, picture: bool) -> None:
        image = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PNG}"}}
        self.out.append({"role": "user", "content": [{"type": "text", "text": text}, image] if picture else text})

    def step(self, reasoning, words, calls, ids, aside):  # type: ignore[no-untyped-def]
        made = [
            {"id": i, "type": "function", "function": {"name": c.tool, "arguments": json.dumps(c.arguments)}}
            for i, c in zip(ids, calls, strict=True)
        ]
        thought = {"reasoning_content": reasoning} if reasoning else {}
        self.out.append({"role": "assistant", "content": words, **thought, "tool_calls": made})
        self.out += [{"role": "tool", "tool_call_id": i, "content": c.result} for i, c in zip(ids, calls, strict=True)]
        if aside:
            self.user(aside, False)

    def answer(self, text: str) -> None:
        self.out.append({"role": "assistant", "content": text})


class _Anthropic(_Writer):
    def user(self, text: str, picture: bool) -> None:
        image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PNG}}
        self.out.append({"role": "user", "content": [{"type": "text", "text": text}, image] if picture else text})

    def step(self, reasoning, words, calls, ids, aside):  # type: ignore[no-untyped-def]
        blocks: list[Any] = []
        if reasoning:
            blocks.append({"type": "thinking", "thinking": reasoning, "signature": f"sig-{self.count}"})
        if words:
            blocks.append({"type": "text", "text": words})
        for i, c in zip(ids, calls, strict=True):
            blocks.append({"type": "tool_use", "id": i, "name": c.tool, "input": c.arguments})
        self.out.append({"role": "assistant", "content": blocks})
        results: list[Any] = [self._result(i, c) for i, c in zip(ids, calls, strict=True)]
        if aside:
            results.append({"type": "text", "text": aside, "cache_control": {"type": "ephemeral"}})
            for message in self.out:  # never more than the newest mark
                for block in message["content"] if isinstance(message["content"], list) else ():
                    block.pop("cache_control", None)
        self.out.append({"role": "user", "content": results})

    @staticmethod
    def _result(call_id: str, call: Call) -> dict[str, Any]:
        content: Any = call.result
        if call.picture:
            image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PNG}}
            content = [{"type": "text", "text": call.result or "a picture"}, image]
        error = {"is_error": True} if call.error else {}
        return {"type": "tool_result", "tool_use_id": call_id, "content": content, **error}

    def answer(self, text: str) -> None:
        self.out.append({"role": "assistant", "content": [{"type": "text", "text": text}]})


class _Responses(_Writer):
    def user(self, text: str, picture: bool) -> None:
        content: Any = text
        if picture:
            image = {"type": "input_image", "detail": "auto", "image_url": f"data:image/png;base64,{PNG}"}
            content = [{"type": "input_text", "text": text}, image]
        self.out.append({"type": "message", "role": "user", "content": content})

    def step(self, reasoning, words, calls, ids, aside):  # type: ignore[no-untyped-def]
        if reasoning:
            summary = [{"type": "summary_text", "text": reasoning}]
            self.out.append(
                {"type": "reasoning", "id": f"rs_{self.count}", "summary": summary, "encrypted_content": "gAAAA" * 9}
            )
        if words:
            self._says(words, f"msg_w{self.count}")
        for i, c in zip(ids, calls, strict=True):
            if c.tool == "bash":
                self.out.append({"type": "custom_tool_call", "call_id": i, "name": "bash", "input": str(c.arguments)})
            else:
                arguments = json.dumps(c.arguments)
                self.out.append(
                    {"type": "function_call", "id": f"fc_{i}", "call_id": i, "name": c.tool, "arguments": arguments}
                )
        for i, c in zip(ids, calls, strict=True):
            kind = "custom_tool_call_output" if c.tool == "bash" else "function_call_output"
            output: Any = [{"type": "input_text", "text": c.result}] if c.picture else c.result
            self.out.append({"type": kind, "call_id": i, "output": output})
        if aside:
            self.user(aside, False)

    def _says(self, text: str, own: str) -> None:
        content = [{"type": "output_text", "text": text, "annotations": []}]
        self.out.append({"type": "message", "role": "assistant", "id": own, "status": "completed", "content": content})

    def answer(self, text: str) -> None:
        self._says(text, f"msg_{len(self.out)}")


class _Gemini(_Writer):
    def user(self, text: str, picture: bool) -> None:
        image = [{"inlineData": {"mimeType": "image/png", "data": PNG}}] if picture else []
        self.out.append({"role": "user", "parts": [{"text": text}, *image]})

    def step(self, reasoning, words, calls, ids, aside):  # type: ignore[no-untyped-def]
        parts: list[Any] = []
        if reasoning:
            parts.append({"text": reasoning, "thought": True})
        if words:
            parts.append({"text": words})
        for n, c in enumerate(calls):
            signed = {"thoughtSignature": "c2lnbmVk"} if reasoning and not n else {}
            parts.append({"functionCall": {"name": c.tool, "args": c.arguments}, **signed})
        self.out.append({"role": "model", "parts": parts})
        results: list[Any] = [self._result(c) for c in calls]
        if aside:
            results.append({"text": aside})
        self.out.append({"role": "user", "parts": results})

    @staticmethod
    def _result(call: Call) -> dict[str, Any]:
        key = "error" if call.error else "result"
        response = {key: call.result, "exit": 1} if call.picture else {key: call.result}
        return {"functionResponse": {"name": call.tool, "response": response}}

    def answer(self, text: str) -> None:
        self.out.append({"role": "model", "parts": [{"text": text}]})
