"""Work in several processes, with its results in the order of what was given."""

from __future__ import annotations

import os
import signal
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from concurrent.futures import Future

_Given = TypeVar("_Given")
_Made = TypeVar("_Made")
_AHEAD = 3  # pieces of work for each process that are under way or wait, so that none is idle and memory stays flat
_MOST = 61  # processes that Windows can wait for


class ProcessDied(Exception):
    """A process ended before its work was done."""


def number_of(jobs: int) -> int:
    """How many processes `--jobs` means: 0 is one for each CPU that this process may use."""
    if jobs == 0:
        allowed = getattr(os, "sched_getaffinity", None)  # not on every system
        jobs = len(allowed(0)) if allowed else os.cpu_count() or 1
    return min(jobs, _MOST)


def in_order(
    work: Callable[[_Given], _Made], given: Iterable[_Given], processes: int, begin: Callable[..., None], *args: Any
) -> Iterator[_Made]:
    """What `work` makes of each thing given. Each process calls `begin(*args)` first.

    Functions, arguments and results are pickled; processes start anew (`spawn`), the same on every system. Raises what
    `work` raises, and ProcessDied.
    """
    from concurrent.futures import ProcessPoolExecutor  # 20 ms, and most runs need no processes
    from concurrent.futures.process import BrokenProcessPool
    from multiprocessing import get_context

    pool = ProcessPoolExecutor(processes, get_context("spawn"), _begin, (begin, *args))
    waiting: deque[Future[_Made]] = deque()
    try:
        for one in given:
            waiting.append(pool.submit(work, one))
            if len(waiting) == _AHEAD * processes:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    except BrokenProcessPool as error:
        raise ProcessDied from error
    finally:
        pool.shutdown(cancel_futures=True)


def _begin(begin: Callable[..., None], *args: Any) -> None:
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # an interrupt ends it at once and without a traceback
    begin(*args)
