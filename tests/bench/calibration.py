"""What `observe` is worth: sessions through a window, the provider counting with o200k_base. Figures, not times."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tests.bench.measure import Line, at_most
from tests.calibrating.loop import Provider, Seen, run
from tests.calibrating.sessions import PLANS, Session, made, recorded

import ctxpolicy

_POLICY = "version: 1\nname: calibration\nextends: [builtin:default]\nbudget: {{window: {}, counter: {}}}\n"


def _note(_: object) -> str:
    return "The log of the north hall was read; nothing was found."


def lines() -> Iterator[Line]:
    """Made-up sessions in the default window; real ones, where they are here, in half of it, as few are longer."""
    provider = Provider()
    for what, window, sessions in (
        ("made", 128_000, [made(plan, turns=200) for plan in PLANS]),
        ("real", 64_000, list(recorded())),
    ):
        for counter in ("chars", "estimate") if sessions else ():
            policy = ctxpolicy.loads(_POLICY.format(window, counter))
            yield from _lines(f"calibration, {what}, {counter}", policy, sessions, provider)


def _lines(what: str, policy: ctxpolicy.Policy, sessions: Sequence[Session], provider: Provider) -> Iterator[Line]:
    blind, seen = (_played(policy, sessions, provider, observing) for observing in (False, True))
    yield _figure(f"{what}: calls", seen.calls)
    yield _figure(f"{what}: highest count of the provider's over ours", seen.ratio, "x")
    yield _figure(f"{what}: over the limit, usage not observed", blind.over)
    yield at_most(f"{what}: over the limit, usage observed", seen.over, "", 0)
    yield _figure(f"{what}: the longest call, usage observed, of the limit", seen.peak * 100, "%")
    yield _figure(f"{what}: refused by the provider, not observed", blind.given_up)
    yield at_most(f"{what}: refused by the provider, observed", seen.refused, "", 0)
    yield _figure(f"{what}: of the limit in use after a rule made room", seen.fill * 100, "%")


def _played(policy: ctxpolicy.Policy, sessions: Sequence[Session], provider: Provider, observing: bool) -> Seen:
    """Each session with eviction alone, and with a summariser."""
    seen = Seen()
    for session in sessions:
        for summarize in (False, _note):
            seen.add(run(policy, session, provider, observing=observing, summarize=summarize))
    return seen


def _figure(what: str, figure: float, unit: str = "") -> Line:
    return Line(what, figure, unit, "", holds=True)
