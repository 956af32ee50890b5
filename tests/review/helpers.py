"""A small policy under which every rule can act, and how to write and run a test file for it."""

from __future__ import annotations

from pathlib import Path

from ctxpolicy.testing.outcome import Outcome, run_suite
from ctxpolicy.testing.suite import load_suite

ROOT = Path(__file__).resolve().parents[2]
POLICY = """\
version: 1
name: small
budget: {window: 1000, counter: chars}
pins:
  - {id: task, match: {role: user, oldest: 1}}
  - {id: marked, match: {meta: {pin: true}}}
rules:
  - {id: cap, at: append, match: {role: tool, tokens: {gt: 200}}, truncate: {max_tokens: 100}}
  - {id: too-big, at: append, match: {share: {gte: 1.0}}, refuse: {}}
  - id: shrink
    at: send
    when: {pressure: {gt: 0.70}}
    compact: {until: {pressure: {lt: 0.50}}, word_limit: 20, prompt: "Compress. {{ span }}"}
  - {id: drop, at: send, when: {pressure: {gt: 0.90}}, evict: {until: {pressure: {lt: 0.70}}}}
"""


def outcomes(folder: Path, cases: str, policy: str = POLICY) -> list[Outcome]:
    """Run cases (YAML under `cases:`) on a policy."""
    (folder / "p.yaml").write_text(policy, encoding="utf-8")
    (folder / "p.test.yaml").write_text(f"version: 1\ncases:\n{cases}", encoding="utf-8")
    return list(run_suite(load_suite(folder / "p.test.yaml", "p.test.yaml")))


def fault(folder: Path, cases: str, policy: str = POLICY) -> str:
    """The faults of the one case, as one text; "" where it passed."""
    (outcome,) = outcomes(folder, cases, policy)
    return "\n".join(outcome.faults)
