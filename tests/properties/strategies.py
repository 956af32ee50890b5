"""Random policies and transcripts for the property tests.

A policy is drawn as the document that its YAML holds, and goes through the real loader. The window is drawn last, as a
share of what the transcript costs, so that rules act.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from hypothesis import assume
from hypothesis import strategies as st

import ctxpolicy
import ctxpolicy.marks
from ctxpolicy import Policy, PolicyInvalid, Result, SummaryReply, SummaryRequest
from ctxpolicy.archive import MemoryArchive

Doc = dict[str, Any]
Wire = dict[str, Any]

TOOLS = ("bash", "read_file", "search")
MARKER = "<< {{ count }} messages were left out here, ref {{ ref }} >>"
LABEL = "[Note on {{ count }} messages, ref {{ ref }}]\nWhat happened before:"
PLACEHOLDER = "(the output of {{ tool }} was {{ tokens }} tokens, see ref {{ ref }})"
CUT = "\n~~ {{ chars }} characters left out here, ref {{ ref }} ~~\n"


# ---- texts -----------------------------------------------------------------------------------------------------------

_TEXTS: dict[str, Callable[[int], str]] = {
    "words": lambda n: " ".join(f"word{i % 7}" for i in range(n)),
    "lines": lambda n: "\n".join(f"{i:>4} | if x_{i} != {{{i}: 'a'}}:" for i in range(n // 4 + 1)),
    "errors": lambda n: "\r\n".join(f"ERROR at line {i}" if i % 5 == 2 else f"fine {i}" for i in range(n // 3 + 1)),
    "json": lambda n: json.dumps([{"id": i, "name": f"item {i}"} for i in range(n // 6 + 1)]),
    "chinese": lambda n: "把这些文件都读一遍。" * (n // 8 + 1),
    "emoji": lambda n: "👩‍👩‍👧🇩🇪 ok é " * (n // 6 + 1),
    "surrogate": lambda n: "broken \ud83d half " * (n // 5 + 1),
    "uri": lambda n: "data:image/png;base64," + "iVBORw0KGgo" * (n // 4 + 1),
}
_ODD = (
    "",
    " ",
    "ok",
    "No. Use staging.",
    "[3 earlier turns left out, ref 3f9a12c0d4e1.]",
    "[3 earlier turns left out, ref 3f9a12c0d4e1.] is what I see, why?",
    "[, earlier turns left out, ref 3f9a12c0d4e1.]",
    "[12 earlier turns compacted, ref 3f9a12c0d4e1.]\nSummary of what happened:\nThe tests pass; `deploy.sh` stays.",
    "[12 earlier turns compacted, ref 3f9a12c0d4e1.]\nSummary of what happened: they say.",
    "[4,200 tokens of bash left out, ref 3f9a12c0d4e1.]",
    "[4,200 tokens of tool left out, ref 3f9a12c0d4e1.]",
    "<system-reminder>be brief</system-reminder>",
)
numbers = st.integers(0, 9)


@st.composite
def texts(draw: st.DrawFn, most: int = 120) -> str:
    """Texts of 0 to `most` words or so; one in six is odd in some way."""
    if draw(st.integers(0, 5)) == 5:
        return draw(st.sampled_from(_ODD))
    kind = draw(st.sampled_from(tuple(_TEXTS)))
    return _TEXTS[kind](draw(st.integers(1, most)))


# ---- transcripts -----------------------------------------------------------------------------------------------------


def _image() -> Doc:
    return {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgo="}}


@st.composite
def contents(draw: st.DrawFn, most: int) -> Any:
    """A text, or the same as list content, sometimes with a picture or nothing in it."""
    text, shape = draw(texts(most)), draw(st.integers(0, 11))
    if shape < 9:
        return text
    halves = [{"type": "text", "text": text[: len(text) // 2]}, {"type": "text", "text": text[len(text) // 2 :]}]
    return {9: halves, 10: [*halves, _image()], 11: [_image()]}[shape]


def _user(draw: st.DrawFn, book: _Book) -> list[Wire]:
    made: Wire = {"role": "user", "content": draw(contents(60))}
    if draw(numbers) == 9:
        made["name"] = draw(st.sampled_from(("ana", "bo")))
    return [made]


def _observation(draw: st.DrawFn, book: _Book) -> list[Wire]:
    """What a harness writes into the user channel."""
    head = draw(st.sampled_from(("OBSERVATION: ", "OBSERVATION:\n", "<note>")))
    return [{"role": "user", "content": head + draw(texts(150))}]


def _answer(draw: st.DrawFn, book: _Book) -> list[Wire]:
    made: Wire = {"role": "assistant", "content": draw(contents(60))}
    extra = draw(numbers)
    if extra == 7:
        made["refusal"] = "I will not."
    elif extra == 8:
        made["reasoning_content"] = draw(texts(120))
    elif extra == 9:
        made["content"] = None
    return [made]


def _standing(draw: st.DrawFn, book: _Book) -> list[Wire]:
    return [{"role": draw(st.sampled_from(("system", "developer"))), "content": draw(texts(30))}]


def _orphan(draw: st.DrawFn, book: _Book) -> list[Wire]:
    return [{"role": "tool", "tool_call_id": book.id(draw), "content": draw(texts(60))}]


def _ours(draw: st.DrawFn, book: _Book) -> list[Wire]:
    """Markers and summaries of an earlier run, by this policy or another."""
    count, ref = draw(st.integers(1, 30)), draw(st.sampled_from(("3f9a12c0d4e1", "00000000000f", "abcdefabcdef")))
    text = draw(st.sampled_from(_MARKS)).replace("{{ count }}", str(count)).replace("{{ ref }}", ref)
    if text.endswith(":"):
        text += "\n" + draw(texts(40))
    return [{"role": "user", "content": text}]


_MARKS = (ctxpolicy.marks.MARKER, ctxpolicy.marks.LABEL, MARKER, LABEL)


def _legacy(draw: st.DrawFn, book: _Book) -> list[Wire]:
    name = draw(st.sampled_from(TOOLS))
    call: Wire = {"role": "assistant", "content": None, "function_call": {"name": name, "arguments": draw(arguments)}}
    return [call, {"role": "function", "name": name, "content": draw(texts())}]


def _round(draw: st.DrawFn, book: _Book) -> list[Wire]:
    """A call message with its results, of which some may be missing, doubled or late."""
    ids = [book.id(draw) for _ in range(draw(st.sampled_from((1, 1, 1, 2, 3))))]
    calls = [
        {
            "id": call,
            "type": "function",
            "function": {"name": draw(st.sampled_from(TOOLS)), "arguments": draw(arguments)},
        }
        for call in ids
    ]
    asked: Wire = {
        "role": "assistant",
        "content": draw(st.sampled_from((None, "", "Let me look."))),
        "tool_calls": calls,
    }
    if draw(numbers) == 9:
        asked["reasoning_content"] = draw(texts())
    made = [asked]
    for call in ids:
        result = {"role": "tool", "tool_call_id": call, "content": draw(contents(150))}
        fate = draw(st.integers(0, 11))
        if fate == 8:
            result["is_error"] = True
        if fate == 9:
            made.append(dict(result, content="again"))
        if fate == 10:
            book.late.append(result)
        elif fate != 11:
            made.append(result)
    return made


arguments = st.sampled_from(
    (
        '{"cmd": "ls"}',
        '{"cmd": "ls"}',
        "{}",
        "",
        "not json",
        json.dumps({"text": "word " * 80}),
        json.dumps({"left_out": "[300 tokens of bash arguments left out, ref 3f9a12c0d4e1.]"}),
    )
)


class _Book:
    """Call ids given out, and results that are still to come."""

    def __init__(self) -> None:
        self.count = 0
        self.late: list[Wire] = []

    def id(self, draw: st.DrawFn) -> str:
        """A new id, at times one that was used before."""
        if self.count and draw(numbers) == 0:
            return f"call_{draw(st.integers(1, self.count))}"
        self.count += 1
        return f"call_{self.count}"


_MOVES = (
    _user, _user, _answer, _answer, _round, _round, _round, _round, _ours, _ours, _observation, _standing, _orphan,
    _legacy,
)  # fmt: skip


@st.composite
def transcripts(draw: st.DrawFn, most: int = 18) -> list[Wire]:
    """OpenAI Chat lists of up to `most` moves, a move being one message or a round of calls and results."""
    book = _Book()
    made: list[Wire] = []
    if draw(numbers) < 8:
        made.append({"role": "system", "content": "You are an agent."})
    if draw(numbers) < 9:
        made += _user(draw, book)
    for _ in range(draw(st.integers(most // 3, most))):
        made += draw(st.sampled_from(_MOVES))(draw, book)
        if book.late and draw(st.booleans()):
            made.append(book.late.pop(0))
    return made


@st.composite
def metas(draw: st.DrawFn, size: int) -> dict[int, Doc]:
    marked = draw(st.lists(st.integers(0, size - 1), max_size=2))
    return {i: draw(st.sampled_from(({"pin": True}, {"pending": True}, {"kind": "note"}))) for i in marked}


# ---- policies --------------------------------------------------------------------------------------------------------

_amounts = st.sampled_from((0, 0.02, 0.05, {"tokens": 1}, {"tokens": 40}))
_ranks = st.sampled_from((1, 2, 4, {"tokens": 60}, {"tokens": 200}, {"share": 0.2}))
_sizes = st.sampled_from(({"gt": 40}, {"lt": 30}, {"gte": 10, "lt": 100}, {"lte": 80}))
_any_role = st.sampled_from(
    ("user", "assistant", "tool", "system", "injected", ["user", "tool"], ["developer", "system"])
)
_keys: dict[str, st.SearchStrategy[Any]] = {
    "role": _any_role,
    "tool": st.sampled_from(("bash", "re*", ["bash", "search"], "*_file")),
    "contains": st.sampled_from(("word1", "ERROR", ["把", "ok"])),
    "regex": st.sampled_from((r"(?i)error at", r"^\s*$", [r"\bno\b", "ref [0-9a-f]{12}"])),
    "name": st.sampled_from(("ana", ["ana", "bo"])),
    "tokens": _sizes,
    "share": st.sampled_from(({"gt": 0.1}, {"lt": 0.05})),
    "has": st.sampled_from(("image", "tool_call", ["reasoning", "error"], "summary")),
    "field": st.just({"is_error": True}),
    "meta": st.sampled_from(({"pin": True}, {"kind": ["note", "x"]})),
    "opening": st.booleans(),
    "turn_age": st.sampled_from(({"gte": 1}, {"lt": 2})),
    "superseded": st.booleans(),
    "newest": _ranks,
    "oldest": _ranks,
    "all_but_newest": _ranks,
}
_ALONE = ("role", "tool", "contains", "regex", "name", "tokens", "share", "has", "field", "meta")
_LIKELY = ("role", "tool", "tokens", "newest", "all_but_newest")


@st.composite
def matches(draw: st.DrawFn, depth: int = 1, alone: bool = False) -> Any:
    """A match; `alone` asks for keys that look at one message only."""
    if draw(st.integers(0, 24)) == 0:
        return "all"
    known = _ALONE if alone else tuple(_keys)
    likely = tuple(k for k in _LIKELY if k in known)
    keys = draw(st.lists(st.sampled_from((*likely, *known)), min_size=1, max_size=2, unique=True))
    made: Doc = {key: draw(_keys[key]) for key in keys}
    if depth and draw(st.integers(0, 3)) == 0:
        kind = draw(st.sampled_from(("not", "any", "all")))
        inner = matches(depth - 1, alone)
        made[kind] = draw(inner) if kind == "not" else draw(st.lists(inner, min_size=1, max_size=2))
    return made


@st.composite
def pins(draw: st.DrawFn) -> list[Doc]:
    usual = st.sampled_from(({"opening": True}, {"role": "user", "newest": 1}, {"newest": 4}, {"meta": {"pin": True}}))
    count = draw(st.sampled_from((0, 0, 1, 1, 2, 3)))
    return [{"id": f"p{i}", "match": draw(st.one_of(usual, usual, matches()))} for i in range(count)]


_read_as = st.lists(
    st.sampled_from(
        (
            {"match": {"role": "user", "regex": "^OBSERVATION:"}, "as": "tool"},
            {"match": {"regex": r"^\s*<system-reminder>"}, "as": "injected"},
            {"match": {"role": "user", "contains": "<note>", "not": {"role": "user", "oldest": 1}}, "as": "injected"},
            {"match": {"role": "user", "oldest": 1}, "as": "system"},
        )
    ),
    max_size=2,
)


def _maybe(draw: st.DrawFn, **choices: Sequence[Any]) -> Doc:
    """Each key with one of its choices, or left out in half of the cases."""
    return {key: draw(st.sampled_from(values)) for key, values in choices.items() if draw(st.booleans())}


def _trigger(draw: st.DrawFn, pressure: float) -> Doc:
    """A condition; mostly on pressure, so that goals can be told to be below it."""
    kind = draw(st.integers(0, 11))
    when: Doc = {"pressure": {draw(st.sampled_from(("gt", "gte"))): pressure}}
    if kind == 8:
        return {"all": [when, {"not": {"turns": {"lt": 1}}}]}
    if kind == 9:
        return {"any": [when, {"tool_tokens": {"gt": 150}}]}
    if kind == 10:
        return {"messages": {"gt": 4}}
    if kind == 11:
        return {"not": {"headroom": {"gt": 60}}, "results": {"gte": 1}}
    return when


def _goal(draw: st.DrawFn, pressure: float) -> Doc:
    kind = draw(st.integers(0, 11))
    if kind < 4:
        return {}
    if kind == 4:
        return {"until": "all"}
    if kind == 5:
        return {"until": {"any": [{"messages": {"lt": 3}}, {"pressure": {"lt": pressure - 0.2}}]}}
    if kind == 6:
        return {"until": {"not": {"tool_tokens": {"gt": 80}}}}
    if kind == 7:
        return {"until": {"turns": {"lte": 1}}}
    return {"until": {"pressure": {"lt": round(pressure - draw(st.sampled_from((0.1, 0.2, 0.3))), 3)}}}


def _keep(draw: st.DrawFn) -> Doc:
    return {"keep": draw(matches())} if draw(numbers) < 2 else {}


def _truncate(draw: st.DrawFn) -> Doc:
    made: Doc = {"max_tokens": draw(st.sampled_from((45, 60, 100)))}
    return made | _maybe(
        draw, max_lines=(3, 8), head=(0.2, 1.0), marker=(CUT,), keep_lines=("ERROR",), json=("prune", "text")
    )


def _append_rules(draw: st.DrawFn) -> list[Doc]:
    rules: list[Doc] = []
    if draw(st.booleans()):
        more = draw(st.one_of(st.just({}), matches(alone=True).filter(lambda match: match != "all")))
        rules.append({"id": "cap", "at": "append", "match": {**more, "role": "tool"}, "truncate": _truncate(draw)})
    if draw(numbers) == 9:
        rules.append({"id": "refuse", "at": "append", "match": {"tokens": {"gt": 400}}, "refuse": {}})
    return rules


def _mask_rule(draw: st.DrawFn, at: float) -> Doc:
    older = st.sampled_from(
        ({"role": "tool", "all_but_newest": 2}, {"superseded": True}, {"has": ["image", "reasoning"]})
    )
    mask = _maybe(
        draw,
        parts=(["results"], ["arguments", "results"], ["media", "reasoning"], ["results", "media"], "arguments"),
        placeholder=(PLACEHOLDER,),
        batch=(2, 3),
    )
    if draw(st.booleans()):
        mask["min_gain"] = draw(_amounts)
    if draw(st.booleans()):
        mask |= _goal(draw, at)
    rule: Doc = {"match": draw(st.one_of(older, older, matches())), "mask": mask}
    return rule | ({"when": _trigger(draw, at)} if draw(st.booleans()) else {})


def _cut_rule(draw: st.DrawFn, at: float) -> Doc:
    rule: Doc = {"at": "send", "match": draw(matches()), "truncate": _truncate(draw)}
    return rule | ({"when": _trigger(draw, at)} if draw(st.booleans()) else {})


def _compact_rule(draw: st.DrawFn, at: float) -> Doc:
    compact: Doc = {"word_limit": draw(st.sampled_from((5, 20, 60)))}
    compact |= _goal(draw, at) | _keep(draw)
    compact |= _maybe(
        draw,
        span=({"max": 3}, {"min": 1}, {"min": 3, "max": 6}),
        max_passes=(1, 2),
        max_summaries=(1, 2),
        summaries=("merge", "keep"),
        marker=(MARKER,),
        label=(LABEL,),
        breaker=(1, 2),
        nothing=("NOTHING", "**nil**"),
    )
    compact |= {"min_gain": draw(_amounts)} if draw(st.booleans()) else {}
    return {"when": _trigger(draw, at), "compact": compact}


def _evict_rule(draw: st.DrawFn, at: float) -> Doc:
    evict = _goal(draw, at) | _keep(draw) | _maybe(draw, marker=(MARKER,))
    return {"when": _trigger(draw, at), "evict": evict}


_SEND = {"mask": _mask_rule, "cut": _cut_rule, "compact": _compact_rule, "evict": _evict_rule}


@st.composite
def documents(draw: st.DrawFn, tight: bool = False) -> Doc:
    """Policies without a budget; a `tight` one ends with an eviction.

    Eviction acts above the pressure at which compaction does, as the checks ask.
    """
    kinds = draw(
        st.lists(st.sampled_from(("mask", "cut", "compact", "compact", "evict", "evict")), min_size=1, max_size=3)
    )
    kinds += ["evict"] if tight and "evict" not in kinds else []
    rules = _append_rules(draw)
    low = draw(st.sampled_from((0.4, 0.6)))
    for i, kind in enumerate(kinds):
        at = round(low + (0.15 if kind == "evict" else 0), 3)
        rules.append({"id": f"{kind}{i}", **_SEND[kind](draw, at)})
    made: Doc = {"version": 1, "name": "drawn", "pins": draw(pins()), "rules": rules}
    if draw(numbers) < 4:
        made["read_as"] = draw(_read_as)
    return made


def budget(draw: st.DrawFn, tokens: int, tight: bool) -> Doc:
    """A budget that a list of so many tokens fills to somewhere between a half and four times."""
    share = draw(st.sampled_from((0.25, 0.35, 0.5) if tight else (0.25, 0.35, 0.5, 0.7, 1.0, 2.0)))
    made: Doc = {"window": max(80, int(tokens * share)), "media": {"image": 120}}
    return made | _maybe(draw, ratio=(0.9,), counter=("chars", "estimate"), reserve=(10,), tools_tokens=(25,))


# ---- summarisers -----------------------------------------------------------------------------------------------------

REPLIES: dict[str, Any] = {
    "good": "The user asked for a fix. `deploy.sh` failed with exit code 2; it must stay as it is.",
    "again": "Tests were run twice and passed.",
    "nothing": "**nothing.**",
    "nil": "Nil",
    "blank": " \n",
    "long": "word " * 3000,
    "cut off": SummaryReply("The user asked", finish_reason="length"),
    "call": SummaryReply(None, tool_calls=[{"id": "x"}]),
    "no text": 7,
    "broken": "half \ud83d a note",
}
_scripts = st.lists(
    st.sampled_from(
        ("good", "again", "good", "nothing", "nil", "blank", "long", "cut off", "call", "no text", "broken", "raise")
    ),
    min_size=1,
    max_size=4,
)


class Scripted:
    """A summariser that answers by script, over and over; `requests` is what it was asked."""

    def __init__(self, script: Sequence[str]) -> None:
        self.script = script
        self.requests: list[SummaryRequest] = []

    def __call__(self, request: SummaryRequest) -> Any:
        word = self.script[len(self.requests) % len(self.script)]
        self.requests.append(request)
        if word == "raise":
            raise TimeoutError("no answer in time")
        return REPLIES[word]


# ---- scenarios -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Scenario:
    """A policy, a transcript with its metadata, and a summariser's script."""

    doc: Doc
    messages: list[Wire]
    meta: Mapping[int, Doc]
    script: tuple[str, ...]

    @cached_property
    def policy(self) -> Policy:
        return make_policy(self.doc)

    def summarizer(self) -> Scripted:
        return Scripted(self.script)

    def apply(self, messages: list[Wire] | None = None, **options: Any) -> Result:
        """One `apply` with a fresh summariser and an archive in memory."""
        options = {"summarize": self.summarizer(), "archive": MemoryArchive(), "meta": self.meta, **options}
        return self.policy.apply(self.messages if messages is None else messages, **options)

    def varied(self, **changes: Any) -> Scenario:
        """The same with other top-level entries of the policy."""
        return replace(self, doc={**self.doc, **changes})


