"""Work in several processes, with its results in the order of what was given."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from threading import Thread, main_thread
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from concurrent.futures import Future
    from multiprocessing.connection import Connection

_Given = TypeVar("_Given")
_Made = TypeVar("_Made")
_AHEAD = 3  # pieces of work for each process that are under way or wait, so that none is idle and memory stays flat
_PATIENCE = 3.0  # seconds that a process has to end what it runs
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
    work: Callable[[_Given], _Made],
    given: Iterable[_Given],
    processes: int,
    begin: Callable[..., None],
    *args: Any,
    here: Callable[[_Given], _Made],
) -> Iterator[_Made]:
    """What `work` makes of each thing given. Each process calls `begin(*args)` first.

    Functions, arguments and results are pickled; processes start anew (`spawn`), the same on every system. They end
    with this one, however it ends. What is nested too deeply to be pickled is left to `here`, in this process. Raises
    what `work` raises, and ProcessDied.
    """
    from concurrent.futures import ProcessPoolExecutor  # 20 ms, and most runs need no processes
    from concurrent.futures.process import BrokenProcessPool
    from multiprocessing import get_context

    spawn = get_context("spawn")
    theirs, ours = spawn.Pipe(duplex=False)  # nothing is sent: it closes with this process
    pool = ProcessPoolExecutor(processes, spawn, _begin, (theirs, begin, *args))
    waiting: deque[tuple[_Given, Future[_Made]]] = deque()

    def made() -> _Made:
        one, future = waiting.popleft()
        try:
            return future.result()
        except RecursionError:
            return here(one)

    try:
        for one in given:
            waiting.append((one, pool.submit(_do, work, one)))
            if len(waiting) == _AHEAD * processes:
                yield made()
        while waiting:
            yield made()
    except BrokenProcessPool as error:
        raise ProcessDied from error
    finally:
        ours.close()  # what is still at work is not wanted any more
        pool.shutdown(cancel_futures=True)
        theirs.close()


# In each of the processes. The first process decides when they end: an interrupt reaches all that share its terminal.


def _begin(first: Connection, begin: Callable[..., None], *args: Any) -> None:
    if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
        signal.signal(signal.SIGINT, lambda *_: None)  # not SIG_IGN, which the commands it runs would inherit
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # by way of what is at work, so that its commands end too
    Thread(target=_end_with, args=(first,), daemon=True).start()
    _do(begin, *args)


def _end_with(first: Connection) -> None:
    """End this process when the first one closes its end of the pipe, or is gone."""
    with suppress(EOFError, OSError):
        first.recv_bytes()
    if sys.platform != "win32":
        signal.pthread_kill(main_thread().ident or 0, signal.SIGTERM)
        time.sleep(_PATIENCE)
    os._exit(1)


def _do(work: Callable[..., _Made], *given: Any) -> _Made:
    try:
        return work(*given)
    except SystemExit:
        os._exit(1)  # or a process of a pool tells what it was, and goes on
