"""Reading a policy file: text in UTF-8, strict YAML 1.2, every value with its place."""

from __future__ import annotations

import re
from pathlib import Path

import yaml

from ctxpolicy.errors import CtxPolicyError
from ctxpolicy.policy.findings import Finding
from ctxpolicy.policy.node import Node, Source, Span
from ctxpolicy.policy.yaml_faults import explain
from ctxpolicy.policy.yaml_walk import Stop, Walk

MAX_BYTES = 1 << 20

_Loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
# What YAML 1.2.2, section 5.1, does not let stand in a file.
_UNPRINTABLE = re.compile("[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_LINE = re.compile("\r\n|[\n\r\x85\u2028\u2029]")  # where libyaml begins a new line, so that lines agree


class PolicyUnreadable(CtxPolicyError, OSError):
    """A policy file that is not there or is not text."""


def read(path: Path, name: str | None = None) -> tuple[Source, str]:
    """The source and text of a policy file. Raises PolicyUnreadable, with a sentence for the user."""
    name = name or str(path)
    try:
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
    except (OSError, ValueError) as error:
        raise PolicyUnreadable(f"cannot read {name}: {getattr(error, 'strerror', None) or error}") from None
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        if error.start < MAX_BYTES - 4:
            kind = "it holds binary data" if b"\0" in data else f"byte {error.start + 1} is no UTF-8"
            raise PolicyUnreadable(f"cannot read {name}: {kind}; a policy is a text file in UTF-8") from None
        text = data[: error.start].decode("utf-8-sig") + " " * (MAX_BYTES + 1 - error.start)
    if "\0" in text:
        raise PolicyUnreadable(f"cannot read {name}: it holds binary data; a policy is a text file in UTF-8")
    return source_of(text, name, path.parent), text


def source_of(text: str, name: str, folder: Path) -> Source:
    """The source of a text that is at hand already."""
    return Source(name, tuple(_LINE.split(text.removeprefix("\ufeff"))), folder)


def parse(source: Source, text: str) -> tuple[Node | None, list[Finding]]:
    """The document of a text and what is wrong with its YAML. No document where the YAML cannot be read to its end."""
    text = text.removeprefix("\ufeff")
    start = Span(source, 1, 1, 1, 1)
    if len(text) > MAX_BYTES or len(text.encode("utf-8", "surrogatepass")) > MAX_BYTES:
        return None, [start.finding("CP109", f"a policy may have {MAX_BYTES:,} bytes; this one has more")]
    if bad := _UNPRINTABLE.search(text):
        return None, [_unprintable(source, text, bad)]
    walk = Walk(source)
    try:
        root = walk.run(yaml.parse(text, Loader=_Loader))
    except Stop:
        return None, walk.findings
    except yaml.MarkedYAMLError as error:
        return None, [*walk.findings, explain(error, source)]
    except yaml.YAMLError as error:
        return None, [*walk.findings, start.finding("CP101", f"this is not valid YAML: {error}")]
    if root is None or (root.value is None and not walk.findings):
        where = root.span if root else start
        return None, [
            where.finding("CP102", "this policy is empty", "start with `version: 1` and `budget: {window: 128000}`")
        ]
    return root, walk.findings


def _unprintable(source: Source, text: str, bad: re.Match[str]) -> Finding:
    before = _LINE.split(text[: bad.start()])
    line, column = len(before), len(before[-1]) + 1
    span = Span(source, line, column, line, column + 1)
    return span.finding(
        "CP111",
        f"the character U+{ord(bad.group()):04X} cannot stand in a policy",
        'remove it; in a text it can be written "\\x1b" or "\\u0007", in double quotes',
    )
