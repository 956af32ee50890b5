"""A policy as frozen data: what the file says after validation, with the defaults filled in.

Nothing here knows YAML, positions or messages. `build` makes it from the checked document, `compile` reads it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Literal

import msgspec

TOKENS_PER_WORD = 1.5  # what a note of `word_limit` words is priced at before it exists
ACTIONS = ("truncate", "mask", "compact", "evict", "refuse")

Scalar = str | int | float | bool | None
ReadRole = Literal["system", "developer", "user", "assistant", "tool", "injected"]


class Compare(msgspec.Struct, frozen=True):
    """Bounds on a number; all that are given must hold."""

    gt: float | None = None
    gte: float | None = None
    lt: float | None = None
    lte: float | None = None

    def holds(self, value: float) -> bool:
        """True when `value` is inside every bound given."""
        return (
            (self.gt is None or value > self.gt)
            and (self.gte is None or value >= self.gte)
            and (self.lt is None or value < self.lt)
            and (self.lte is None or value <= self.lte)
        )


class Amount(msgspec.Struct, frozen=True):
    """Tokens, or a share of the budget limit. Exactly one of the two is set."""

    tokens: int | None = None
    share: float | None = None

    def of(self, limit: int) -> float:
        """This amount in tokens, for a budget limit in tokens."""
        return self.tokens if self.tokens is not None else (self.share or 0.0) * limit

    def at_least(self, limit: int) -> int:
        """The least whole number of tokens that reaches this amount."""
        return math.ceil(self.of(limit) - 1e-9)


class Rank(msgspec.Struct, frozen=True):
    """How many messages a rank covers: a count, or an amount of their tokens. Exactly one of the two is set."""

    count: int | None = None
    amount: Amount | None = None


class Match(msgspec.Struct, frozen=True):
    """One flat mapping of the match language; None means the key was not given, and all given keys must hold."""

    everything: bool = False  # written `match: all`
    role: tuple[ReadRole, ...] | None = None
    name: tuple[str, ...] | None = None
    tool: tuple[str, ...] | None = None
    contains: tuple[str, ...] | None = None
    regex: tuple[str, ...] | None = None
    tokens: Compare | None = None
    share: Compare | None = None
    has: tuple[str, ...] | None = None
    field: Mapping[str, tuple[Scalar, ...]] | None = None
    meta: Mapping[str, tuple[Scalar, ...]] | None = None
    opening: bool | None = None
    turn_age: Compare | None = None
    superseded: bool | None = None
    newest: Rank | None = None
    oldest: Rank | None = None
    all_but_newest: Rank | None = None
    not_: Match | None = None
    any_: tuple[Match, ...] | None = None
    all_: tuple[Match, ...] | None = None


class When(msgspec.Struct, frozen=True):
    """A condition on the list. `facts` are pairs of a fact's name and its bounds; everything given must hold.

    Facts: pressure, used, messages, tool_tokens, results, turns, headroom.
    """

    facts: tuple[tuple[str, Compare], ...] = ()
    not_: When | None = None
    any_: tuple[When, ...] | None = None
    all_: tuple[When, ...] | None = None


Until = When | Literal["all"] | None  # None: no longer over the trigger


class Truncate(msgspec.Struct, frozen=True):
    max_tokens: int
    max_lines: int | None = None
    head: float = 0.6
    tail: float = 0.4
    marker: str | None = None  # a template; None is the default text
    keep_lines: str | None = None  # a pattern
    json: Literal["prune", "text"] = "prune"


class Mask(msgspec.Struct, frozen=True):
    parts: tuple[Literal["results", "arguments", "reasoning", "media"], ...] = ("results",)
    placeholder: str | None = None
    min_gain: Amount | None = None
    until: Until = "all"
    batch: int | None = None


class KeepFacts(msgspec.Struct, frozen=True):
    """The share of the span's facts that a note must have word for word, and what happens to one that has fewer."""

    share: float
    on_missing: Literal["refuse", "append"] = "refuse"


class Compact(msgspec.Struct, frozen=True):
    prompt: str | None = None
    until: Until = None
    keep: Match | None = None
    span_min: int = 2
    span_max: int | None = None
    min_gain: Amount = Amount(share=0.0)
    word_limit: int = 200
    nothing: str = "NOTHING"
    input_tokens: int | None = None  # written `input: {max_tokens}`
    max_passes: int = 8
    max_summaries: int = 8
    summaries: Literal["keep", "merge"] = "keep"
    breaker: int = 3
    keep_facts: KeepFacts | None = None  # None: facts are not counted
    label: str | None = None  # template of a summary's first two lines
    marker: str | None = None  # template of the gaps it leaves
    summarizer: tuple[Summarizer, ...] | None = None  # this rule's own, before the policy's


class Evict(msgspec.Struct, frozen=True):
    until: Until = None
    keep: Match | None = None
    marker: str | None = None


class Refuse(msgspec.Struct, frozen=True):
    message: str | None = None


Action = Truncate | Mask | Compact | Evict | Refuse


class Summarizer(msgspec.Struct, frozen=True):
    """One way to get a summary: `none`, `extract`, `scripted:FILE`, `command:CMD`, `openai:MODEL`, ..."""

    use: str
    timeout: float = 60.0  # seconds for a reply, all tries together
    max_tokens: int | None = None  # of the reply; None: as many as the word limit may need
    retries: int = 2  # further tries of a call that failed in a way that may pass
    base_url: str | None = None  # of the endpoint; None: the environment's, else the provider's own
    api_key_env: str | None = None  # the environment variable that holds the key; None: the provider's usual one


class Pin(msgspec.Struct, frozen=True):
    id: str
    match: Match


class Rule(msgspec.Struct, frozen=True):
    id: str
    at: Literal["append", "send"]
    action: Action
    match: Match | None = None
    when: When | None = None


class ReadAs(msgspec.Struct, frozen=True):
    match: Match
    as_: Literal["tool", "system", "injected"]


class Budget(msgspec.Struct, frozen=True):
    window: int
    ratio: float = 1.0
    reserve: int = 0
    counter: str = "estimate"  # chars | estimate | tokenizer:NAME
    tools_tokens: int | None = None  # stands in where the caller passes no tools
    image: int = 1000  # tokens a piece; media are never counted as text
    audio: int = 1000
    file: int = 1000

    @property
    def limit(self) -> int:
        """floor(window x ratio) - reserve, in tokens."""
        return int(self.window * self.ratio + 1e-9) - self.reserve


class Archive(msgspec.Struct, frozen=True):
    path: str | None = ".ctxpolicy/archive"  # None: `archive: false`
    on_error: Literal["keep", "drop"] = "keep"


class Spec(msgspec.Struct, frozen=True):
    """An effective, checked policy: own and inherited entries composed, `disable` carried out."""

    name: str
    budget: Budget
    description: str = ""
    read_as: tuple[ReadAs, ...] = ()
    pins: tuple[Pin, ...] = ()
    rules: tuple[Rule, ...] = ()
    summarizer: tuple[Summarizer, ...] = ()
    reasoning: Literal["keep", "strip_after_edit", "refuse_edit"] = "keep"
    archive: Archive = Archive()
    hash: str = ""  # SHA-256 (hex) of the effective document's canonical JSON
