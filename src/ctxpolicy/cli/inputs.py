"""The argument that names logs and transcripts: files, `-`, folders and globs, and `--last N` of them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

_Function = TypeVar("_Function", bound=Callable[..., Any])
_LAST, _GIVEN = "ctxpolicy.last", "ctxpolicy.given"
_KEPT = (".json", ".jsonl")  # suffixes that also fit what is written; others get one more


def inputs_argument(*, required: bool = True) -> Callable[[_Function], _Function]:
    """The argument `transcripts` as a tuple of paths, folders and globs expanded, the newest first; with `--last N`."""
    argument = click.argument(
        "transcripts",
        nargs=-1,
        required=required,
        metavar="TRANSCRIPT..." if required else "[TRANSCRIPT...]",
        callback=_expanded,
    )
    last = click.option(
        "--last", type=click.IntRange(min=1), metavar="N", is_eager=True, expose_value=False, callback=_remember,
        help="Only the newest N of the files that the arguments name.",
    )  # fmt: skip

    def add(function: _Function) -> _Function:
        return argument(last(function))

    return add


def _remember(ctx: click.Context, _: click.Parameter, value: int | None) -> None:
    ctx.meta[_LAST] = value


def _expanded(ctx: click.Context, _: click.Parameter, value: tuple[str, ...]) -> tuple[str, ...]:
    from ctxpolicy.logs.find import find

    ctx.meta[_GIVEN] = value
    return tuple(find(value, ctx.meta.get(_LAST)))


def output_name(path: str) -> str:
    """The name of an input's result in a directory: its own, below the folder that was named, as JSON (Lines)."""
    ctx = click.get_current_context(silent=True)
    folders = [Path(given) for given in (ctx.meta.get(_GIVEN, ()) if ctx else ()) if Path(given).is_dir()]
    above = next((folder for folder in folders if Path(path).is_relative_to(folder)), None)
    name = Path(Path(path).name) if above is None or above == Path(path) else Path(path).relative_to(above)
    return str(name if name.suffix in _KEPT else name.with_name(f"{name.name}.jsonl"))
