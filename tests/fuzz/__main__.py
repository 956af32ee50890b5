"""Try random policies on random transcripts, and check everything that must hold of every run.

`python -m tests.fuzz --seed S --pairs N` prints each new kind of failure as Python to run, and a table at the end;
`--only PAIR` tries one pair again. Exit code 1 when something failed.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator
from functools import partial
from multiprocessing import Pool
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))  # the tests import each other from here, as under pytest

from fuzz.pairs import Pair, draw, snippet
from fuzz.shrink import shrunk
from fuzz.tally import Tally
from fuzz.verdict import Failure, Verdict, judge

SHARE = 100  # pairs that a process takes at a time
EVERY = 30.0  # seconds between two lines of progress


def tried(seed: int, numbers: range) -> Tally:
    tally, begun = Tally(), time.process_time()
    for number in numbers:
        verdict = Verdict()
        pair = verdict.check(True, draw, seed, number)
        tally.add(number, judge(pair) if pair else verdict)
    tally.seconds = time.process_time() - begun
    return tally


def shares(seed: int, pairs: int, jobs: int) -> Iterator[Tally]:
    """The tallies of the shares, in any order."""
    numbers = [range(start, min(start + SHARE, pairs)) for start in range(0, pairs, SHARE)]
    if jobs == 1:
        yield from map(partial(tried, seed), numbers)
        return
    with Pool(jobs, maxtasksperchild=50) as pool:
        yield from pool.imap_unordered(partial(tried, seed), numbers)


def main() -> int:
    asked = _arguments()
    if asked.only is not None:
        return show(asked.seed, asked.only)
    total, begun, told = Tally(), time.monotonic(), time.monotonic()
    try:
        for tally in shares(asked.seed, asked.pairs, asked.jobs):
            _print_new(asked.seed, tally, total)
            total.merge(tally)
            if time.monotonic() - told > EVERY:
                told = time.monotonic()
                print(_headline(asked, total, told - begun), file=sys.stderr, flush=True)
    except KeyboardInterrupt:
        print("interrupted; what was tried until then:")
    print(_headline(asked, total, time.monotonic() - begun))
    print("\n".join(total.lines()))
    return bool(total.failed)


def _print_new(seed: int, tally: Tally, total: Tally) -> None:
    """Print a pair for each kind of failure that was not seen before."""
    for failure, numbers in tally.named.items():
        if failure not in total.failed:
            print(f"# seed {seed}, pair {numbers[0]}: {failure.check}\n# {failure.where}")
            pair = Verdict().check(False, draw, seed, numbers[0])
            print(snippet(pair) if pair else "# no pair can be drawn", end="\n\n", flush=True)


def show(seed: int, number: int) -> int:
    """Try one pair again; where it fails, print for each check the smallest pair found that fails it too."""
    pair = draw(seed, number)
    failures = judge(pair).failures
    for failure in failures:
        print(f"# seed {seed}, pair {number}: {failure.check}\n# {failure.where}")
        print(snippet(shrunk(pair, partial(_fails, failure))), end="\n\n", flush=True)
    print(f"pair {number}: {len(failures)} checks failed")
    return bool(failures)


def _fails(failure: Failure, pair: Pair) -> bool:
    return failure in judge(pair).failures


def _headline(asked: argparse.Namespace, total: Tally, seconds: float) -> str:
    return (
        f"seed {asked.seed}: {total.pairs:,} of {asked.pairs:,} pairs in {seconds:,.0f} s on {asked.jobs} jobs, "
        f"{total.pairs / max(total.seconds, 0.001):,.0f} a second of CPU time; "
        f"{sum(total.failed.values()):,} failures of {len(total.failed):,} kinds"
    )


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--pairs", type=int, default=1_000)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--only", type=int, metavar="PAIR", help="try this pair again and print it")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
