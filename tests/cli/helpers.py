"""A small policy under which every rule can act, and transcripts for it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from click.testing import Result

POLICY = """\
version: 1
name: small
budget: {window: 1000, counter: chars}
pins:
  - {id: opening, match: {opening: true}}
  - {id: explicit, match: {meta: {pin: true}}}
  - {id: recent, match: {newest: 1}}
rules:
  - {id: cap, at: append, match: {role: tool, tokens: {gt: 200}}, truncate: {max_tokens: 100}}
  - {id: too-big, at: append, match: {share: {gte: 1.0}}, refuse: {}}
  - id: shrink
    at: send
    when: {pressure: {gt: 0.70}}
    compact: {until: {pressure: {lt: 0.50}}, word_limit: 20, prompt: "Compress. {{ span }}"}
  - {id: drop, at: send, when: {pressure: {gt: 0.90}}, evict: {until: {pressure: {lt: 0.70}}}}
"""

Run = Callable[..., Result]


def talk(turns: int, size: int = 160) -> list[dict[str, Any]]:
    """A conversation of `turns` questions and answers; each costs 4 + size / 4 tokens by the counter `chars`."""
    messages = [{"role": "system", "content": "Be brief."}]
    for turn in range(turns):
        messages += [
            {"role": "user", "content": f"question {turn} ".ljust(size, "q")},
            {"role": "assistant", "content": f"answer {turn} ".ljust(size, "a")},
        ]
    return [*messages, {"role": "user", "content": "And now?"}]


def lines(*values: Any) -> str:
    return "".join(json.dumps(value) + "\n" for value in values)


def write(name: str, text: str) -> str:
    Path(name).write_text(text, encoding="utf-8")
    return name
