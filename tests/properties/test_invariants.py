"""The invariants of every run, over random policies and transcripts; each holds in runs of which a third really act."""

from __future__ import annotations

import copy
import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from hypothesis import strategies as st

from ctxpolicy import Result, restore
from ctxpolicy.archive import MemoryArchive
from properties.proof import acted, applied, proves
from properties.reference import M, Reference
from properties.strategies import Scenario, Wire, scenarios

STAYS = ("kept", "pinned", "live")
GONE = ("compacted", "evicted")


def reader(scenario: Scenario) -> Reference:
    """The reference, with the transcript read and no rule applied."""
    reference = Reference(scenario.policy.spec)
    reference.read(scenario.messages, scenario.meta)
    return reference


def same_objects(result: Result, scenario: Scenario) -> bool:
    given, got = scenario.messages, result.messages
    return len(given) == len(got) and all(a is b for a, b in zip(given, got, strict=True))


# ---- 1. pure ---------------------------------------------------------------------------------------------------------


@proves(scenario=scenarios())
def test_the_input_is_not_changed_and_what_stays_is_the_same_object(scenario: Scenario) -> bool:
    messages, meta = copy.deepcopy(scenario.messages), copy.deepcopy(scenario.meta)
    result = applied(scenario)
    assert (scenario.messages, scenario.meta) == (messages, meta)
    there = Counter(map(id, result.messages))
    stayed = [m for m, d in zip(scenario.messages, result.decisions, strict=True) if d.fate in STAYS]
    assert all(there[id(message)] == 1 for message in stayed)
    return acted(result)


# ---- 2. whole units --------------------------------------------------------------------------------------------------


@proves(scenario=scenarios(tight=True))
def test_a_unit_stays_or_leaves_whole(scenario: Scenario) -> bool:
    result, reference = applied(scenario), reader(scenario)
    gone = {i for i, d in enumerate(result.decisions) if d.fate in GONE}
    for i in gone:
        assert reference.unit(i) <= gone
    return bool(gone)


# ---- 3. pins hold ----------------------------------------------------------------------------------------------------


@proves(scenario=scenarios())
def test_no_rule_touches_what_is_pinned_or_live_but_a_cut_of_a_live_result(scenario: Scenario) -> bool:
    scenario = with_one_send_rule(scenario)
    result, reference = applied(scenario), reader(scenario)
    for rule in scenario.policy.spec.rules:
        if rule.at == "append":
            for i, m in enumerate(reference.items):
                if reference.arrives(m, rule):
                    reference.shorten(i, rule)
    pinned, live = reference.pinned(), reference.live()
    rule = next(r for r in scenario.policy.spec.rules if r.at == "send")
    for i, decision in enumerate(result.decisions):
        if decision.by == rule.id:
            cut = decision.fate == "truncated" and reference.items[i].role == "tool"
            assert (i in live and cut) or (i not in live and i not in pinned)
        if decision.by == rule.id and i in live:
            assert reference.items[i].ours is None
    return acted(result)


def with_one_send_rule(scenario: Scenario) -> Scenario:
    rules = scenario.doc["rules"]
    first = next(r for r in rules if r.get("at") != "append")
    return scenario.varied(rules=[*(r for r in rules if r.get("at") == "append"), first])


# ---- 4. order, never empty, a user message, the last message ---------------------------------------------------------


@proves(scenario=scenarios(tight=True))
def test_order_is_kept_something_stays_and_the_last_message_stays_last(scenario: Scenario) -> bool:
    result = applied(scenario)
    place = {id(message): i for i, message in enumerate(scenario.messages)}
    places = [place[id(message)] for message in result.messages if id(message) in place]
    assert places == sorted(places)
    assert result.decisions[-1].fate not in GONE
    assert result.messages[-1] is scenario.messages[-1] or result.decisions[-1].fate in ("truncated", "masked")
    return acted(result)


