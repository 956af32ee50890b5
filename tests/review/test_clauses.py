"""The clauses of an explanation are the engine's own answers: all hold exactly where the selector matches."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hypothesis import event, given, settings
from hypothesis import strategies as st

from ctxpolicy.items import Facts, Item, Load, Tally
from ctxpolicy.match import Traits
from ctxpolicy.messages import Call, Message
from ctxpolicy.policy.build import _match, _when
from ctxpolicy.policy.model import Compare
from ctxpolicy.review.clauses import Asked, bounds, checks, when_clauses
from ctxpolicy.select import selector
from ctxpolicy.view import View
from ctxpolicy.when import condition

LIMIT = 1000
_compare = st.dictionaries(st.sampled_from(["gt", "gte", "lt", "lte"]), st.integers(0, 60), min_size=1, max_size=2)
_rank = st.one_of(
    st.integers(0, 6),
    st.fixed_dictionaries({"tokens": st.integers(0, 200)}),
    st.fixed_dictionaries({"share": st.sampled_from([0.01, 0.1])}),
)
_keys: dict[str, st.SearchStrategy[Any]] = {
    "role": st.sampled_from(
        ["system", "user", "assistant", "tool", "injected", ["user", "tool"], ["injected", "user"]]
    ),
    "name": st.just("ann"),
    "tool": st.sampled_from(["bash", "ba*", ["read", "bash"]]),
    "contains": st.sampled_from(["a", ["b", "c"]]),
    "regex": st.sampled_from(["^a", "b$", "c+"]),
    "tokens": _compare,
    "share": st.just({"gt": 0.02}),
    "has": st.sampled_from(["tool_call", "image", "summary"]),
    "meta": st.just({"pin": True}),
    "field": st.just({"role": "user"}),
    "opening": st.booleans(),
    "turn_age": _compare,
    "superseded": st.booleans(),
    "newest": _rank,
    "oldest": _rank,
    "all_but_newest": _rank,
}
_flat = st.lists(st.sampled_from(sorted(_keys)), min_size=1, max_size=4, unique=True).flatmap(
    lambda keys: st.fixed_dictionaries({key: _keys[key] for key in keys})
)
MATCHES = st.one_of(
    st.just("all"),
    st.recursive(
        _flat,
        lambda inner: st.tuples(
            _flat,
            st.fixed_dictionaries(
                {},
                optional={
                    "not": inner,
                    "any": st.lists(inner, min_size=1, max_size=2),
                    "all": st.lists(inner, min_size=1, max_size=2),
                },
            ),
        ).map(lambda pair: pair[0] | pair[1]),
        max_leaves=5,
    ),
)


@st.composite
def lists(draw: st.DrawFn) -> list[Item]:
    """Short lists with calls and results, injected messages and marks of our own."""
    items: list[Item] = []
    for n in range(draw(st.integers(0, 9))):
        role = draw(st.sampled_from(["system", "user", "assistant", "call", "injected", "gap", "summary"]))
        text = draw(st.text("abc", max_size=3))
        tokens = draw(st.integers(1, 60))
        meta = draw(st.sampled_from([None, {"pin": True}]))
        if role == "call":
            call = Call(f"c{n}", draw(st.sampled_from(["bash", "read"])), draw(st.sampled_from(["{}", '{"a": 1}'])))
            message = Message({"role": "assistant"}, "assistant", text, calls=(call,), has=frozenset(("tool_call",)))
            _add(items, message, "assistant", tokens, meta, tools=(call.tool,))
            if draw(st.booleans()):
                _add(
                    items,
                    Message({"role": "tool"}, "tool", text, result_of=call.id),
                    "tool",
                    tokens,
                    None,
                    (call.tool,),
                )
        elif role in ("gap", "summary"):
            _add(items, Message({"role": "user"}, "user", text), "injected", tokens, None, ours=role)
        else:
            wire = "user" if role == "injected" else role
            name = draw(st.sampled_from([None, "ann"]))
            _add(items, Message({"role": wire}, wire, text, name), role, tokens, meta)
    return items


def _add(
    items: list[Item], message: Message, role: str, tokens: int, meta: Any, tools: Sequence[str] = (), ours: Any = None
) -> None:
    items.append(Item(message, role, tokens, len(items), len(items) + 1, tuple(tools), ours, meta=meta))


@settings(max_examples=150, deadline=None)
@given(lists(), MATCHES)
def test_all_clauses_hold_where_the_selector_matches(items: list[Item], written: Any) -> None:
    traits = Traits()
    match = _match(written)
    chosen = selector(match, LIMIT, traits)
    many = checks(match, LIMIT, traits, ("pins", 0, "match"))
    view = View(items, Tally.of(items), Load(LIMIT), traits, ())
    asked = Asked(view)
    matching = chosen.select(view)
    expected = [i in matching for i in range(len(items))]
    event(f"some match: {any(expected)}")
    assert [all(c.holds for c in asked.clauses(many, i)) for i in range(len(items))] == expected


@settings(max_examples=50, deadline=None)
@given(lists(), MATCHES)
def test_every_clause_says_what_it_looked_at(items: list[Item], written: Any) -> None:
    traits = Traits()
    many = checks(_match(written), LIMIT, traits, ("pins", 0, "match"))
    asked = Asked(View(items, Tally.of(items), Load(LIMIT), traits, ()))
    for i in range(len(items)):
        for clause in asked.clauses(many, i):
            assert clause.path[:3] == ("pins", 0, "match")
            assert clause.found or clause.inside or clause.key == "everything"


_facts = st.builds(
    Facts,
    used=st.integers(0, 2000).map(float),
    limit=st.just(LIMIT),
    messages=st.integers(0, 60),
    tool_tokens=st.integers(0, 60),
    results=st.integers(0, 60),
    turns=st.integers(0, 60),
)
_flat_when = st.dictionaries(
    st.sampled_from(["used", "messages", "results", "turns", "headroom"]), _compare, max_size=2
)
_whens = st.recursive(
    _flat_when,
    lambda inner: st.tuples(
        _flat_when,
        st.fixed_dictionaries({}, optional={"not": inner, "any": st.lists(inner, min_size=1, max_size=2)}),
    ).map(lambda pair: pair[0] | pair[1]),
    max_leaves=4,
)


@given(_facts, _whens)
def test_all_clauses_of_a_condition_hold_where_it_does(facts: Facts, written: Any) -> None:
    when = _when(written)
    assert all(c.holds for c in when_clauses(when, facts, ("rules", 0, "when"))) is condition(when)(facts)


def test_bounds_in_words() -> None:
    assert bounds(Compare(gt=0.7)) == "> 0.7"
    assert bounds(Compare(gte=2000, lt=90000)) == ">= 2,000 and < 90,000"


def test_the_numbers_of_a_rank() -> None:
    items: list[Item] = []
    for n in range(5):
        _add(items, Message({"role": "user"}, "user", str(n)), "user", 10, None)
    traits = Traits()
    many = checks(_match({"role": "user", "newest": 2}), LIMIT, traits, ("pins", 0, "match"))
    more = checks(_match({"role": "user", "newest": {"tokens": 25}}), LIMIT, traits, ("pins", 1, "match"))
    asked = Asked(View(items, Tally.of(items), Load(LIMIT), traits, ()))
    assert asked.clauses(many, 2)[-1].found == "number 3 from the newest of 5 that match"
    assert not asked.clauses(many, 2)[-1].holds
    assert asked.clauses(more, 3)[-1].found == "20 tokens up to it from the newest of 5 that match"
    assert asked.clauses(more, 3)[-1].holds
