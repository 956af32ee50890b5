"""Print the table. `python -m tests.bench [NAME...]` runs the parts named, or all of PARTS."""

from __future__ import annotations

import sys

from tests.bench import apply, calibration, files, formats, live, start

PARTS = {
    "live": live.lines,
    "apply": apply.lines,
    "formats": formats.lines,
    "files": files.lines,
    "start": start.lines,
    "calibration": calibration.lines,
}


def main() -> int:
    missed = 0
    for name in sys.argv[1:] or PARTS:
        for line in PARTS[name]():
            print(line, flush=True)
            missed += not line.holds
    print(f"{missed} bounds missed" if missed else "all bounds hold")
    return 0


if __name__ == "__main__":
    sys.exit(main())