@proves(scenario=scenarios(tight=True))
def test_a_user_message_remains_where_there_was_one(scenario: Scenario) -> bool:
    result, reference = applied(scenario), reader(scenario)
    users = [i for i, m in enumerate(reference.items) if m.role == "user"]
    assert not users or any(result.decisions[i].fate not in GONE for i in users)
    if any(message["role"] == "user" for message in scenario.messages):
        assert any(message["role"] == "user" for message in result.messages)
    return acted(result)


# ---- 5. never larger -------------------------------------------------------------------------------------------------


@proves(scenario=scenarios())
def test_whatever_acts_makes_the_list_smaller(scenario: Scenario) -> bool:
    result = applied(scenario)
    assert all(event.after < event.before for event in result.events if event.acted)
    assert all(d.left < d.tokens for d in result.decisions if d.fate not in STAYS)
    assert result.usage.after["total"] <= result.usage.before["total"]
    return acted(result)


# ---- 6. quiet --------------------------------------------------------------------------------------------------------


@proves(scenario=scenarios())
def test_where_nothing_acts_the_output_is_the_input_object_for_object(scenario: Scenario) -> bool:
    result = applied(scenario)
    if acted(result):
        return True
    assert same_objects(result, scenario)
    assert all(decision.fate in STAYS for decision in result.decisions)
    assert result.removed == ()
    return False


@proves(scenario=scenarios(tight=True))
def test_the_prefix_before_the_first_edit_is_untouched(scenario: Scenario) -> bool:
    result = applied(scenario)
    first = next((i for i, d in enumerate(result.decisions) if d.fate not in STAYS), len(scenario.messages))
    assert all(a is b for a, b in zip(scenario.messages[:first], result.messages[:first], strict=True))
    return acted(result)


@proves(scenario=scenarios())
def test_a_second_run_changes_nothing_once_every_trigger_is_false(scenario: Scenario) -> bool:
    scenario = with_triggers(scenario)
    scenario = replace(scenario, meta={})  # metadata does not travel with a list that is returned without the state
    result = applied(scenario)
    if not all_quiet(scenario, result):
        return False
    again = scenario.apply(state=result.state)
    handed_back = scenario.apply(result.messages, state=result.state)
    bare = scenario.apply(result.messages)
    for second in (again, handed_back, bare):
        assert second.messages == result.messages
        assert not acted(second, "mask", "compact", "evict")
    assert all(a is b for a, b in zip(handed_back.messages, result.messages, strict=True))
    return acted(result)


def with_triggers(scenario: Scenario) -> Scenario:
    """Every send rule under a condition on the size of the list, with an eviction at the end that can make it false."""
    rules = copy.deepcopy(scenario.doc["rules"])
    for rule in rules:
        if rule.get("at") != "append":
            rule["when"] = {"pressure": {"gt": 0.75 if "evict" in rule else 0.7}}
            for action in ("mask", "truncate", "compact", "evict"):
                rule.get(action, {}).pop("until", None)
    last = {"id": "last", "when": {"pressure": {"gt": 0.75}}, "evict": {"until": {"pressure": {"lt": 0.6}}}}
    return scenario.varied(rules=[*rules, last], pins=scenario.doc["pins"][:1])


def all_quiet(scenario: Scenario, result: Result) -> bool:
    reference = Reference(scenario.policy.spec)
    items = reference.read(result.messages, {})
    return not any(reference.holds(r.when, items) for r in scenario.policy.spec.rules if r.at == "send")


# ---- 7. valid in, valid out ------------------------------------------------------------------------------------------


@proves(scenario=scenarios())
def test_no_oddity_is_added_and_those_of_the_input_are_named(scenario: Scenario) -> bool:
    result = applied(scenario)
    before, after = oddities(scenario.messages), oddities(result.messages)
    assert not after - before
    said = " ".join(event.reason for event in result.events if event.rule is None)
    assert all(words in said for words, kind in NAMED.items() if before[kind]), (before, said)
    return acted(result)


NAMED = {"without an earlier call": "orphan", "second results": "double", "lone surrogate": "surrogate"}


