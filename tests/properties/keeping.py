"""What stays in a list, where, and when nothing may change: invariants 1 to 6, as assertions on a run."""

from __future__ import annotations

import copy
import json
from collections import Counter
from dataclasses import replace

from ctxpolicy import Result
from properties.reference import Reference
from properties.runs import GONE, STAYS, acted, reader, same_objects
from properties.scenarios import Scenario

# ---- 1. pure ---------------------------------------------------------------------------------------------------------


def what_stays_is_the_same_object(scenario: Scenario, result: Result) -> None:
    there = Counter(map(id, result.messages))
    stayed = [m for m, d in zip(scenario.messages, result.decisions, strict=True) if d.fate in STAYS]
    assert all(there[id(message)] == 1 for message in stayed)


def the_input_is_not_changed(scenario: Scenario, result: Result) -> None:
    assert json.dumps(scenario.messages) == scenario.pristine


# ---- 2. whole units --------------------------------------------------------------------------------------------------


def a_unit_stays_or_leaves_whole(scenario: Scenario, result: Result) -> None:
    reference = reader(scenario)
    gone = {i for i, d in enumerate(result.decisions) if d.fate in GONE}
    for i in gone:
        assert reference.unit(i) <= gone


# ---- 3. pins hold ----------------------------------------------------------------------------------------------------


def pins_hold(scenario: Scenario, result: Result) -> None:
    """No rule touches what is pinned or live, but for the cut of a live result. For a policy of one send rule."""
    reference = reader(scenario)
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


def with_one_send_rule(scenario: Scenario) -> Scenario:
    """Only the first send rule, and one pass of it: what is pinned is asked of the list as a pass receives it."""
    rules = scenario.doc["rules"]
    first = next(r for r in rules if r.get("at") != "append")
    if "compact" in first:
        first = first | {"compact": first["compact"] | {"max_passes": 1}}
    return scenario.varied(rules=[*(r for r in rules if r.get("at") == "append"), first])


# ---- 4. order, never empty, a user message, the last message ---------------------------------------------------------


def order_is_kept_something_stays_and_the_last_message_stays_last(scenario: Scenario, result: Result) -> None:
    place = {id(message): i for i, message in enumerate(scenario.messages)}
    places = [place[id(message)] for message in result.messages if id(message) in place]
    assert places == sorted(places)
    assert result.decisions[-1].fate not in GONE
    assert result.messages[-1] is scenario.messages[-1] or result.decisions[-1].fate not in STAYS


def a_user_message_remains_where_there_was_one(scenario: Scenario, result: Result) -> None:
    users = [i for i, m in enumerate(reader(scenario).items) if m.role == "user"]
    assert not users or any(result.decisions[i].fate not in GONE for i in users)
    if any(message["role"] == "user" for message in scenario.messages):
        assert any(message["role"] == "user" for message in result.messages)


# ---- 5. never larger -------------------------------------------------------------------------------------------------


def whatever_acts_makes_the_list_smaller(scenario: Scenario, result: Result) -> None:
    assert all(event.after < event.before for event in result.events if event.acted)
    assert all(d.left < d.tokens for d in result.decisions if d.fate not in STAYS)
    assert result.usage.after["total"] <= result.usage.before["total"]


# ---- 6. quiet --------------------------------------------------------------------------------------------------------


def where_nothing_acts_the_output_is_the_input(scenario: Scenario, result: Result) -> None:
    if not acted(result):
        assert same_objects(result, scenario)
        assert all(decision.fate in STAYS for decision in result.decisions)
        assert result.removed == ()


def the_prefix_before_the_first_edit_is_untouched(scenario: Scenario, result: Result) -> None:
    first = next((i for i, d in enumerate(result.decisions) if d.fate not in STAYS), len(scenario.messages))
    assert all(a is b for a, b in zip(scenario.messages[:first], result.messages[:first], strict=True))


def a_second_run_changes_nothing_once_every_trigger_is_false(scenario: Scenario, result: Result) -> None:
    if not all_quiet(scenario, result):
        return
    again = scenario.apply(state=result.state)
    handed_back = scenario.apply(result.messages, state=result.state)
    runs = [again, handed_back]
    if sum("truncate" in rule or "mask" in rule for rule in scenario.doc["rules"]) < 2:
        # One rule may make of a message what another, on arrival, would cut; without the state it has just arrived.
        runs.append(scenario.apply(result.messages))
    for second in runs:
        assert second.messages == result.messages
        assert not acted(second, "mask", "compact", "evict")
    assert all(a is b for a, b in zip(handed_back.messages, result.messages, strict=True))


def with_triggers(scenario: Scenario) -> Scenario:
    """Every send rule under a condition on the size of the list, with an eviction at the end that can make it false.

    No metadata: it does not travel with a list that is returned without the state.
    """
    rules = copy.deepcopy(scenario.doc["rules"])
    for rule in rules:
        if rule.get("at") != "append":
            rule["when"] = {"pressure": {"gt": 0.75 if "evict" in rule else 0.7}}
            for action in ("mask", "truncate", "compact", "evict"):
                rule.get(action, {}).pop("until", None)
    last = {"id": "last", "when": {"pressure": {"gt": 0.75}}, "evict": {"until": {"pressure": {"lt": 0.6}}}}
    return replace(scenario.varied(rules=[*rules, last], pins=scenario.doc["pins"][:1]), meta={})


def all_quiet(scenario: Scenario, result: Result) -> bool:
    reference = Reference(scenario.policy.spec)
    items = reference.read(result.messages, {})
    return not any(reference.holds(r.when, items) for r in scenario.policy.spec.rules if r.at == "send")
