"""From the effective document, already valid by the schema, to the frozen policy."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from ctxpolicy.policy.model import (
    ACTIONS,
    Action,
    Amount,
    Archive,
    Budget,
    Compact,
    Compare,
    Evict,
    KeepFacts,
    Mask,
    Match,
    Pin,
    Rank,
    ReadAs,
    Refuse,
    Rule,
    Scalar,
    Spec,
    Summarizer,
    Truncate,
    Until,
    When,
)
from ctxpolicy.values import canonical, sha256

T = TypeVar("T")
Doc = Mapping[str, Any]

NAMELESS = "policy"
_FACTS = ("pressure", "used", "messages", "tool_tokens", "results", "turns", "headroom")


def build(doc: Doc) -> Spec:
    """The policy that a document says. `doc` is what the schema accepts, composed; see compose."""
    return Spec(
        name=doc.get("name", NAMELESS),
        **_given(doc, description=str, reasoning=_same, archive=_archive),
        budget=_budget(doc.get("budget", {})),
        read_as=tuple(ReadAs(_match(entry["match"]), entry["as"]) for entry in doc.get("read_as", ())),
        pins=tuple(Pin(pin["id"], _match(pin["match"])) for pin in doc.get("pins", ())),
        rules=tuple(_rule(rule) for rule in doc.get("rules", ())),
        summarizer=_summarizers(doc.get("summarizer", ())),
        hash=sha256(canonical(doc)),
    )


def _given(doc: Doc, /, **makers: Callable[[Any], Any]) -> dict[str, Any]:
    """The keys that were written, each made into its value; what is left out keeps the model's default."""
    return {key: make(doc[key]) for key, make in makers.items() if key in doc}


def _same(value: Any) -> Any:
    return value


def _many(value: T | list[T]) -> tuple[T, ...]:
    return tuple(value) if isinstance(value, list) else (value,)


def _budget(doc: Doc) -> Budget:
    counter = doc.get("counter", "estimate")
    return Budget(
        window=int(doc.get("window", 0)),
        counter=counter if isinstance(counter, str) else f"tokenizer:{counter['tokenizer']}",
        **_given(doc, ratio=float, reserve=int, tools_tokens=int),
        **_given(doc.get("media", {}), image=int, audio=int, file=int),
    )


def _archive(doc: bool | Doc) -> Archive:
    return Archive(path=None) if isinstance(doc, bool) else Archive(**_given(doc, path=str, on_error=_same))


def _rule(doc: Doc) -> Rule:
    kind = next(action for action in ACTIONS if action in doc)
    return Rule(
        id=doc["id"],
        at=doc.get("at") or ("append" if kind == "refuse" else "send"),
        action=_ACTION[kind](doc[kind]),
        **_given(doc, match=_match, when=_when),
    )


def _match(doc: str | Doc) -> Match:
    if isinstance(doc, str):
        return Match(everything=True)
    return Match(
        **_given(doc, role=_many, name=_many, tool=_many, contains=_many, regex=_many, has=_many),
        **_given(doc, tokens=_compare, share=_compare, turn_age=_compare, field=_equals, meta=_equals),
        **_given(doc, opening=bool, superseded=bool, newest=_rank, oldest=_rank, all_but_newest=_rank),
        **_renamed(doc, _match),
    )


def _renamed(doc: Doc, one: Callable[[Any], Any]) -> dict[str, Any]:
    """`not`, `any` and `all`, which are no names in Python."""
    lists = {f"{key}_": tuple(map(one, doc[key])) for key in ("any", "all") if key in doc}
    return {**lists, "not_": one(doc["not"])} if "not" in doc else lists


def _equals(doc: Doc) -> dict[str, tuple[Scalar, ...]]:
    return {key: _many(value) for key, value in doc.items()}


def _compare(doc: Doc) -> Compare:
    return Compare(**doc)


def _rank(doc: int | Doc) -> Rank:
    return Rank(amount=Amount(**doc)) if isinstance(doc, Mapping) else Rank(count=int(doc))


def _amount(doc: float | Doc) -> Amount:
    return Amount(tokens=int(doc["tokens"])) if isinstance(doc, Mapping) else Amount(share=float(doc))


def _when(doc: Doc) -> When:
    facts = tuple((fact, _compare(doc[fact])) for fact in _FACTS if fact in doc)
    return When(facts, **_renamed(doc, _when))


def _until(doc: str | Doc) -> Until:
    return "all" if isinstance(doc, str) else _when(doc)


def _truncate(doc: Doc) -> Truncate:
    return Truncate(
        max_tokens=int(doc["max_tokens"]),
        **_ends(doc),
        **_given(doc, max_lines=int, marker=str, keep_lines=str, json=_same),
    )


def _ends(doc: Doc) -> dict[str, Any]:
    """Head and tail; where only one is given, the other is the rest."""
    ends = {key: float(doc[key]) for key in ("head", "tail") if key in doc}
    for key, other in (("head", "tail"), ("tail", "head")):
        if key in ends:
            ends.setdefault(other, round(1 - ends[key], 9))
    return ends


def _mask(doc: Doc) -> Mask:
    return Mask(**_given(doc, parts=_many, placeholder=str, min_gain=_amount, until=_until, batch=int))


def _compact(doc: Doc) -> Compact:
    flat = {f"span_{key}": value for key, value in doc.get("span", {}).items()}
    flat |= {"input_tokens": doc["input"]["max_tokens"]} if "input" in doc else {}
    return Compact(
        **_given(flat, span_min=int, span_max=int, input_tokens=int),
        **_given(doc, prompt=str, until=_until, keep=_match, min_gain=_amount, word_limit=int, nothing=str),
        **_given(doc, max_passes=int, max_summaries=int, summaries=_same, breaker=int, label=str, marker=str),
        **_given(doc, summarizer=_summarizers, keep_facts=_keep_facts),
    )


def _keep_facts(doc: Doc) -> KeepFacts:
    return KeepFacts(float(doc["share"]), **_given(doc, on_missing=_same))


def _evict(doc: Doc) -> Evict:
    return Evict(**_given(doc, until=_until, keep=_match, marker=str))


def _refuse(doc: Doc) -> Refuse:
    return Refuse(**_given(doc, message=str))


_ACTION: dict[str, Callable[[Any], Action]] = {
    "truncate": _truncate,
    "mask": _mask,
    "compact": _compact,
    "evict": _evict,
    "refuse": _refuse,
}


def _summarizers(doc: Any) -> tuple[Summarizer, ...]:
    return tuple(_summarizer(entry) for entry in _many(doc)) if doc else ()


def _summarizer(doc: str | Doc) -> Summarizer:
    if isinstance(doc, str):
        return Summarizer(doc)
    return Summarizer(
        doc["use"], **_given(doc, timeout=float, max_tokens=int, retries=int, base_url=str, api_key_env=str)
    )