def oddities(messages: Sequence[Wire]) -> Counter[str]:
    """What a provider may refuse, counted by kind; written from the rules of the API alone."""
    found: Counter[str] = Counter()
    open_calls: list[str] = []
    asked: set[str] = set()
    dead: set[str] = set()
    for message in messages:
        if message["role"] in ("tool", "function"):
            call = message.get("tool_call_id", f"function:{message.get('name')}")
            found[kind_of(call, open_calls, asked)] += 1
            if call in open_calls:
                found["late"] += call in dead
                open_calls.remove(call)
        elif message["role"] == "assistant":
            calls = [c["id"] for c in message.get("tool_calls") or []]
            calls += [f"function:{message['function_call']['name']}"] if message.get("function_call") else []
            found["unanswered"] += sum(call in calls for call in open_calls)  # its result would go to the new one
            dead = {call for call in open_calls if call not in calls}
            open_calls = [*(call for call in open_calls if call in dead), *calls]
            asked |= set(calls)
        found["surrogate"] += "\\ud83d" in json.dumps(text_of(message)).replace("\\ud83d\\u", "")
    found["unanswered"] += len(open_calls)
    found["ok"] = 0
    return found


def kind_of(call: str, open_calls: list[str], asked: set[str]) -> str:
    return "ok" if call in open_calls else "double" if call in asked else "orphan"


def text_of(message: Wire) -> str:
    content = message.get("content") or ""
    return content if isinstance(content, str) else "".join(part.get("text", "") for part in content)


@proves(scenario=scenarios())
def test_changed_messages_keep_their_form(scenario: Scenario) -> bool:
    """Roles, ids, calls and keys stay; what we add says role and content, no more."""
    result = applied(scenario)
    given, ours = {id(m) for m in scenario.messages}, []
    cut = [m for m, d in zip(scenario.messages, result.decisions, strict=True) if d.fate in ("truncated", "masked")]
    for message in result.messages:
        if id(message) in given:
            continue
        old = next((m for m in cut if same_form(m, message)), None)
        if old is None:
            ours.append(message)
        else:
            cut.remove(old)
    assert not cut
    assert all(set(message) == {"role", "content"} and message["role"] == "user" for message in ours)
    return acted(result)


def same_form(old: Wire, new: Wire) -> bool:
    fixed = ("role", "tool_call_id", "name", "refusal", "is_error")
    if set(old) != set(new) or any(old.get(key) != new.get(key) for key in fixed):
        return False
    return [form(call) for call in old.get("tool_calls") or []] == [form(call) for call in new.get("tool_calls") or []]


def form(call: Wire) -> tuple[str, str]:
    return call["id"], call["function"]["name"]


# ---- 8. nothing lost -------------------------------------------------------------------------------------------------


@proves(scenario=scenarios(tight=True))
def test_what_was_removed_is_restored(scenario: Scenario) -> bool:
    archive = MemoryArchive()
    result = applied(scenario, archive=archive)
    assert restore(result.messages, archive) == scenario.messages
    assert restore(result.messages, result.removed) == scenario.messages
    assert sum(bool(r.removed) for r in result.removed) == len(result.removed)
    return acted(result)


# ---- 9. deterministic ------------------------------------------------------------------------------------------------


@proves(scenario=scenarios())
def test_two_equal_runs_give_equal_bytes(scenario: Scenario) -> bool:
    first = applied(scenario)
    twin = Scenario(scenario.doc, copy.deepcopy(scenario.messages), dict(scenario.meta), scenario.script)
    second = twin.apply()
    assert as_bytes(first.messages) == as_bytes(second.messages)
    assert (first.decisions, first.events, first.state) == (second.decisions, second.events, second.state)
    return acted(first)


def as_bytes(messages: Any) -> str:
    return json.dumps(messages)


# ---- 10. never raises ------------------------------------------------------------------------------------------------


