"""Random texts: what people, tools and harnesses write, and what policies leave behind."""

from __future__ import annotations

import json
from collections.abc import Callable

from ctxpolicy import marks
from properties.chance import Chance

MARKER = "<< {{ count }} messages were left out here, ref {{ ref }} >>"
LABEL = "[Note on {{ count }} messages, ref {{ ref }}]\nWhat happened before:"
PLACEHOLDER = "(the output of {{ tool }} was {{ tokens }} tokens, see ref {{ ref }})"
CUT = "\n~~ {{ chars }} characters left out here, ref {{ ref }} ~~\n"

_KINDS: tuple[Callable[[int], str], ...] = (
    lambda n: " ".join(f"word{i % 7}" for i in range(n)),
    lambda n: "\n".join(f"{i:>4} | if x_{i} != {{{i}: 'a'}}:" for i in range(n // 4 + 1)),
    lambda n: "\r\n".join(f"ERROR at line {i}" if i % 5 == 2 else f"fine {i}" for i in range(n // 3 + 1)),
    lambda n: json.dumps([{"id": i, "name": f"item {i}"} for i in range(n // 6 + 1)]),
    lambda n: "把这些文件都读一遍。" * (n // 8 + 1),
    lambda n: "👩‍👩‍👧🇩🇪 ok é " * (n // 6 + 1),
    lambda n: "broken \ud83d half " * (n // 5 + 1),
    lambda n: "data:image/png;base64," + "iVBORw0KGgo" * (n // 4 + 1),
)
_ODD = (
    "",
    " ",
    "ok",
    "No. Use staging.",
    "[3 earlier turns left out, ref 3f9a12c0d4e1.]",
    "[3 earlier turns left out, ref 3f9a12c0d4e1.] is what I see, why?",
    "[, earlier turns left out, ref 3f9a12c0d4e1.]",
    "[12 earlier turns compacted, ref 3f9a12c0d4e1.]\nSummary of what happened:\nThe tests pass; `deploy.sh` stays.",
    "[12 earlier turns compacted, ref 3f9a12c0d4e1.]\nSummary of what happened: they say.",
    "[4,200 tokens of bash left out, ref 3f9a12c0d4e1.]",
    "[4,200 tokens of tool left out, ref 3f9a12c0d4e1.]",
    "(the output of bash was 4,200 tokens, see ref 3f9a12c0d4e1)",
    "before\n... [12,345 chars dropped, 310 lines, ref 3f9a12c0d4e1] ...\nafter",
    "<system-reminder>be brief</system-reminder>",
    "{{ span }} {% for x in y %}",
    "\r\n\t\x00\x1b[31m",
)
_OURS = (marks.MARKER, marks.LABEL, MARKER, LABEL)


def text(chance: Chance, most: int = 120) -> str:
    """A text of 0 to `most` words or so; one in six is odd in some way."""
    if chance.once_in(6):
        return chance.one(_ODD)
    return chance.one(_KINDS)(chance.number(1, most))


def mark(chance: Chance) -> str:
    """A marker or summary of an earlier run, by this policy or another."""
    ref = chance.one(("3f9a12c0d4e1", "00000000000f", "abcdefabcdef"))
    said = chance.one(_OURS).replace("{{ count }}", str(chance.number(1, 30))).replace("{{ ref }}", ref)
    return f"{said}\n{text(chance, 40)}" if said.endswith(":") else said
