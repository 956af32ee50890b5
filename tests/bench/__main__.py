"""Print the table. `python -m tests.bench [NAME...]` runs the parts named, or all, each in a process of its own.

With `--write` the table in docs/speed.md is written anew.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

PARTS = ("live", "apply", "formats", "files", "start", "calibration")
PAGE = Path(__file__).resolve().parents[2] / "docs" / "speed.md"


def main() -> int:
    names = [name for name in sys.argv[1:] if name != "--write"] or list(PARTS)
    if unknown := [name for name in names if name not in PARTS]:
        print(f"there is no part {unknown[0]!r}; the parts are {', '.join(PARTS)}", file=sys.stderr)
        return 2
    table = []
    for line in printed(names[0]) if len(names) == 1 else alone(names):
        print(line, flush=True)
        table.append(line)
    missed = sum(line.endswith("MISSED") for line in table)
    print(f"{missed} bounds missed" if missed else "all bounds hold")
    if "--write" in sys.argv:
        write(table)
    return 0


def write(table: list[str]) -> None:
    """Put the table in the place of the one on the page."""
    before, opening, rest = PAGE.read_text(encoding="utf-8").partition("```text\n")
    _, closing, after = rest.partition("```\n")
    PAGE.write_text("".join([before, opening, *(f"{line}\n" for line in table), closing, after]), encoding="utf-8")


def printed(name: str) -> Iterator[str]:
    """The lines of one part."""
    return (str(line).rstrip() for line in import_module(f"tests.bench.{name}").lines())


def alone(names: list[str]) -> Iterator[str]:
    """The lines of parts, each in a new process: what one part leaves in memory is not to be measured with the next."""
    for name in names:
        done = subprocess.run(
            [sys.executable, "-m", "tests.bench", name], stdout=subprocess.PIPE, text=True, check=True
        )
        yield from done.stdout.splitlines()[:-1]


if __name__ == "__main__":
    sys.exit(main())
