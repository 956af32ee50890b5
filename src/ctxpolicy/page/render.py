"""A page as HTML text."""

from __future__ import annotations

from pathlib import Path

from ctxpolicy.page.model import Page

_TEMPLATE = Path(__file__).with_name("page.html.j2")


def render(page: Page) -> str:
    """The page as HTML; everything that comes from a transcript is escaped."""
    import jinja2

    environment = jinja2.Environment(
        autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    template = environment.from_string(_TEMPLATE.read_text(encoding="utf-8"))
    text = template.render(page=page)
    return text.encode("utf-8", "replace").decode()  # a lone surrogate in a transcript becomes a question mark
