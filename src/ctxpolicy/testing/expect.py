"""What a case expects, compared with what came of it. Only what is written is compared."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from ctxpolicy.archive.restoring import restore
from ctxpolicy.policy.findings import Finding
from ctxpolicy.policy.model import Compare
from ctxpolicy.policy.node import Node, Span
from ctxpolicy.result import Decision, Event, Result
from ctxpolicy.review.clauses import bounds
from ctxpolicy.review.stages import words
from ctxpolicy.testing.run import Ran
from ctxpolicy.testing.suite import unknown_id

_LONGEST = 160  # characters of a text that a report shows


@dataclass(frozen=True, slots=True)
class Miss:
    """One thing that is not as expected: where it is written, what differs, and the message or rule to explain."""

    span: Span
    text: str
    message: int | None = None
    rule: str | None = None


def assertions(node: Node | None) -> int:
    """How many things an `expect` asks."""
    if node is None:
        return 0
    keys = node.mapping
    entries = [e for key in ("messages", "events") if key in keys for e in keys[key].items]
    asked = sum(len(set(entry.mapping) - {"id", "index", "rule"}) for entry in entries)
    return asked + sum(key not in ("messages", "events") for key in keys)


def unknown(node: Node | None, names: Sequence[str], pins: Sequence[str], rules: Sequence[str]) -> Iterator[Finding]:
    """Names of messages, pins and rules that an `expect` uses and nobody has."""
    keys = node.mapping if node else {}
    for entry in keys["messages"].items if "messages" in keys else ():
        yield from _unknown(entry, {"id": (names, "message"), "by": ([*pins, *rules, "live"], "pin or rule")})
    for entry in keys["events"].items if "events" in keys else ():
        yield from _unknown(entry, {"rule": (rules, "rule")})
    if "refused" in keys:
        yield from _unknown(keys["refused"], {"id": (names, "message"), "by": (rules, "rule")})


def _unknown(entry: Node, known: dict[str, tuple[Sequence[str], str]]) -> Iterator[Finding]:
    for key, (names, what) in known.items():
        if key in entry.mapping and (found := unknown_id(entry.mapping[key], list(names), what)):
            yield found


def misses(expect: Node, ran: Ran) -> Iterator[Miss]:
    """Everything that is not as expected."""
    keys = expect.mapping
    if ran.result is None or ran.stages is None:
        yield from _refused(keys.get("refused"), expect, ran)
        return
    if "refused" in keys:
        yield Miss(expect.keys["refused"], "no message was refused")
    for key, judge in _JUDGES.items():
        if key in keys:
            yield from judge(keys[key], ran, ran.result)


def _refused(expected: Node | None, expect: Node, ran: Ran) -> Iterator[Miss]:
    error = ran.refused
    assert error is not None
    if expected is None:
        where = next(iter(expect.keys.values()), expect.span)
        yield Miss(where, f"rule {error.rule} refused a message: {error}", rule=error.rule)
        return
    keys = expected.mapping
    if "by" in keys and keys["by"].plain() != error.rule:
        yield Miss(keys["by"].span, f"the message was refused by {error.rule}, not {keys['by'].plain()}")
    places = ran.given.names.get(str(keys["id"].plain()), []) if "id" in keys else []
    if "index" in keys:
        places = [keys["index"].plain()]
    if places and error.index not in places:
        yield Miss(expected.span, f"message {error.index} was refused, not {', '.join(map(str, places))}")
    yield from _texts(keys, str(error), "the error", None)


def _fates(expected: Node, ran: Ran, result: Result) -> Iterator[Miss]:
    for entry in expected.items:
        places = _places(entry, ran)
        if isinstance(places, Miss):
            yield places
            continue
        for key in ("fate", "by", "tokens"):
            if key in entry.mapping:
                yield from _each(key, entry.mapping[key], [result.decisions[i] for i in places], ran)
        if "says" in entry.mapping or "lacks" in entry.mapping:
            yield from _standing(entry, places, ran)


def _places(entry: Node, ran: Ran) -> list[int] | Miss:
    """The messages that an entry speaks of: those of a name, or all; of these the ones at `index`, where it says so."""
    keys = entry.mapping
    among = list(range(len(ran.given.messages)))
    if "id" in keys:
        among = ran.given.names.get(str(keys["id"].plain()), [])
    if "index" not in keys:
        return among
    indexes, count = _many(keys["index"].plain()), len(among)
    if beyond := [i for i in indexes if not -count <= i < count]:
        return Miss(_span(keys["index"]), f"there is no message {beyond[0]} among {count:,}; the first is 0")
    return [among[i] for i in indexes]


def _each(key: str, wanted: Node, decisions: Sequence[Decision], ran: Ran) -> Iterator[Miss]:
    """One miss for all messages that differ, about the first of them."""
    plain = wanted.plain()
    read: dict[str, Callable[[Decision], Any]] = {
        "fate": lambda d: d.fate, "by": lambda d: d.by, "tokens": lambda d: d.left,
    }  # fmt: skip
    fits = _compared(plain) if key == "tokens" else lambda value: value in _many(plain)
    wrong = [d for d in decisions if not fits(read[key](d))]
    if not wrong:
        return
    first = wrong[0]
    name = ran.given.label.get(first.index)
    which = f"message {first.index}" + (f" (`{name}`)" if name else "")
    more = f"; so are {len(wrong) - 1:,} more of {len(decisions):,}" if len(wrong) > 1 else ""
    found = read[key](first)
    shown = _bounds_text(plain) if key == "tokens" else " or ".join(map(str, _many(plain)))
    what = "is" if key == "fate" else "was decided by" if key == "by" else "has tokens"
    yield Miss(wanted.span, f"{which} {what} {'nobody' if found is None else found}, not {shown}{more}", first.index)


def _standing(entry: Node, places: Sequence[int], ran: Ran) -> Iterator[Miss]:
    assert ran.stages is not None
    for index in places:
        missed = list(_texts(entry.mapping, ran.stages.text_for(index), f"in place of message {index}", index))
        if missed:
            yield missed[0]
            return


def _texts(keys: dict[str, Node], text: str, where: str, index: int | None) -> Iterator[Miss]:
    for key in ("contains", "says", "lacks"):
        if key not in keys:
            continue
        for wanted in keys[key].items or [keys[key]]:
            if (str(wanted.value) in text) is (key == "lacks"):
                says = "stands" if key == "lacks" else "does not stand"
                shown = "" if key == "lacks" else f"; there is {_short(text)!r}"
                yield Miss(wanted.span, f"{str(wanted.value)!r} {says} {where}{shown}", index)


def _counts(expected: Node, _: Ran, result: Result) -> Iterator[Miss]:
    for fate, wanted in expected.mapping.items():
        found = sum(decision.fate == fate for decision in result.decisions)
        yield from _number(wanted, found, f"messages {fate}")


def _events(expected: Node, _: Ran, result: Result) -> Iterator[Miss]:
    for entry in expected.items:
        rule = str(entry.mapping["rule"].plain())
        missed = next(_event(entry, rule, [e for e in result.events if e.rule == rule]), None)
        if missed is not None:
            yield missed


def _event(entry: Node, rule: str, events: Sequence[Event]) -> Iterator[Miss]:
    keys = entry.mapping
    told = "; ".join(event.reason for event in events) or "it has no event"
    acted = any(event.acted for event in events)
    if "fired" in keys and keys["fired"].plain() is not acted:
        yield Miss(keys["fired"].span, f"{rule} {'acted' if acted else 'did not act'}: {told}", rule=rule)
    if "failed" in keys and keys["failed"].plain() is not any(event.failed for event in events):
        says = "nothing went wrong" if keys["failed"].plain() else "something went wrong"
        yield Miss(keys["failed"].span, f"{rule}: {says}: {told}", rule=rule)
    for wanted in (keys["why"].items or [keys["why"]]) if "why" in keys else ():
        if str(wanted.value).casefold() not in told.casefold():
            yield Miss(wanted.span, f"{rule} does not say {str(wanted.value)!r}: {told}", rule=rule)
    if "messages" in keys:
        yield from _number(keys["messages"], sum(event.messages for event in events), f"messages of {rule}", rule)
    if "gain" in keys:
        gain = sum(event.before - event.after for event in events if event.acted)
        yield from _number(keys["gain"], gain, f"tokens gained by {rule}", rule)


def _usage(expected: Node, _: Ran, result: Result) -> Iterator[Miss]:
    keys, usage = expected.mapping, result.usage
    if "fits" in keys and keys["fits"].plain() is not usage.fits:
        size = f"{usage.after['total']:,} of {usage.limit:,} tokens"
        yield Miss(keys["fits"].span, f"the list {'fits' if usage.fits else 'does not fit'}: {size}")
    figures = {"pressure": usage.pressure, "tokens": usage.after["total"], "before": usage.before["total"]}
    for key, found in figures.items():
        if key in keys:
            yield from _number(keys[key], found, {"pressure": "pressure", "tokens": "tokens"}.get(key, "tokens before"))


def _sent(expected: Node, ran: Ran, result: Result) -> Iterator[Miss]:
    keys = expected.mapping
    if "messages" in keys:
        yield from _number(keys["messages"], len(result.messages), "messages sent")
    if "unchanged" in keys:
        given = ran.given.messages
        same = len(given) == len(result.messages) and all(a is b for a, b in zip(given, result.messages, strict=True))
        if keys["unchanged"].plain() is not same:
            acted = [str(event.rule) for event in result.events if event.acted]
            what = "unchanged" if same else f"changed by {', '.join(acted) or 'an earlier step'}"
            yield Miss(keys["unchanged"].span, f"the list is sent {what}")
    assert ran.stages is not None
    yield from _texts(keys, "\n".join(map(words, ran.stages.end.view.items)), "in the list that is sent", None)


def _asked(expected: Node, ran: Ran, _: Result) -> Iterator[Miss]:
    keys = expected.mapping
    if "times" in keys:
        yield from _number(keys["times"], len(ran.requests), "requests to the summariser")
    if "contains" in keys or "lacks" in keys:
        if not ran.requests:
            yield Miss(expected.span, "the summariser was not asked")
        else:
            yield from _texts(keys, ran.requests[-1].prompt, "in the prompt", None)


def _restore(expected: Node, ran: Ran, result: Result) -> Iterator[Miss]:
    back = restore(result.messages, ran.removed)
    if back == ran.given.messages:
        return
    pairs = enumerate(zip(back, ran.given.messages, strict=False))
    first = next((i for i, (a, b) in pairs if a != b), min(len(back), len(ran.given.messages)))
    yield Miss(expected.span, f"what was taken out does not give the list back: they differ from message {first} on")


_JUDGES: dict[str, Callable[[Node, Ran, Result], Iterator[Miss]]] = {
    "messages": _fates,
    "counts": _counts,
    "events": _events,
    "usage": _usage,
    "sent": _sent,
    "asked": _asked,
    "restore": _restore,
}


def _number(wanted: Node, found: float, what: str, rule: str | None = None) -> Iterator[Miss]:
    if not _compared(wanted.plain())(found):
        shown = f"{found:,}" if isinstance(found, int) else f"{found:.4g}"
        yield Miss(_span(wanted), f"{what}: {shown}, not {_bounds_text(wanted.plain())}", rule=rule)


def _span(node: Node) -> Span:
    return next(iter(node.keys.values()), node.span)


def _compared(wanted: Any) -> Callable[[float], bool]:
    if isinstance(wanted, dict):
        return Compare(**wanted).holds
    return lambda value: bool(value == wanted)


def _bounds_text(wanted: Any) -> str:
    return bounds(Compare(**wanted)) if isinstance(wanted, dict) else f"{wanted:,}"


def _many(wanted: Any) -> list[Any]:
    return wanted if isinstance(wanted, list) else [wanted]


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"
