"""That a list can be sent, given back and made again: invariants 7 to 12, as assertions on a run."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

from ctxpolicy import Result, restore
from ctxpolicy.archive import MemoryArchive
from ctxpolicy.lint import level_of, lint
from properties.oddities import oddities
from properties.runs import GONE, STAYS, Full, acted, same_objects
from properties.scenarios import Scenario
from properties.telling import each_event_begins_where_the_one_before_ended
from properties.transcripts import Wire

# ---- 7. valid in, valid out ------------------------------------------------------------------------------------------


def no_oddity_is_added_and_those_of_the_input_are_named(scenario: Scenario, result: Result) -> None:
    before, after = oddities(scenario.messages), oddities(result.messages)
    assert not after - before
    said = " ".join(event.reason for event in result.events if event.rule is None)
    assert all(words in said for words, kind in _NAMED.items() if before[kind]), (before, said)


_NAMED = {"without an earlier call": "orphan", "second results": "double", "lone surrogate": "surrogate"}


def the_linter_finds_no_new_error(scenario: Scenario, result: Result) -> None:
    assert not _errors(result.messages) - _errors(scenario.messages)


def _errors(messages: list[Wire]) -> Counter[str]:
    name = "openai-chat"
    return Counter(fault.code for fault in lint(messages, name) if level_of(fault, name) == "error")


def changed_messages_keep_their_form(scenario: Scenario, result: Result) -> None:
    """Roles, ids, calls and keys stay; what we add says role and content, no more."""
    given, ours = {id(m) for m in scenario.messages}, []
    cut = [m for m, d in zip(scenario.messages, result.decisions, strict=True) if d.fate not in (*STAYS, *GONE)]
    for message in result.messages:
        if id(message) in given:
            continue
        old = next((m for m in cut if _same_form(m, message)), None)
        if old is None:
            ours.append(message)
        else:
            cut.remove(old)
    assert not cut
    assert all(set(message) == {"role", "content"} and message["role"] == "user" for message in ours)


def _same_form(old: Wire, new: Wire) -> bool:
    fixed = ("role", "tool_call_id", "name", "refusal", "is_error")
    if set(old) - {"thinking_blocks"} != set(new) - {"thinking_blocks"}:
        return False
    if any(old.get(key) != new.get(key) for key in fixed):
        return False
    return [_form(c) for c in old.get("tool_calls") or []] == [_form(c) for c in new.get("tool_calls") or []]


def _form(call: Wire) -> tuple[str, str]:
    return call["id"], call["function"]["name"]


# ---- 8. nothing lost -------------------------------------------------------------------------------------------------


def has_twins(scenario: Scenario) -> bool:
    """True where reasoning is taken out of messages that nothing but it tells from others of the list: what is left
    names no reference, so `restore` cannot know which of them it was."""
    bare = [json.dumps({**message, "thinking_blocks": None}) for message in scenario.messages]
    return scenario.policy.spec.reasoning == "strip_after_edit" and len(set(bare)) < len(bare)


def what_was_removed_is_restored(scenario: Scenario, result: Result) -> None:
    if has_twins(scenario):
        return
    archive = MemoryArchive(removed.record() for removed in result.removed)
    assert restore(result.messages, archive) == scenario.messages
    assert restore(result.messages, result.removed) == scenario.messages
    assert all(removed.removed for removed in result.removed)


# ---- 9. deterministic ------------------------------------------------------------------------------------------------


def an_equal_run_gives_equal_bytes(scenario: Scenario, result: Result) -> None:
    again = Scenario(scenario.doc, json.loads(scenario.pristine), dict(scenario.meta), scenario.script).apply()
    assert json.dumps(again.messages) == json.dumps(result.messages)
    assert (again.decisions, again.events, again.state) == (result.decisions, result.events, result.state)


# ---- 10. never raises ------------------------------------------------------------------------------------------------


def no_step_fails(scenario: Scenario, result: Result) -> None:
    assert not any("the step failed" in event.reason for event in result.events)
    assert result.decisions
    json.dumps(result.state)


def an_archive_that_fails_undoes_everything(scenario: Scenario, result: Result) -> None:
    failing = scenario.apply(archive=Full())
    no_step_fails(scenario, failing)
    each_event_begins_where_the_one_before_ended(scenario, failing)
    failures = [event for event in failing.events if event.action == "archive"]
    assert len(failures) == int(acted(result))
    assert all("No space left" in event.reason and event.failed for event in failures)
    if scenario.policy.spec.archive.on_error == "keep":
        assert same_objects(failing, scenario)
        assert not acted(failing)
        assert failing.removed == ()
    else:
        assert failing.messages == result.messages


# ---- 12. no private key ----------------------------------------------------------------------------------------------


def no_key_of_ours_is_on_any_message(scenario: Scenario, result: Result) -> None:
    known = set().union(*map(_keys, scenario.messages), ("role", "content", "type", "text"))
    assert set().union(*map(_keys, result.messages)) <= known


def _keys(value: Any) -> set[str]:
    if isinstance(value, dict):
        return set(value).union(*map(_keys, value.values()))
    return set().union(*map(_keys, value)) if isinstance(value, list) else set()
