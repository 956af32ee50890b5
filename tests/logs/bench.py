"""How long reading the corpus takes, beside `orjson.loads` on its JSON: `python tests/logs/bench.py CORPUS`.

YAML cassettes have no JSON to compare with and are told apart. Needs the extra `bench`.
"""

from __future__ import annotations

import csv
import sys
import zipfile
from collections import Counter
from pathlib import Path
from time import perf_counter

import orjson

from ctxpolicy.logs import read_log


def plain(path: Path) -> None:
    """The JSON of a file, and nothing more."""
    if path.suffix == ".eval":
        with zipfile.ZipFile(path) as archive:
            for name in archive.namelist():
                if name.startswith("samples/"):
                    orjson.loads(archive.read(name))
    elif path.suffix == ".jsonl":
        for line in path.read_bytes().splitlines():
            orjson.loads(line)
    else:
        orjson.loads(path.read_bytes())


def ours(path: Path) -> None:
    for _ in read_log(path).parts():
        pass


def main(corpus: Path) -> None:
    with (corpus / "index.csv").open(newline="") as file:
        paths = [corpus / row["file"] for row in csv.DictReader(file)]
    spent: Counter[str] = Counter()
    for path in paths:
        kind = "yaml" if path.suffix == ".yaml" else "json"
        for name, work in (("ours", ours), ("orjson", plain))[: 1 if kind == "yaml" else 2]:
            work(path)  # warm
            start = perf_counter()
            work(path)
            spent[f"{kind} {name}"] += perf_counter() - start
    for name, seconds in sorted(spent.items()):
        print(f"{name:12} {seconds * 1000:8.0f} ms")
    print(f"ratio        {spent['json ours'] / spent['json orjson']:8.2f}")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
