"""What came of each case of a test file: passed, or what is wrong and why."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from time import perf_counter

from ctxpolicy.errors import CtxPolicyError
from ctxpolicy.policy.findings import Finding
from ctxpolicy.policy.report import block, visible
from ctxpolicy.review.explain_text import Where, message_lines, rule_lines
from ctxpolicy.testing.coverage import Coverage
from ctxpolicy.testing.expect import Miss, assertions, misses, unknown
from ctxpolicy.testing.given import Misstated, names_in
from ctxpolicy.testing.run import Ran, account, run_case
from ctxpolicy.testing.suite import Case, Step, Suite


@dataclass(frozen=True, slots=True)
class Outcome:
    """One case: `faults` is empty where it passed, else each is a text of several lines. `seconds` is its run time."""

    suite: Suite
    name: str
    line: int
    faults: tuple[str, ...]
    seconds: float

    @property
    def where(self) -> str:
        """`file:line` of the case."""
        return f"{self.suite.name}:{self.line}"


def run_suite(suite: Suite, coverage: Coverage | None = None) -> Iterator[Outcome]:
    """Every case of a file in turn. What is wrong with the file as a whole is a failed case of that name."""
    if suite.policy is None:
        faults = tuple(block(finding).rstrip() for finding in suite.findings)
        yield Outcome(suite, "the file is sound", 1, faults or ("its policy is invalid",), 0.0)
        return
    for case in suite.cases:
        yield run_one(suite, case, coverage)


def run_one(suite: Suite, case: Case, coverage: Coverage | None = None) -> Outcome:
    """Run one case and judge it."""
    start = perf_counter()
    faults = tuple(_faults(suite, case, coverage))
    return Outcome(suite, case.name, case.span.line, faults, perf_counter() - start)


def _faults(suite: Suite, case: Case, coverage: Coverage | None) -> Iterator[str]:
    if found := list(_findings(suite, case)):
        yield from (block(finding).rstrip() for finding in found)
        return
    went: list[Ran] = []
    try:
        for step, ran in run_case(suite, case):
            went.append(ran)
            if step.expect is not None:
                yield from _told(suite, ran, list(misses(step.expect, ran)))
            elif ran.refused is not None:
                yield f"{step.span}: {ran.refused}"
            if ran.refused is not None and step is not case.steps[-1]:
                yield f"{step.span}: the steps after this one did not run, as a message was refused"
                break
    except Misstated as error:
        yield block(error.finding).rstrip()
    except CtxPolicyError as error:
        yield f"{case.span}: {error}"
    if coverage is not None:
        coverage.see(suite, case, went)


def _findings(suite: Suite, case: Case) -> Iterator[Finding]:
    """What a case says wrongly, found before it runs."""
    assert suite.policy is not None
    spec = suite.policy.spec
    pins, rules = [pin.id for pin in spec.pins], [rule.id for rule in spec.rules]
    names: list[str] = []
    for step in case.steps:
        names += names_in(step.given)
        yield from unknown(step.expect, names, pins, rules)
    if not sum(assertions(step.expect) for step in case.steps):
        hint = "say under `expect` what must hold; a case that asks nothing proves nothing"
        yield case.span.finding("CT302", "this case has no assertion", hint)
    elif all(step.given is None for step in case.steps):
        yield case.span.finding("CT302", "this case gives no messages", "add `given`")


def _told(suite: Suite, ran: Ran, missed: Sequence[Miss]) -> Iterator[str]:
    """Each miss as text; the first about a message or rule has its explanation below it."""
    explained: set[object] = set()
    for miss in missed:
        lines = [f"{miss.span}: {visible(miss.text)}"]
        about = (miss.message, miss.rule)
        if about not in explained:
            lines += [f"    {line}" for line in _explanation(suite, ran, miss)]
            explained.add(about)
        yield "\n".join(lines)


def _explanation(suite: Suite, ran: Ran, miss: Miss) -> Iterator[str]:
    said = account(suite, ran)
    if said is None:
        return
    if miss.message is not None:
        yield from (visible(line.text) for line in message_lines(said.message(miss.message), where_in(suite)))
    elif miss.rule is not None:
        yield from (visible(line.text) for line in rule_lines(said.rule(miss.rule), where_in(suite)))


def where_in(suite: Suite) -> Where:
    """Paths of the policy under test as file:line."""
    document = suite.loaded.document if suite.loaded else None
    return lambda path: str(document.place(path)) if document else ""


__all__ = ["Outcome", "Step", "run_one", "run_suite", "where_in"]
