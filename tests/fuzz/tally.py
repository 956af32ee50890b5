"""What came of many pairs: sums that stay small however many there are, and the table made of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from fuzz.verdict import Failure, Verdict

_NAMED = 5  # pairs named of one kind of failure


class Tally:
    """`acted` counts pairs by action, `made` and `counted` by check: made at all, and with a rule acting in it.

    `seconds` is the CPU time it took.
    """

    def __init__(self) -> None:
        self.seconds = 0.0
        self.pairs = self.refused = self.acting = 0
        self.acted: Counter[str] = Counter()
        self.made: Counter[str] = Counter()
        self.counted: Counter[str] = Counter()
        self.failed: Counter[Failure] = Counter()
        self.named: dict[Failure, list[int]] = {}

    def add(self, number: int, verdict: Verdict) -> None:
        self.pairs += 1
        self.refused += verdict.refused
        self.acting += bool(verdict.actions)
        self.acted.update(verdict.actions)
        self.made.update(verdict.checks.keys())
        self.counted.update(name for name, counts in verdict.checks.items() if counts)
        for failure in dict.fromkeys(verdict.failures):
            self._fail(failure, 1, [number])

    def merge(self, other: Tally) -> None:
        self.seconds += other.seconds
        self.pairs += other.pairs
        self.refused += other.refused
        self.acting += other.acting
        self.acted += other.acted
        self.made += other.made
        self.counted += other.counted
        for failure, times in other.failed.items():
            self._fail(failure, times, other.named[failure])

    def _fail(self, failure: Failure, times: int, numbers: list[int]) -> None:
        self.failed[failure] += times
        self.named[failure] = sorted([*self.named.get(failure, ()), *numbers])[:_NAMED]

    def lines(self) -> Iterator[str]:
        yield f"{self.acting:>9,}  {self.acting / max(1, self.pairs):>4.0%}  a rule acted"
        for action, times in self.acted.most_common():
            yield f"{times:>9,}  {times / self.pairs:>4.0%}    {action}"
        yield f"{self.refused:>9,}  {self.refused / max(1, self.pairs):>4.0%}  refused"
        yield ""
        yield "  checked   acting  failed  (the dearer checks take turns)"
        failed = Counter[str]()
        for failure, times in self.failed.items():
            failed[failure.check] += times
        for name, times in self.made.items():
            yield f"{times:>9,}  {self.counted[name] / times:>7.0%}  {failed[name]:>6,}  {name}"
        for failure, times in self.failed.most_common():
            yield ""
            yield f"{times:,} times: {failure.check}"
            yield f"  {failure.where}"
            yield f"  pairs {', '.join(map(str, self.named[failure]))}"
