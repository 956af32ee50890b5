"""The reference of every code, read from the docstrings of the modules named after them."""

from __future__ import annotations

import ast
import re
from importlib.resources import files
from textwrap import dedent

import msgspec

PACKAGES = ("ctxpolicy.policy.checks",)  # where modules are named after codes, such as cp101
_MODULE = re.compile(r"([a-z]{2}[0-9]{3})\.py")
_SECTION = re.compile(r"^(Why|Bad|Good):", re.MULTILINE)


class Entry(msgspec.Struct, frozen=True):
    """What is to be said about a code. `bad` and `good` are policies, or a sentence where no policy can show it."""

    code: str
    title: str
    what: str
    why: str
    bad: str
    good: str


def codes() -> tuple[str, ...]:
    """Every code there is, in order."""
    found = (_MODULE.fullmatch(file.name) for package in PACKAGES for file in files(package).iterdir())
    return tuple(sorted(match[1].upper() for match in found if match))


def entry(code: str) -> Entry:
    """The reference of a code. Raises KeyError for one that does not exist."""
    for package in PACKAGES:
        file = files(package) / f"{code.lower()}.py"
        if code in codes() and file.is_file():
            # From the source, so that it is there under `python -OO` too, and no check has to be loaded.
            return _parsed(code, ast.get_docstring(ast.parse(file.read_text(encoding="utf-8"))) or "")
    raise KeyError(code)


def title(code: str) -> str:
    """What a code is about, in a few words."""
    return entry(code).title


def _parsed(code: str, text: str) -> Entry:
    head, *rest = _SECTION.split(text)
    first, _, what = head.partition("\n")
    parts = dict(zip(rest[::2], rest[1::2], strict=True))
    return Entry(
        code, first.removesuffix("."), what.strip(), parts["Why"].strip(),
        *(dedent(parts[name]).strip() for name in ("Bad", "Good")),
    )  # fmt: skip


def as_text(found: Entry) -> str:
    """An entry as a terminal shows it."""
    examples = (f"{name}:\n\n{_indented(text)}" for name, text in (("Bad", found.bad), ("Good", found.good)))
    return "\n\n".join([f"{found.code}: {found.title}", found.what, f"Why: {found.why}", *examples])


def as_markdown(found: Entry) -> str:
    """An entry as a section of a reference page."""
    examples = (_shown("Bad", found.bad), _shown("Good", found.good))
    return "\n\n".join([f"## {found.code}: {found.title}", found.what, f"**Why.** {found.why}", *examples])


def _shown(name: str, text: str) -> str:
    return f"**{name}:**\n\n```yaml\n{text}\n```" if is_policy(text) else f"**{name}:** {text}"


def is_policy(example: str) -> bool:
    """True for an example that is a policy and not a sentence about one."""
    return example.startswith(("version:", "#"))


def _indented(text: str) -> str:
    return "\n".join(f"    {line}".rstrip() for line in text.splitlines())
