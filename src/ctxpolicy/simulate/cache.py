"""What a provider's prompt cache would have had of each call."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import takewhile

from ctxpolicy.simulate.reading import Seen


class PromptCache:
    """A cache that never forgets and keeps the last list sent: the part of the next one that begins alike is a hit.

    Providers work in blocks, ask for a minimum of about 1,000 tokens and forget after minutes; their figures are lower.
    `fixed` is tokens that stand before the list and never change (tools).
    """

    def __init__(self, fixed: int) -> None:
        self._fixed = fixed
        self._last: Sequence[Seen] | None = None

    def send(self, messages: Sequence[Seen]) -> int:
        """Tokens of this call that are read from the cache. Equal messages must be the same object (see `Reader`)."""
        last, self._last = self._last, messages
        if last is None:
            return 0
        alike = takewhile(lambda pair: pair[0] is pair[1], zip(last, messages, strict=False))
        return self._fixed + sum(one.tokens for one, _ in alike)
