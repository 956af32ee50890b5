"""Runs one compaction from transcript to file, once for each point at which it could be killed: python killed.py DIR.

Every change of the disk (a folder, a file, a write, a sync, a rename) is such a point; a write also dies half done. A
child process kills itself there with SIGKILL. Each run has its own folder DIR/N with `in.jsonl`, `archive` and, where
the run came so far, `out.jsonl`. The last one is not killed at all.
"""

from __future__ import annotations

import os
import shutil
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ctxpolicy.cli import main

CHANGES = ("mkdir", "write", "fsync", "replace", "rename", "open", "unlink")
_STOPS = 2  # before the change, and after it (a write: half way)


def run(folder: Path, stop: int) -> None:
    """Apply the policy, dying at stop number `stop` (two for each change); without reaching it, exit as usual."""
    at = [0]

    def dying(change: Callable[..., Any], name: str) -> Callable[..., Any]:
        def changed(*arguments: Any, **options: Any) -> Any:
            if name == "open" and not arguments[1] & os.O_CREAT:
                return change(*arguments, **options)
            at[0] += _STOPS
            if at[0] - 2 == stop:
                os.kill(os.getpid(), signal.SIGKILL)
            if at[0] - 1 == stop:
                try:
                    if name == "write":
                        change(arguments[0], arguments[1][: len(arguments[1]) // 2])
                    else:
                        change(*arguments, **options)
                finally:  # a folder that is there already cannot be made, and is no end
                    os.kill(os.getpid(), signal.SIGKILL)
            return change(*arguments, **options)

        return changed

    for name in CHANGES:
        setattr(os, name, dying(getattr(os, name), name))
    arguments = ["apply", "--policy", "../policy.yaml", "--archive", "archive", "-o", "out.jsonl", "in.jsonl"]
    os.chdir(folder)
    with open(os.devnull, "w") as sys.stderr:
        main.main(args=arguments)


def every(directory: Path) -> None:
    stop = 0
    while True:
        folder = directory / str(stop)
        folder.mkdir()
        shutil.copy(directory / "in.jsonl", folder)
        child = os.fork()
        if child == 0:
            try:
                run(folder, stop)
            except SystemExit as done:
                os._exit(int(done.code or 0))
            finally:
                os._exit(9)
        _, status = os.waitpid(child, 0)
        if not os.WIFSIGNALED(status):
            print(stop, os.waitstatus_to_exitcode(status))
            return
        stop += 1


if __name__ == "__main__":
    # what is imported once need not be imported in every child
    import ctxpolicy.cli.apply
    import ctxpolicy.summarize.extract  # noqa: F401

    every(Path(sys.argv[1]))
