"""Running a case: each of its steps as one call, the state carried along, and the answers judged."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from ctxpolicy.api import Policy
from ctxpolicy.errors import CtxPolicyError, MessageTooLarge, TranscriptInvalid
from ctxpolicy.policy.findings import Finding
from ctxpolicy.policy.node import Node
from ctxpolicy.result import Removed, Result
from ctxpolicy.review.explain import Account
from ctxpolicy.review.stages import Stages
from ctxpolicy.summarize.extract import extract
from ctxpolicy.summarize.request import Summarize, SummaryReply, SummaryRequest
from ctxpolicy.testing.given import Given, Maker, Misstated
from ctxpolicy.testing.suite import Case, Step, Suite, for_case


@dataclass(slots=True)
class Ran:
    """One step as it went. `refused` is set, and `stages` is not, where a rule turned a message away.

    `given` is everything given up to this step, `removed` everything taken out. `requests` are those of this step.
    """

    given: Given
    stages: Stages | None = None
    refused: MessageTooLarge | None = None
    requests: list[SummaryRequest] = field(default_factory=list)
    removed: tuple[Removed, ...] = ()

    @property
    def result(self) -> Result | None:
        return self.stages.result if self.stages else None


class Script:
    """The summariser of a case: its replies in turn; after the last one every request fails."""

    def __init__(self, replies: Node) -> None:
        self._replies = None if replies.value == "extract" else [reply.plain() for reply in replies.items]
        self._next = 0
        self.requests: list[SummaryRequest] = []

    def __call__(self, request: SummaryRequest) -> str | SummaryReply:
        self.requests.append(request)
        if self._replies is None:
            return extract(request)
        if self._next == len(self._replies):
            raise CtxPolicyError(f"the case has no reply left after {self._next}; add one to `summaries`")
        self._next += 1
        return _reply(self._replies[self._next - 1])


def _reply(said: Any) -> str | SummaryReply:
    if isinstance(said, str):
        return said
    if "fails" in said:
        raise CtxPolicyError(said["fails"])
    return SummaryReply(said.get("text"), finish_reason=said.get("finish_reason"))


class _Full:
    """An archive on a disk that is full."""

    def put(self, records: Sequence[dict[str, Any]]) -> None:
        raise OSError("no space left on the device")

    def get(self, ref: str) -> list[dict[str, Any]]:
        raise OSError("no space left on the device")


def run_case(suite: Suite, case: Case, policy: Policy | None = None) -> Iterator[tuple[Step, Ran]]:
    """The steps of a case in turn, each with how it went; under `policy` in place of the suite's.

    Raises Misstated for what the case says wrongly.
    """
    policy = for_case(policy or _under_test(suite), case)
    pipeline = policy.pipeline()
    maker = Maker(pipeline.reading.meter, suite.file.parent)
    script = Script(case.options["summaries"]) if "summaries" in case.options else None
    removed: tuple[Removed, ...] = ()
    state: dict[str, Any] | None = None
    for step in case.steps:
        maker.take(step.given)
        ran = _run(policy, maker.given, step, state, script, "archive" in case.options)
        ran.removed = removed = (*removed, *(ran.result.removed if ran.result else ()))
        state = ran.result.state if ran.result else state
        yield step, ran


def _under_test(suite: Suite) -> Policy:
    assert suite.policy is not None, "only a sound suite is run"
    return suite.policy


def _run(
    policy: Policy, given: Given, step: Step, state: dict[str, Any] | None, script: Script | None, full: bool
) -> Ran:
    ran = Ran(given)
    asked = len(script.requests) if script else 0
    try:
        ran.stages = Stages(
            policy, given.messages, meta=given.meta, summarize=script, state=state, archive=_Full() if full else None
        )
    except MessageTooLarge as error:
        ran.refused = error
    except TranscriptInvalid as error:
        raise Misstated(step.span.finding("CT303", str(error))) from None
    ran.requests = script.requests[asked:] if script else []
    return ran


def account(suite: Suite, ran: Ran) -> Account | None:
    """What there is to explain about a step; None where a message was refused."""
    return None if ran.stages is None else Account(_under_test(suite).spec, ran.stages)


def finding_of(error: Exception) -> Finding | None:
    """The finding that an error of `run_case` carries."""
    return error.finding if isinstance(error, Misstated) else None


__all__ = ["Ran", "Script", "Summarize", "account", "finding_of", "run_case"]
