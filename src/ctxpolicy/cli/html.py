"""`--html FILE`: where a page goes, and writing it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from ctxpolicy.errors import CtxPolicyError
from ctxpolicy.transcripts import Output

if TYPE_CHECKING:
    from ctxpolicy.page.model import Page

_Function = TypeVar("_Function", bound=Callable[..., Any])


def html_option() -> Callable[[_Function], _Function]:
    """Where the page goes; that it can be written there is found out before the work begins."""
    return click.option(
        "--html", type=click.Path(path_type=Path), metavar="FILE", callback=_checked,
        help="Write a page with charts and every message, too.",
    )  # fmt: skip


def _checked(_ctx: click.Context, _param: click.Parameter, path: Path | None) -> Path | None:
    if path is not None:
        _write(path, None)
    return path


def write_page(path: Path, page: Page) -> None:
    """Write the page. Raises CtxPolicyError where that fails; then what stood there before still does."""
    from ctxpolicy.page.render import render

    _write(path, render(page))


def _write(path: Path, text: str | None) -> None:
    """Write a text as a whole, or with None only find out whether that could be done."""
    try:
        with Output(path) as out:
            if text is None:
                out.keep()
            else:
                out.write(text)
    except OSError as error:
        raise CtxPolicyError(f"--html {path}: cannot be written: {error.strerror}; name another file") from error
