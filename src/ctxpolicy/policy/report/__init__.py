"""Findings as output, one module for each format. Every format takes any findings, a policy's or a transcript's."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from importlib import import_module

from ctxpolicy.policy.findings import Finding
from ctxpolicy.policy.report.text import block, report, visible

__all__ = ["FORMATS", "block", "render", "report", "visible"]

FORMATS = ("text", "concise", "json", "sarif", "github")
_MODULES = {"json": "plain"}  # named apart from the standard library


def render(findings: Iterable[Finding], output_format: str) -> str:
    """The findings in one of FORMATS, without a line break at the end. Only that format's module is loaded."""
    name = _MODULES.get(output_format, output_format)
    written: Callable[[Iterable[Finding]], str] = import_module(f"{__name__}.{name}").report
    return written(findings)
