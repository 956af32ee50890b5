"""What the Anthropic Messages API accepts of thinking."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ctxpolicy.lint.encoded import is_cut_signature
from ctxpolicy.lint.rule import Fault, Rule, Subject, blocks, is_blank

THINKING = ("thinking", "redacted_thinking")

RULES = (
    Rule("ANT-08", "error", "a tool loop whose last turn does not start with thinking",
         "a final `assistant` message must start with a thinking block",
         "keep the thinking block of the turn, or turn thinking off"),
    Rule("ANT-10", "error", "a thinking block whose signature is missing or cut",
         "Invalid `signature` in `thinking` block", "send the block as it came, or not at all"),
    Rule("ANT-12", "error", "thinking in the last message while thinking is off",
         "When thinking is disabled, an `assistant` message in the final position cannot contain `thinking`",
         "remove the thinking blocks"),
    Rule("ANT-13", "error", "an assistant message that ends with thinking",
         "The final block in an assistant message cannot be `thinking`", "keep what followed the thinking"),
    Rule("ANT-14", "error", "a thinking block with no thinking", "each thinking block must contain thinking",
         "remove the block"),
)  # fmt: skip


def _each(subject: Subject) -> Iterator[Fault]:
    for index, message in enumerate(subject.messages):
        own = blocks(message)
        for path, block in own:
            yield from _block(index, path, block)
        if message.get("role") == "assistant" and own and own[-1][1].get("type") in THINKING:
            yield Fault("ANT-13", index, own[-1][0], "the last block is thinking")


def _block(index: int, path: str, block: dict[str, Any]) -> Iterator[Fault]:
    """ANT-10 and ANT-14. Newer models may show no thinking, but sign it."""
    kind = block.get("type")
    seal = block.get({"thinking": "signature", "redacted_thinking": "data"}.get(str(kind), ""))
    if kind in THINKING and seal and is_cut_signature(seal):
        yield Fault("ANT-10", index, path, "this is no whole signature: something cut it")
    if kind == "thinking" and not seal:
        yield Fault("ANT-10", index, path, "this thinking block has no signature")
        if is_blank(block.get("thinking", "")):
            yield Fault("ANT-14", index, path, "this thinking block is empty")


def _mode(subject: Subject) -> Iterator[Fault]:
    """ANT-08 and ANT-12, where the request says whether thinking is on."""
    thinking = subject.request.get("thinking")
    mode = thinking.get("type") if isinstance(thinking, dict) else None
    last = next(
        (n for n in range(len(subject.messages) - 1, -1, -1) if subject.messages[n].get("role") == "assistant"), None
    )
    if mode is None or last is None:
        return
    own = blocks(subject.messages[last])
    kinds = [block.get("type") for _, block in own]
    if mode == "enabled" and "tool_use" in kinds and kinds[0] not in THINKING and last < len(subject.messages) - 1:
        yield Fault("ANT-08", last, own[0][0], f"the last turn of the tool loop starts with {kinds[0]}")
    if mode == "disabled" and last == len(subject.messages) - 1 and "thinking" in kinds:
        yield Fault("ANT-12", last, own[kinds.index("thinking")][0], "thinking is off in this request")


CHECKS = (_each, _mode)
