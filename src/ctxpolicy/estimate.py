"""`estimate`: tokens of a text without a tokenizer, from what its characters look like.

A tokenizer first splits a text into words, signs and numbers, and most pieces are one token or little more. So the
ASCII part of a text costs, per *run* (what stands together of one class: small letters, capitals, signs, line breaks
and tabs) and per character, with something on top for digits, capitals and every letter after the 15th of a run, where
no dictionary helps. Spaces are in no run: they are part of the token that follows. Other characters cost by script.

The weights come from `python -m tests.counting`, which fits them to real tokenizers and prints how far off they are;
docs/counting.md has its table. They stand a little above the best fit: counting too little costs a refused call,
counting too much only some room.

Every text is read whole, long ones in blocks. To read only samples of them would save little, for few texts are long,
and it would cost what the rules rest on: that more text never costs less, since no weight is negative, and that a text
cut to a cap is still within it whoever counts.
"""

from __future__ import annotations

import string

# In thousandths of a token.
WEIGHTS = {"run": 840, "character": 32, "digit": 740, "capital": 250, "long": 460}

# The same for what is not ASCII, by the high byte of each UTF-16 unit (an emoji is two units).
WIDE_WEIGHTS = {
    "latin": (range(0x03), 1700),
    "cyrillic, vietnamese": ((0x04, 0x1E), 500),
    "arabic, thai, boxes": ((0x06, 0x07, 0x08, 0x0E, 0x25), 740),
    "greek, kana": ((0x03, 0x30), 800),
    "hebrew, armenian": ((0x05,), 900),
    "indic": (range(0x09, 0x0E), 1000),
    "emoji": (range(0xD8, 0xE0), 1250),
    "all others": (range(0x100), 1030),  # Chinese and Korean among them
}

_BLOCK = 16_384  # characters; what is worked with then stays in the processor's caches
_SEEN = 15  # letters of a run before one is long: a block is read from there on, so that runs go on across its edge

# Classes that are counted as runs have a bit of their own, so the borders are found with one shift of the whole text.
_SMALL, _CAPITAL, _SIGN, _BREAK, _DIGIT, _SPACE = 1, 2, 4, 8, 16, 0
_CLASSES = bytes(
    _SMALL if char in string.ascii_lowercase else
    _CAPITAL if char in string.ascii_uppercase else
    _DIGIT if char in string.digits else
    _BREAK if char in "\r\n\t" else
    _SPACE if char == " " else
    _SIGN
    for char in map(chr, range(256))
)  # fmt: skip
_IN_RUNS = int.from_bytes(bytes([_SMALL | _CAPITAL | _SIGN | _BREAK]) * (_BLOCK + _SEEN))  # all but the digits
_LETTERS = int.from_bytes(bytes([_SMALL | _CAPITAL]) * (_BLOCK + _SEEN))

_RUN, _CHARACTER, _DIGITS, _CAPITALS, _LONG = WEIGHTS.values()
_SCRIPTS = bytes(next(n for n, (highs, _) in enumerate(WIDE_WEIGHTS.values()) if high in highs) for high in range(256))
_SCRIPT_WEIGHTS = tuple(weight for _, weight in WIDE_WEIGHTS.values())


def estimate(text: str) -> int:
    """Tokens of a text, rounded up. No text but the empty one is free."""
    plain = text.encode("ascii", "ignore")
    runs, digits, capitals, long = features(plain)
    cost = runs * _RUN + len(plain) * _CHARACTER + digits * _DIGITS + capitals * _CAPITALS + long * _LONG
    if len(plain) < len(text):
        cost += _wide_cost(text, len(plain))
    return -(-cost // 1000)


def features(plain: bytes) -> tuple[int, int, int, int]:
    """Of ASCII text: runs, digits, capitals, and letters after the 15th of their run."""
    if len(plain) <= _BLOCK:
        return _features(plain)
    starts = range(0, len(plain), _BLOCK)
    read = zip(*(_features(plain[max(0, start - _SEEN) : start + _BLOCK]) for start in starts), strict=True)
    twice = zip(*(_features(plain[max(0, start - _SEEN) : start]) for start in starts), strict=True)
    runs, digits, capitals, long = (sum(some) - sum(less) for some, less in zip(read, twice, strict=True))
    return runs, digits, capitals, long


def _features(plain: bytes) -> tuple[int, int, int, int]:
    classes = plain.translate(_CLASSES)
    bits = int.from_bytes(classes)
    two = bits & (bits >> 8)  # the bits that the character before has too; then those that 3, 7, 15 before have
    four = two & (two >> 16)
    eight = four & (four >> 32)
    long = eight & (eight >> 64) & _LETTERS
    return (
        ((bits ^ two) & _IN_RUNS).bit_count(),
        classes.count(_DIGIT),
        classes.count(_CAPITAL),
        long.bit_count() if long else 0,
    )


def _wide_cost(text: str, plain: int) -> int:
    """`plain` is how many characters are ASCII: their high bytes are 0 as well, as those of `latin` are."""
    scripts = text.encode("utf-16-be", "surrogatepass")[::2].translate(_SCRIPTS)
    left, cost = len(scripts), -plain * _SCRIPT_WEIGHTS[0]
    for script, weight in enumerate(_SCRIPT_WEIGHTS[:-1]):
        found = scripts.count(script)
        cost += found * weight
        left -= found
        if not left:  # most texts are written in one or two
            break
    return cost + left * _SCRIPT_WEIGHTS[-1]
