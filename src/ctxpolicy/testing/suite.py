"""A test file as data: which policy it is about, and its cases, each value still knowing where it stands."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from msgspec.structs import replace

from ctxpolicy.api import Policy
from ctxpolicy.errors import CtxPolicyError
from ctxpolicy.policy.findings import Finding
from ctxpolicy.policy.load import Loaded, load_file, load_named
from ctxpolicy.policy.model import Compact, Rule, Spec
from ctxpolicy.policy.node import Node, Span
from ctxpolicy.policy.phrases import did_you_mean
from ctxpolicy.policy.report import report
from ctxpolicy.policy.source import PolicyUnreadable
from ctxpolicy.testing.grammar import document

ENDING = ".test.yaml"


@dataclass(frozen=True, slots=True, eq=False)
class Step:
    """One call: what came before it (`given`) and what must hold after it (`expect`); None where it is not written."""

    given: Node | None
    expect: Node | None
    span: Span


@dataclass(frozen=True, slots=True, eq=False)
class Case:
    """One case. `options` are its keys other than given, expect and steps."""

    name: str
    span: Span
    steps: tuple[Step, ...]
    options: dict[str, Node]


@dataclass(frozen=True, slots=True, eq=False)
class Suite:
    """A test file. `policy` and `cases` are there only where `findings` has nothing that stops the file."""

    name: str
    file: Path
    findings: tuple[Finding, ...] = ()
    policy: Policy | None = None
    loaded: Loaded | None = None
    cases: tuple[Case, ...] = ()


def load_suite(file: Path, name: str | None = None) -> Suite:
    """A test file and the policy it is about. Raises PolicyUnreadable where the test file itself cannot be read."""
    name = name or str(file)
    root, findings = document(file, name)
    if root is None:
        return Suite(name, file, tuple(findings))
    cases = tuple(_cases(root))
    twice = tuple(_named_twice(cases))
    loaded, fault = _policy(root, file, name)
    if loaded is None or loaded.spec is None:
        return Suite(name, file, (*twice, *([fault] if fault else loaded.findings if loaded else ())), loaded=loaded)
    try:
        policy = _sized(Policy(without_models(loaded.spec), file.parent), root.mapping.get("window"))
    except CtxPolicyError as error:
        return Suite(name, file, (root.place(("window",)).finding("CT203", str(error)),), loaded=loaded)
    return Suite(name, file, twice, None if twice else policy, loaded, cases)


def without_models(spec: Spec) -> Spec:
    """The policy with no summariser of its own: a test says itself what is answered, and calls no model."""
    return replace(spec, summarizer=(), rules=tuple(map(_without_model, spec.rules)))


def _without_model(rule: Rule) -> Rule:
    if isinstance(rule.action, Compact) and rule.action.summarizer:
        return replace(rule, action=replace(rule.action, summarizer=None))
    return rule


def _sized(policy: Policy, window: Node | None) -> Policy:
    return policy if window is None else policy.with_window(window.plain())


def for_case(policy: Policy, case: Case) -> Policy:
    """The policy with what the case says of window and tools. Raises PolicyInvalid for a window with no budget."""
    policy = _sized(policy, case.options.get("window"))
    tools = case.options.get("tools_tokens")
    if tools is None:
        return policy
    return Policy(replace(policy.spec, budget=replace(policy.spec.budget, tools_tokens=tools.plain())))


def _policy(root: Node, file: Path, name: str) -> tuple[Loaded | None, Finding | None]:
    node = root.mapping.get("policy")
    target = node.plain() if node else file.name.removesuffix(ENDING) + ".yaml"
    try:
        if target.startswith("builtin:"):
            return load_named(target), None
        return load_file(file.parent / target, str(Path(name).parent / target)), None
    except PolicyUnreadable as error:
        span = node.span if node else root.place(())
        return None, span.finding("CT201", str(error), "name the policy under test with `policy: FILE`")


def _cases(root: Node) -> Iterator[Case]:
    for node in root.mapping["cases"].items:
        keys = node.mapping
        parts = keys["steps"].items if "steps" in keys else [node]
        steps = tuple(Step(part.mapping.get("given"), part.mapping.get("expect"), root_span(part)) for part in parts)
        options = {key: value for key, value in keys.items() if key not in ("name", "given", "expect", "steps")}
        yield Case(keys["name"].plain(), root_span(node), steps, options)


def root_span(node: Node) -> Span:
    """Where a mapping begins."""
    return next(iter(node.keys.values()), node.span)


def _named_twice(cases: tuple[Case, ...]) -> Iterator[Finding]:
    seen: dict[str, Case] = {}
    for case in cases:
        if first := seen.get(case.name):
            message = f"two cases are named `{case.name}`: the other stands in line {first.span.line}"
            yield case.span.finding("CT202", message, "give each a name of its own")
        seen.setdefault(case.name, case)


def unknown_id(node: Node, known: list[str], what: str) -> Finding | None:
    """A finding where a value is none of the known ids."""
    name = node.plain()
    if name in known:
        return None
    hint = did_you_mean(str(name), known) or (f"there are {', '.join(known[:12])}" if known else None)
    return node.span.finding("CT301", f"there is no {what} `{name}`", hint)


def problems(suite: Suite) -> str:
    """What is wrong with a test file, as a person reads it."""
    return report(suite.findings)
