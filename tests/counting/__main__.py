"""Print the weights of `estimate`, as they stand in the source and as fitted here, and how far off it is.

`python -m tests.counting`; it takes about a minute where the recorded transcripts are there.
"""

from __future__ import annotations

import sys
import time
import timeit
from collections.abc import Callable, Iterator, Mapping
from statistics import median

from ctxpolicy.estimate import WEIGHTS, estimate

from . import fit, table, texts
from .made import made
from .tokenizers import Tokenizer, available


def main() -> int:
    tokenizers = available()
    if not tokenizers:
        sys.exit("no tokenizer is installed: pip install 'ctxpolicy[bench]'")
    files = texts.recorded()
    groups = {"made": made(), "found": texts.found(), "recorded": texts.transcripts(files)}
    kinds = {kind: of for group in groups.values() for kind, of in group.items()}
    counts = {name: {kind: count(of) for kind, of in kinds.items()} for name, count in tokenizers.items()}
    shares = {kind: fit.SHARES[name] for name, group in groups.items() for kind in group}

    weights = fit.fitted(kinds, list(counts.values()), shares)
    print(*_weights(weights), "", sep="\n")
    lines = [*_wholes(tokenizers, kinds, files), *_kinds(kinds, counts, shares), *_scripts(tokenizers)]
    print(*table.drawn(lines), sep="\n")
    print("", _speed(kinds["prose"] + kinds["python"]), sep="\n")
    return 0


def _weights(fitted: Mapping[str, float]) -> Iterator[str]:
    yield "| In thousandths of a token | In the source | Fitted here |"
    yield "|---|--:|--:|"
    for name, weight in WEIGHTS.items():
        yield f"| {name} | {weight} | {fitted[name] * 1000:.0f} |"


def _wholes(
    tokenizers: Mapping[str, Tokenizer], kinds: dict[str, list[str]], files: list[list[str]]
) -> Iterator[table.Line]:
    """Lists of texts, each counted as one."""
    for name, lists in (("whole windows, mixed", texts.windows(kinds)), ("whole transcripts", files)):
        guesses = [sum(map(estimate, of)) for of in lists]
        exact = {name: [sum(count(of)) for of in lists] for name, count in tokenizers.items()}
        if lists:
            yield table.Line(name, {name: table.ratios(guesses, of) for name, of in exact.items()})


def _kinds(
    kinds: dict[str, list[str]], counts: Mapping[str, fit.Counts], shares: Mapping[str, float]
) -> Iterator[table.Line]:
    for kind in reversed(kinds):
        guesses = [estimate(text) for text in kinds[kind]]
        ratios = {name: table.ratios(guesses, of[kind]) for name, of in counts.items()}
        left_out = fit.unseen(kinds, counts, shares, kind)
        yield table.Line(kind, ratios, {name: median(of) for name, of in left_out.items() if of})


def _scripts(tokenizers: Mapping[str, Tokenizer]) -> Iterator[table.Line]:
    for group, of in texts.written().items():
        guesses = [estimate(text) for text in of]
        yield table.Line(group, {name: table.ratios(guesses, count(of)) for name, count in tokenizers.items()})


def _speed(of: list[str]) -> str:
    messages, long = [text[:1300] for text in of], "".join(of)
    short, most = _seconds(lambda: [*map(estimate, messages)]), _seconds(lambda: estimate(long))
    return f"1,300 characters take {short / len(messages) * 1e6:.1f} us, {len(long):,} take {most * 1e3:.1f} ms"


def _seconds(work: Callable[[], object]) -> float:
    """CPU seconds, the fewest of some tries."""
    return min(timeit.repeat(work, timer=time.process_time, number=10, repeat=9)) / 10


if __name__ == "__main__":
    sys.exit(main())
