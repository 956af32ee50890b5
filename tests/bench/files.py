"""`ctxpolicy apply` over a JSON Lines file of conversations, against a bare orjson pass over the same bytes."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator
from pathlib import Path

from tests.bench.measure import Line, at_most, child, median_child
from tests.bench.sessions import conversation

_BARE = """
import orjson
with open(sys.argv[1], "rb") as given, open(sys.argv[2], "wb") as out:
    for line in given:
        out.write(orjson.dumps(orjson.loads(line)) + b"\\n")
"""
_OURS = """
from ctxpolicy.cli import main
sys.argv = ["ctxpolicy", "apply", "--policy", sys.argv[3], "--archive", "none", "-o", sys.argv[2], sys.argv[1]]
try:
    main()
except SystemExit as done:
    assert not done.code, done.code
sys.stderr.write("\\n")
"""


def lines() -> Iterator[Line]:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        small, large = folder / "small.jsonl", folder / "large.jsonl"
        _write(small, 50)
        _write(large, 500)
        policies = {counter: _policy(folder, counter) for counter in ("chars", "estimate")}
        out = str(folder / "out.jsonl")
        bare = median_child(_BARE, str(small), out, runs=3)
        for counter, bound in (("chars", 1.5), ("estimate", 3.0)):
            ours = median_child(_OURS, str(small), out, policies[counter], runs=3)
            yield at_most(f"files: apply with {counter}, nothing to do / a bare orjson pass", ours / bare, "x", bound)
        less, more = (child(_OURS, str(file), out, policies["chars"])[1] for file in (small, large))
        yield at_most("files: resident memory from a 50 MB to a 500 MB file grows by", more - less, "MB", 10)


def _policy(folder: Path, counter: str) -> str:
    file = folder / f"{counter}.yaml"
    file.write_text(
        f"version: 1\nname: files\nextends: [builtin:default]\nbudget: {{window: 1000000, counter: {counter}}}\n"
    )
    return str(file)


def _write(file: Path, megabytes: int) -> None:
    with file.open("w", encoding="utf-8") as out:
        size = seed = 0
        while size < megabytes * 1_000_000:
            size += out.write(json.dumps({"messages": conversation(40, seed)}) + "\n")
            seed += 1
