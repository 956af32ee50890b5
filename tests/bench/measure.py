"""Measuring: CPU seconds of this process, medians over runs taken in turn, so that a slow moment hits both sides."""

from __future__ import annotations

import atexit
import gc
import os
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from tempfile import TemporaryDirectory


@dataclass(frozen=True)
class Line:
    """One line of the table: what was measured, the figure, and the bound that the project set itself."""

    what: str
    figure: float
    unit: str
    bound: str
    holds: bool

    def __str__(self) -> str:
        return (
            f"{self.what:<74} {self.figure:>10,.2f} {self.unit:<6} {self.bound:<12} {'ok' if self.holds else 'MISSED'}"
        )


def at_most(what: str, figure: float, unit: str, bound: float) -> Line:
    return Line(what, figure, unit, f"<= {bound:g}", figure <= bound)


def at_least(what: str, figure: float, unit: str, bound: float) -> Line:
    return Line(what, figure, unit, f">= {bound:g}", figure >= bound)


def cpu(work: Callable[[], object]) -> float:
    """CPU seconds of one call, garbage collected before."""
    gc.collect()
    start = time.process_time()
    work()
    return time.process_time() - start


def in_turn(works: Sequence[Callable[[], object]], runs: int = 5) -> list[float]:
    """The median CPU seconds of each, run in turn after one warm-up."""
    for work in works:
        work()
    times = [[cpu(work) for work in works] for _ in range(runs)]
    return [statistics.median(column) for column in zip(*times, strict=True)]


def child(code: str, *args: str) -> tuple[float, float]:
    """CPU seconds and peak resident megabytes of a Python process that runs `code`, with its bytecode kept."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    watch = f"import resource, sys\n{code}\nprint(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, file=sys.stderr)"
    command = [sys.executable, "-c", watch, *args]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=_environment())
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return seconds, int(done.stderr.split()[-1]) / 1024


@cache
def _environment() -> dict[str, str]:
    """That of a process which finds its modules compiled, as after any first run; here or there that is turned off."""
    folder = TemporaryDirectory()
    atexit.register(folder.cleanup)
    kept = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
    return {**kept, "PYTHONPYCACHEPREFIX": folder.name}


def median_child(code: str, *args: str, runs: int = 5) -> float:
    """Median CPU seconds of such a process."""
    return statistics.median(child(code, *args)[0] for _ in range(runs))