def make_policy(doc: Doc) -> Policy:
    """The policy of a document, by the real loader."""
    return ctxpolicy.loads(json.dumps(doc))


def is_valid(doc: Doc) -> bool:
    try:
        return make_policy(doc) is not None
    except PolicyInvalid:
        return False


@st.composite
def scenarios(draw: st.DrawFn, most: int = 18, tight: bool = False) -> Scenario:
    """Runs of up to `most` moves. `tight`: for what only shows where messages leave."""
    messages = draw(transcripts(most))
    doc = draw(documents(tight))
    doc["budget"] = budget(draw, _cost(messages), tight)
    if not is_valid(doc):  # goals on other facts than pressure may stand above their trigger
        doc = _plain_goals(doc)
        assume(is_valid(doc))
    return Scenario(doc, messages, draw(metas(len(messages))), tuple(draw(_scripts)))


def _plain_goals(doc: Doc) -> Doc:
    rules = [
        {
            key: {k: v for k, v in value.items() if k != "until"} if key in ("compact", "evict") else value
            for key, value in r.items()
        }
        for r in doc["rules"]
    ]
    return {**doc, "rules": rules}


_COSTS = make_policy({"version": 1, "budget": {"window": 1000, "media": {"image": 120}}, "rules": []})


def _cost(messages: list[Wire]) -> int:
    return sum(row.tokens for row in _COSTS.look(messages))
