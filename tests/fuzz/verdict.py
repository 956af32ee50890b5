"""Everything that must hold of a pair, checked."""

from __future__ import annotations

import traceback
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from ctxpolicy import MessageTooLarge, Result
from fuzz.pairs import Pair
from properties import rounds
from properties.agreement import is_known, the_reference_agrees, the_reference_agrees_on_the_marks_of_an_earlier_run
from properties.invariants import INVARIANTS, as_drawn
from properties.keeping import with_one_send_rule, with_triggers
from properties.runs import acted
from properties.scenarios import Scenario

T = TypeVar("T")
Varied = Callable[[Scenario], Scenario]


class Failure(NamedTuple):
    """Which check failed, and where: the line that tells one kind of fault from another."""

    check: str
    where: str


class Verdict:
    """What came of one pair. `checks` maps each check that was made to whether a rule acted in a way that matters."""

    def __init__(self) -> None:
        self.actions: frozenset[str] = frozenset()
        self.refused = False
        self.checks: dict[str, bool] = {}
        self.failures: list[Failure] = []

    def check(self, counts: bool, body: Callable[..., T], *args: Any) -> T | None:
        """Run a body that asserts; what it returned, or None where it failed."""
        name = body.__name__.replace("_", " ")
        self.checks[name] = counts
        try:
            return body(*args)
        except Exception as error:  # noqa: BLE001 - that nothing is raised is one of the things to prove
            self.failures.append(Failure(name, _where(error)))
            return None


class Run(NamedTuple):
    """A scenario that was applied; no result where a refuse rule turned a message away."""

    scenario: Scenario
    result: Result | None


def judge(pair: Pair) -> Verdict:
    """Run the checks on the pair. There is nothing to check where a message was refused."""
    verdict = Verdict()
    run = _applied(verdict, pair.scenario, as_drawn)
    if run is not None and run.result is not None:
        verdict.actions = frozenset(event.action for event in run.result.events if event.acted)
        _check_invariants(verdict, run, as_drawn)
        _check_variation(verdict, pair)
        _check_reference(verdict, pair, run.result)
        _check_rounds(verdict, pair, run.result)
    verdict.refused = run is not None and run.result is None
    return verdict


def _applied(verdict: Verdict, scenario: Scenario, varied: Varied) -> Run | None:
    return verdict.check(True, a_checked_policy_never_raises, scenario, varied)


def a_checked_policy_never_raises(scenario: Scenario, varied: Varied) -> Run:
    changed = varied(scenario)
    try:
        return Run(changed, changed.apply())
    except MessageTooLarge:
        return Run(changed, None)


def _check_variation(verdict: Verdict, pair: Pair) -> None:
    """Check what can only be told of a policy of another shape: one of the two shapes."""
    varied = (with_one_send_rule, with_triggers)[pair.turn % 2]
    run = _applied(verdict, pair.scenario, varied)
    if run is not None:
        _check_invariants(verdict, run, varied)


def _check_invariants(verdict: Verdict, run: Run, varied: Varied) -> None:
    scenario, result = run
    for invariant in INVARIANTS:
        if invariant.varied is varied and result is not None:
            verdict.check(invariant.counts(scenario, result), invariant.holds, scenario, result)


def _check_reference(verdict: Verdict, pair: Pair, result: Result) -> None:
    """On the list as it is, or on one that went through a run before."""
    scenario = pair.scenario
    if is_known(scenario):
        verdict.check(acted(result), the_reference_agrees, scenario, result)
        if pair.turn % 2:
            verdict.check(acted(result), the_reference_agrees_on_the_marks_of_an_earlier_run, scenario, pair.dump)


def _check_rounds(verdict: Verdict, pair: Pair, result: Result) -> None:
    """The list handed over in one of the ways that a caller has."""
    scenario, way, stops, dump, keep, turn = pair
    check = partial(verdict.check, acted(result))
    check(rounds.a_window_decides_as_apply_does, scenario, result)
    if turn % 3 == 0:
        check(rounds.everything_is_restored_after_many_rounds, scenario, way, stops)
        check(rounds.originals_with_the_state_give_the_same_bytes_and_ask_nothing_twice, scenario, result)
        check(rounds.a_changed_history_never_breaks_a_list, scenario, result, keep)
        return
    lists = check(rounds.a_live_window_stays_sound, scenario, stops)
    if lists is not None and turn % 3 == 1:
        check(rounds.a_window_goes_on_after_a_dump, scenario, stops, dump, lists)
    elif lists is not None:
        check(rounds.originals_with_the_state_decide_as_a_window_does, scenario, stops, lists)


def _where(error: Exception) -> str:
    """The innermost line that raised the error, and what it said where that is no assertion of ours."""
    frame = traceback.extract_tb(error.__traceback__)[-1]
    what = "" if isinstance(error, AssertionError) else f" raised {type(error).__name__}: {error}"
    return f"{Path(frame.filename).name}: {frame.line}{what}"
