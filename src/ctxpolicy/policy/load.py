"""From a policy's text to the frozen policy, or to everything that is wrong with it."""

from __future__ import annotations

from collections.abc import Iterable
from os import PathLike
from pathlib import Path

import msgspec

from ctxpolicy.data import builtin_policies
from ctxpolicy.errors import PolicyInvalid
from ctxpolicy.policy import checks
from ctxpolicy.policy.build import build
from ctxpolicy.policy.compose import BUILTIN, compose
from ctxpolicy.policy.findings import MOST, Finding
from ctxpolicy.policy.merge import Composition
from ctxpolicy.policy.model import Spec
from ctxpolicy.policy.node import Node, Source
from ctxpolicy.policy.report import report
from ctxpolicy.policy.source import PolicyUnreadable, read, source_of


class Loaded(msgspec.Struct, frozen=True):
    """What became of a policy.

    `spec` is None where any finding is an error. `document` is the effective policy with the place of each value,
    None where the YAML cannot be read. `is_base` is true of a policy that says neither what window it is for nor what
    to do, and so can only be one that others extend.
    """

    name: str
    spec: Spec | None
    findings: tuple[Finding, ...]
    document: Node | None
    is_base: bool = False

    @property
    def errors(self) -> tuple[Finding, ...]:
        """The findings that stop the policy from running."""
        return tuple(finding for finding in self.findings if finding.severity == "error")

    @property
    def reported(self) -> tuple[Finding, ...]:
        """What is wrong with it; that a base cannot run alone is not wrong."""
        return tuple(finding for finding in self.findings if not (self.is_base and finding.code == "CP301"))

    @property
    def stopped(self) -> bool:
        """True when an error is among what is wrong."""
        return any(finding.severity == "error" for finding in self.reported)


def load_spec(text: str, name: str = "<policy>", base: Path | None = None) -> Loaded:
    """Load a policy from its text.

    `name` stands for the file in findings; relative `extends` start from the folder `base`, by default the current
    one. Raises nothing: what is wrong is in the findings.
    """
    return _load(source_of(text, name, base or Path()), text, None)


def load_file(path: str | Path, name: str | None = None) -> Loaded:
    """Load a policy from a file. Raises PolicyUnreadable (an OSError) where there is no text to read."""
    path = Path(path)
    source, text = read(path, name)
    return _load(source, text, path)


def load_named(name: str | PathLike[str]) -> Loaded:
    """Load what a user names: a file, or `builtin:NAME`. Raises PolicyUnreadable where there is no text to read."""
    text = str(name)
    if not text.startswith(BUILTIN):
        return load_file(text)
    known = builtin_policies()
    file = known.get(text.removeprefix(BUILTIN))
    if file is None:
        there = ", ".join(BUILTIN + policy for policy in known)
        raise PolicyUnreadable(f"there is no built-in policy `{text}`; there are {there}")
    return load_file(file, text)


def load_checked(name: str | PathLike[str]) -> tuple[Spec, Path | None]:
    """The policy in a file, or of `builtin:NAME`, and the folder that its own paths start from.

    The folder is None for a built-in policy: its paths start from the current one. Raises PolicyInvalid for one that
    must not run, PolicyUnreadable where there is no text to read.
    """
    spec = checked(load_named(name))
    return spec, None if str(name).startswith(BUILTIN) else Path(name).parent


def loads_checked(text: str) -> Spec:
    """The policy of a text. Raises PolicyInvalid for one that must not run."""
    return checked(load_spec(text))


def checked(loaded: Loaded) -> Spec:
    """The policy, if nothing stops it. Raises PolicyInvalid with every finding and, as its text, the whole report."""
    if loaded.spec is None:
        raise PolicyInvalid(report(loaded.findings), loaded.findings)
    return loaded.spec


def _load(source: Source, text: str, file: Path | None) -> Loaded:
    document, composition = compose(source, text, file)
    if document is None:
        return Loaded(source.name, None, _in_order(composition.findings, source), None)
    spec, findings = _judge(document, composition)
    found = _in_order([*composition.findings, *findings], source)
    loaded = Loaded(source.name, spec, found, document, _is_base(document))
    return loaded if not loaded.errors else Loaded(source.name, None, found, document, loaded.is_base)


def _judge(document: Node, composition: Composition) -> tuple[Spec, list[Finding]]:
    """The third layer, on what the first two let pass."""
    spec = build(document.plain())
    budget_known = not composition.unsure & {"budget", "extends", ""} and spec.budget.window > 0
    limit = spec.budget.limit if budget_known and spec.budget.limit > 0 else None
    context = checks.Context(spec, limit, frozenset(composition.unsure), document)
    problems = list(checks.run(context))
    return spec, [_finding(document, problem) for problem in _allowed(problems, document, composition)]


def _allowed(problems: list[checks.Problem], document: Node, composition: Composition) -> list[checks.Problem]:
    """Without the warnings that `allow` silences; an entry that silences nothing is a warning itself."""
    allow = document.mapping.get("allow")
    codes = set(allow.mapping) if allow else set()
    silent = {p.code for p in problems if p.code in codes and p.code.startswith("CP4")}
    idle = [] if composition.unsure else sorted(codes - silent)
    unused = [checks.Problem("CP409", ("allow",), _idle(code), "remove the entry", code) for code in idle]
    return [p for p in problems if p.code not in silent] + unused


def _idle(code: str) -> str:
    reason = (
        "it is an error, and an error stops a policy"
        if not code.startswith("CP4")
        else "this policy has no such warning"
    )
    return f"`allow: {code}` silences nothing: {reason}"


def _finding(document: Node, problem: checks.Problem) -> Finding:
    span = document.key(problem.path, problem.key) if problem.key else document.place(problem.path)
    inside = span.inside(problem.line)
    lost = f" (line {problem.line} of the text)" if problem.line > 1 and inside is span else ""
    also = document.place(problem.also.path).labelled(problem.also.label) if problem.also else None
    return inside.finding(problem.code, problem.message + lost, problem.hint, also)


def _is_base(document: Node) -> bool:
    return not any(key in document.mapping for key in ("pins", "rules")) and "budget" not in document.mapping


def _in_order(findings: Iterable[Finding], source: Source) -> tuple[Finding, ...]:
    """The policy's own findings from top to bottom, then those of its bases; of a great many, the first."""
    found = sorted(findings, key=lambda f: (f.file != source.name, f.file, f.line, f.column, f.code))
    if len(found) <= MOST:
        return tuple(found)
    last = msgspec.structs.replace(
        found[MOST], code="CP209", message=f"more than {MOST} findings; the rest is not listed", hint=None
    )
    return (*found[:MOST], last)
