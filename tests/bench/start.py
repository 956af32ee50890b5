"""Start-up, against importing click alone."""

from __future__ import annotations

from collections.abc import Iterator

from tests.bench.measure import Line, at_most, median_child

from ctxpolicy.data import builtin_policies

_RUN = """
from ctxpolicy.cli import main
try:
    main()
except SystemExit:
    pass
"""


def lines() -> Iterator[Line]:
    click = median_child("import click", runs=9)
    helped = median_child(f"sys.argv = ['ctxpolicy', '--help']\n{_RUN}", runs=9)
    checked = median_child(f"sys.argv = ['ctxpolicy', 'check', {str(builtin_policies()['default'])!r}]\n{_RUN}", runs=9)
    yield at_most("start: `ctxpolicy --help` over importing click", (helped - click) * 1000, "ms", 60)
    yield at_most("start: `ctxpolicy check policies/default.yaml`", checked * 1000, "ms", 200)
