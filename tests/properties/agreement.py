"""The engine beside the reference: the same list, decisions and events."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ctxpolicy import Result
from properties.reference import Reference
from properties.scenarios import REPLIES, Scenario
from properties.transcripts import Wire


def is_known(scenario: Scenario) -> bool:
    """False for what the reference leaves out: a summariser's `input`, `keep_facts`, and reasoning bound to history."""
    asks = any({"input", "keep_facts"} & set(rule.get("compact", ())) for rule in scenario.doc["rules"])
    bound = scenario.doc.get("reasoning", "keep") != "keep"
    return not asks and not (bound and any("thinking_blocks" in message for message in scenario.messages))


def the_reference_agrees(scenario: Scenario, result: Result) -> None:
    _assert_agreed(scenario, scenario.messages, result, scenario.meta)


def the_reference_agrees_on_the_marks_of_an_earlier_run(scenario: Scenario, length: int) -> Result:
    """On a list of which the first `length` messages went through a run before; no metadata, which would not fit it."""
    first = scenario.apply(scenario.messages[:length], meta={})
    grown = [*first.messages, *scenario.messages[length:]]
    result = scenario.apply(grown, meta={})
    _assert_agreed(scenario, grown, result, {})
    return result


def _assert_agreed(scenario: Scenario, messages: list[Wire], result: Result, meta: Mapping[int, Any]) -> None:
    expected = Reference(scenario.policy.spec).run(messages, meta, _replies(scenario.script))
    assert [(e.rule, e.acted) for e in result.events if e.rule] == expected.events
    assert [(d.fate, d.by) for d in result.decisions] == expected.decisions
    assert result.messages == expected.messages


def _replies(script: tuple[str, ...]) -> Callable[[], Any]:
    """The scripted summariser, as the reference calls it."""
    calls = iter(range(1_000_000))

    def reply() -> Any:
        word = script[next(calls) % len(script)]
        if word == "raise":
            raise TimeoutError("no answer in time")
        return REPLIES[word]

    return reply
