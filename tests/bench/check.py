"""How long `check` takes: `python tests/bench/check.py`.

First a policy of 300 rules, against parsing the same text with PyYAML's C loader; the ratio should stay under ten. Then
each policy of `tests/policy/hostile.py`, the slowest first; none should take a second.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path

import yaml

from ctxpolicy.policy.load import load_spec

ROOT = Path(__file__).resolve().parents[2]
RULE = """\
  - id: rule-{n}
    at: append
    match: {{role: tool, tool: tool_{n}, tokens: {{gt: {size}}}}}
    truncate: {{max_tokens: {size}, head: 0.6, tail: 0.4, keep_lines: '(?i)error|warning'}}
"""


def policy(rules: int) -> str:
    """A policy as people write them, with many rules that differ."""
    body = "".join(RULE.format(n=n, size=1000 + n) for n in range(rules))
    return f"version: 1\nbudget: {{window: 128000, ratio: 0.7}}\nrules:\n{body}"


def best(work: Callable[[], object], tries: int) -> float:
    """Seconds of processor time, of the fastest of some tries."""
    times = []
    for _ in range(tries):
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    return min(times)


def main() -> None:
    sys.path.insert(0, str(ROOT / "tests" / "policy"))
    from hostile import POLICIES, SLOW

    text = policy(300)
    assert load_spec(text).findings == ()
    checked = best(lambda: load_spec(text), 9)
    parsed = best(lambda: yaml.load(text, Loader=yaml.CSafeLoader), 9)
    print(f"300 rules: check {checked * 1000:.0f} ms, parse {parsed * 1000:.0f} ms, ratio {checked / parsed:.1f}")
    hostile = {**POLICIES, **SLOW}
    times = {name: best(lambda text=text: load_spec(text), 1) for name, (_, text) in hostile.items()}
    for name in sorted(times, key=lambda name: -times[name])[:10]:
        print(f"{times[name] * 1000:6.0f} ms  {name}")


if __name__ == "__main__":
    main()
