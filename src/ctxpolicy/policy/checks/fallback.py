"""What is left when something outside fails: a summarizer that does not answer, an archive that is not there."""

from __future__ import annotations

from collections.abc import Iterator

from ctxpolicy.policy.checks.problem import Context, Problem
from ctxpolicy.policy.checks.walk import rules
from ctxpolicy.policy.model import Compact, Evict, Summarizer
from ctxpolicy.policy.node import Path_
from ctxpolicy.policy.phrases import did_you_mean

KINDS = ("none", "extract", "scripted", "command", "openai", "anthropic")
_NO_MODEL = ("none", "extract", "scripted")


def _known(context: Context) -> Iterator[Problem]:
    for path, asked in [(("summarizer",), context.spec.summarizer), *_own(context)]:
        for one in asked:
            kind = one.use.partition(":")[0]
            if kind not in KINDS:
                hint = did_you_mean(kind, KINDS) or f"there are {', '.join(KINDS)}"
                yield Problem("CP322", path, f"there is no summarizer `{one.use}`", hint)


def _own(context: Context) -> Iterator[tuple[Path_, tuple[Summarizer, ...]]]:
    for path, rule in rules(context.spec):
        if isinstance(rule.action, Compact) and rule.action.summarizer:
            yield (*path, "compact", "summarizer"), rule.action.summarizer


def _model_alone(context: Context) -> Iterator[Problem]:
    if any(isinstance(rule.action, Evict) for rule in context.spec.rules):
        return
    shared = context.spec.summarizer
    compacting = [rule for rule in context.spec.rules if isinstance(rule.action, Compact)]
    asked = [(path, (*own, *shared)) for path, own in _own(context)]
    if shared and len(asked) < len(compacting):
        asked.append((("summarizer",), shared))
    for path, chain in asked:
        if all(one.use.partition(":")[0] not in _NO_MODEL for one in chain):
            message = "when the model does not answer, nothing else makes room"
            yield Problem("CP406", path, message, "add an `evict` rule, or `extract` as the last summarizer")


def _archive(context: Context) -> Iterator[Problem]:
    if context.spec.archive.path is None:
        message = "without an archive, what leaves the list cannot be restored"
        yield Problem("CP404", ("archive",), message, "leave `archive` out for the default, or say why under `allow`")


CHECKS = (_known, _model_alone, _archive)