@proves(scenario=scenarios(), broken=st.booleans())
def test_a_checked_policy_never_raises_and_no_step_fails(scenario: Scenario, broken: bool) -> bool:
    result = applied(scenario, archive=Full() if broken else None)
    assert not any("the step failed" in event.reason for event in result.events)
    assert result.decisions
    json.dumps(result.state)
    return acted(result) or any(event.failed for event in result.events)


class Full(MemoryArchive):
    """An archive on a full disk."""

    def put(self, records: Any) -> None:
        raise OSError(28, "No space left on device", "/archive")


# ---- 12. no private key ----------------------------------------------------------------------------------------------


@proves(scenario=scenarios())
def test_no_key_of_ours_is_on_any_message(scenario: Scenario) -> bool:
    known = set().union(*map(keys, scenario.messages), ("role", "content", "type", "text"))
    result = applied(scenario)
    assert set().union(*map(keys, result.messages)) <= known
    return acted(result)


def keys(value: Any) -> set[str]:
    if isinstance(value, dict):
        return set(value).union(*map(keys, value.values()))
    return set().union(*map(keys, value)) if isinstance(value, list) else set()


# ---- what a result tells ---------------------------------------------------------------------------------------------


@proves(scenario=scenarios())
def test_usage_agrees_with_a_count_of_the_lists(scenario: Scenario) -> bool:
    result = applied(scenario)
    reference = Reference(scenario.policy.spec)
    before = reference.read(scenario.messages, scenario.meta)
    assert_counted(result.usage.before, before, reference.fixed)
    total = reference.fixed + sum(m.cost for m in reference.read(result.messages, {}))
    usage = result.usage
    assert usage.after["total"] == total == reference.fixed + sum(v for k, v in usage.after.items() if k != "total")
    assert (usage.limit, usage.pressure) == (reference.limit, total / reference.limit)
    assert usage.fits is (total <= reference.limit)
    return acted(result)


def assert_counted(usage: Any, items: list[M], fixed: int) -> None:
    assert usage["total"] == fixed + sum(m.cost for m in items)
    for role in {m.role for m in items}:
        assert usage[role] == sum(m.cost for m in items if m.role == role)


@proves(scenario=scenarios(tight=True), full=st.sampled_from((False, False, False, True)))
def test_each_event_begins_where_the_one_before_ended(scenario: Scenario, full: bool) -> bool:
    result = applied(scenario, archive=Full() if full else None)
    used = result.usage.before["total"]
    for event in result.events:
        assert event.before == used
        assert event.acted or event.after == event.before
        used = event.after
    assert used == result.usage.after["total"]
    ids = [r.id for r in scenario.policy.spec.rules if r.at == "send"]
    assert set(ids) <= {event.rule for event in result.events}, "a send rule said nothing"
    return acted(result) or any(event.failed for event in result.events)


@proves(scenario=scenarios())
def test_decisions_agree_with_the_output(scenario: Scenario) -> bool:
    result = applied(scenario)
    there = Counter(map(id, result.messages))
    texts = json.dumps(result.messages)
    acting = {event.rule for event in result.events if event.acted}
    assert [d.index for d in result.decisions] == list(range(len(scenario.messages)))
    for message, decision in zip(scenario.messages, result.decisions, strict=True):
        assert (decision.fate in STAYS) is (there[id(message)] == 1)
        if decision.fate in STAYS:
            assert decision.left == decision.tokens
            assert decision.ref is None
        else:
            assert decision.by in acting
            assert decision.ref in texts
    return acted(result)


@proves(scenario=scenarios(tight=True))
def test_an_archive_that_fails_undoes_everything(scenario: Scenario) -> bool:
    result = applied(scenario)
    failing = scenario.apply(archive=Full())
    assert same_objects(failing, scenario)
    assert not acted(failing)
    assert failing.removed == ()
    failures = [event for event in failing.events if event.action == "archive"]
    assert len(failures) == int(acted(result))
    assert all("No space left" in event.reason and event.failed for event in failures)
    return acted(result)
