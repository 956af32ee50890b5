"""What holds of every run: assertions on a scenario and the result of its `apply`, each failing with an AssertionError.

Hypothesis tries them on small runs in the suite, `python -m tests.fuzz` on many.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

from ctxpolicy import Result
from properties import keeping, soundness, telling
from properties.runs import GONE, acted
from properties.scenarios import Scenario


def anything(scenario: Scenario, result: Result) -> bool:
    return acted(result)


def leaving(scenario: Scenario, result: Result) -> bool:
    return any(decision.fate in GONE for decision in result.decisions)


def quieted(scenario: Scenario, result: Result) -> bool:
    return acted(result) and keeping.all_quiet(scenario, result)


def as_drawn(scenario: Scenario) -> Scenario:
    return scenario


class Invariant(NamedTuple):
    """`holds` asserts over a run of the `varied` scenario; `counts` tells whether that run proves anything.

    `tight` asks for scenarios in which messages leave.
    """

    holds: Callable[[Scenario, Result], None]
    tight: bool = False
    counts: Callable[[Scenario, Result], bool] = anything
    varied: Callable[[Scenario], Scenario] = as_drawn


of_leaving = partial(Invariant, tight=True, counts=leaving)

INVARIANTS = (
    Invariant(keeping.what_stays_is_the_same_object),
    Invariant(keeping.the_input_is_not_changed),
    of_leaving(keeping.a_unit_stays_or_leaves_whole),
    Invariant(keeping.pins_hold, varied=keeping.with_one_send_rule),
    of_leaving(keeping.order_is_kept_something_stays_and_the_last_message_stays_last),
    of_leaving(keeping.a_user_message_remains_where_there_was_one),
    Invariant(keeping.whatever_acts_makes_the_list_smaller),
    Invariant(keeping.where_nothing_acts_the_output_is_the_input),
    of_leaving(keeping.the_prefix_before_the_first_edit_is_untouched),
    Invariant(
        keeping.a_second_run_changes_nothing_once_every_trigger_is_false, counts=quieted, varied=keeping.with_triggers
    ),
    Invariant(soundness.no_oddity_is_added_and_those_of_the_input_are_named),
    Invariant(soundness.the_linter_finds_no_new_error),
    Invariant(soundness.changed_messages_keep_their_form),
    of_leaving(soundness.what_was_removed_is_restored),
    Invariant(soundness.an_equal_run_gives_equal_bytes),
    Invariant(soundness.no_step_fails),
    Invariant(soundness.an_archive_that_fails_undoes_everything, tight=True),
    Invariant(soundness.no_key_of_ours_is_on_any_message),
    Invariant(telling.usage_agrees_with_a_count_of_the_lists),
    Invariant(telling.each_event_begins_where_the_one_before_ended, tight=True),
    Invariant(telling.decisions_agree_with_the_output),
)
