"""`ctxpolicy apply` over a JSON Lines file of conversations, against a bare orjson pass over the same bytes."""

from __future__ import annotations

import json
import statistics
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from tests.bench.measure import Line, at_most, child
from tests.bench.sessions import conversation

_BARE = """
import orjson
with open(sys.argv[1], "rb") as given, open(sys.argv[2], "wb") as out:
    for line in given:
        out.write(orjson.dumps(orjson.loads(line)) + b"\\n")
"""
_OURS = """
from ctxpolicy.cli import main
given, out, policy, jobs = sys.argv[1:]
sys.argv = ["ctxpolicy", "apply", "--policy", policy, "--jobs", jobs, "--archive", "none", "-o", out, given]
try:
    main()
except SystemExit as done:
    assert not done.code, done.code
sys.stderr.write("\\n")
"""
_LARGE, _SMALL = 1_000_000, 6_000  # windows: of one the conversations fill 1 %, of the other more than there is


def lines() -> Iterator[Line]:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        small, large = folder / "small.jsonl", folder / "large.jsonl"
        _write(small, 50)
        _write(large, 500)
        out = str(folder / "out.jsonl")
        works = [(_BARE, str(large), out)]  # so large that the start of either does not count
        works += [(_OURS, str(large), out, _policy(folder, name, _LARGE), "1") for name in ("chars", "estimate")]
        bare, chars, estimate = _in_turn(works)
        yield at_most("files: apply with chars, nothing to do / a bare orjson pass", chars / bare, "x", 1.5)
        yield at_most("files: apply with estimate, nothing to do / a bare orjson pass", estimate / bare, "x", 3)
        quiet, busy = (_policy(folder, "chars", window) for window in (_LARGE, _SMALL))
        less, more = (child(_OURS, str(file), out, quiet, "1")[1] for file in (small, large))
        yield at_most("files: resident memory from a 50 MB to a 500 MB file grows by", more - less, "MB", 10)
        one, two = _in_turn([(_OURS, str(small), out, busy, jobs) for jobs in ("1", "2")])
        # Under 2 it is faster where two CPUs are free; how much by the clock depends on what else they do.
        yield at_most("files: --jobs 2 / one process, CPU of all, where every list is cut", two / one, "x", 2)


def _in_turn(works: Sequence[tuple[str, ...]], runs: int = 3) -> list[float]:
    """The median CPU seconds of each process, run in turn: a slow moment of the machine hits all."""
    times = [[child(*work)[0] for work in works] for _ in range(runs)]
    return [statistics.median(column) for column in zip(*times, strict=True)]


def _policy(folder: Path, counter: str, window: int) -> str:
    file = folder / f"{counter}-{window}.yaml"
    budget = f"{{window: {window}, reserve: 500, counter: {counter}}}"
    file.write_text(f"version: 1\nname: files\nextends: [builtin:default]\nbudget: {budget}\n")
    return str(file)


def _write(file: Path, megabytes: int) -> None:
    with file.open("w", encoding="utf-8") as out:
        size = seed = 0
        while size < megabytes * 1_000_000:
            size += out.write(json.dumps({"messages": conversation(40, seed)}) + "\n")
            seed += 1
