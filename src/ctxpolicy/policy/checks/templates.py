"""How much of a policy's templates there is to judge: Jinja2 is slow, and a policy is answered at once."""

from __future__ import annotations

from ctxpolicy import template
from ctxpolicy.policy.checks.walk import markers, prompts
from ctxpolicy.policy.model import Spec
from ctxpolicy.policy.node import Path_

MOST = 32_000  # characters of all templates of a policy that do more than print variables


def too_long(spec: Spec) -> Path_ | None:
    """The template with which there is more than can be judged; None where all can."""
    seen: set[str] = set()
    size = 0
    for path, text in [*prompts(spec), *markers(spec)]:
        if text in seen or template.is_plain(text):
            continue
        seen.add(text)
        size += len(text)
        if size > MOST:
            return path
    return None
