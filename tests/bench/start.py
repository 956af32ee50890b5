"""Start-up: CPU of whole processes, in turn with processes that only import what the command imports.

Bytecode is kept in a folder of its own, so that every process finds it as it does in an installed package.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Sequence

from tests.bench.measure import Line, at_most, child

from ctxpolicy.data import builtin_policies

RUNS = 15
_LIBRARIES = "import click, jinja2.sandbox, jsonschema, msgspec, re2, yaml"
_COMMAND = """
sys.argv = ["ctxpolicy", *{arguments!r}]
from ctxpolicy.cli import main
try:
    main()
except SystemExit:
    pass
"""


def lines() -> Iterator[Line]:
    check = ["check", str(builtin_policies()["default"])]
    codes = ["import click", _command(["--help"]), _LIBRARIES, _command(check)]
    click, helped, libraries, checked = _medians(codes)
    yield at_most("start: `ctxpolicy --help` over importing click", helped - click, "ms", 60)
    yield at_most("start: `check policies/default.yaml` over importing its libraries", checked - libraries, "ms", 60)
    yield at_most("start: `ctxpolicy check policies/default.yaml`", checked, "ms", 200)


def _command(arguments: Sequence[str]) -> str:
    return _COMMAND.format(arguments=list(arguments))


def _medians(codes: Sequence[str]) -> list[float]:
    """Median CPU milliseconds of processes that run each of these, in turn after one that writes the bytecode."""
    rounds = [[1000 * child(code)[0] for code in codes] for _ in range(1 + RUNS)]
    return [statistics.median(column) for column in zip(*rounds[1:], strict=True)]
