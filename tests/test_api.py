"""The Python API: loading, applying once, what a result tells."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import ctxpolicy
from ctxpolicy import CtxPolicyError, Policy, PolicyInvalid, SummaryReply, TranscriptInvalid
from ctxpolicy.archive import MemoryArchive
from ctxpolicy.tokens import chars
from support import (
    COMPACT,
    Message,
    Notes,
    acted,
    calls,
    filler,
    frozen,
    is_mark,
    marks,
    opening,
    policy,
    policy_text,
    reasons,
    result,
    said,
    steps,
    summaries,
    system,
    user,
)

SESSION: list[Message] = [*opening(), *steps(30)]
CROWDED: list[Message] = [*opening(), *steps(40)]  # over the eviction trigger


# ---- loading ------------------------------------------------------------------------------------


def test_an_invalid_text_carries_every_finding() -> None:
    text = "version: 1\nname: x\nbudget: {window: 1000, reserve: 2000}\nrulez: []\npins: [{id: a, match: {}}]\n"
    with pytest.raises(PolicyInvalid) as caught:
        ctxpolicy.loads(text)
    assert isinstance(caught.value, ValueError)
    assert isinstance(caught.value, CtxPolicyError)
    assert [(f.line, f.severity) for f in caught.value.findings if f.severity == "error"][:1]
    assert {4, 5} <= {f.line for f in caught.value.findings}
    assert "rulez" in str(caught.value)


def test_an_invalid_file_names_itself_and_the_place(tmp_path: Path) -> None:
    file = tmp_path / "team.yaml"
    file.write_text("version: 1\nname: x\nbudget: {window: 1000}\nrules:\n  - {id: a, at: sned, evict: {}}\n")
    with pytest.raises(PolicyInvalid, match=r"team\.yaml:5:\d+"):
        ctxpolicy.load(file)


def test_warnings_do_not_stop_a_policy() -> None:
    assert isinstance(ctxpolicy.loads(policy_text(archive=False)), Policy)


def test_a_file_that_is_not_there_is_an_os_error(tmp_path: Path) -> None:
    with pytest.raises(OSError, match=r"none\.yaml"):
        ctxpolicy.load(tmp_path / "none.yaml")


def test_built_in_policies_are_loaded_by_name() -> None:
    assert ctxpolicy.load("builtin:default").spec.budget.limit == 85_600
    with pytest.raises(CtxPolicyError, match="builtin:default"):
        ctxpolicy.load("builtin:none")


def test_a_policy_shows_its_figures() -> None:
    assert repr(policy()) == "<Policy 'standard': limit 4,000 tokens, 4 rules>"


def test_with_window_is_the_same_policy_for_another_model() -> None:
    made = policy(budget={"window": 10_000, "ratio": 0.5, "reserve": 1000})
    assert made.spec.budget.limit == 4000
    larger = made.with_window(20_000)
    assert larger.spec.budget.limit == 9000
    assert made.spec.budget.limit == 4000
    assert len(larger.apply(SESSION).messages) == len(SESSION)
    assert larger.spec.rules == made.spec.rules
    with pytest.raises(PolicyInvalid, match="2,000 tokens leaves no budget"):
        made.with_window(2000)


def test_import_loads_nothing_heavy() -> None:
    code = "import sys, ctxpolicy; print([m for m in ('yaml', 'jsonschema', 'jinja2', 'click') if m in sys.modules])"
    assert (
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip() == "[]"
    )


# ---- applying once ------------------------------------------------------------------------------


def test_apply_never_changes_its_input() -> None:
    before = frozen(CROWDED)
    outcome = policy().apply(CROWDED, summarize=Notes())
    assert before == CROWDED
    assert acted(outcome.events)
    ids = set(map(id, CROWDED))
    assert all(id(m) in ids for m in outcome.messages if not is_mark(m))


def test_where_nothing_holds_output_is_input() -> None:
    quiet = [*opening(), *steps(5)]
    outcome = policy().apply(quiet, summarize=Notes())
    assert list(map(id, outcome.messages)) == list(map(id, quiet))
    assert outcome.state is None
    assert outcome.removed == ()


def test_apply_is_deterministic() -> None:
    first, second = policy().apply(CROWDED, summarize=Notes()), policy().apply(CROWDED, summarize=Notes())
    assert first.messages == second.messages
    assert first.events == second.events
    assert first.decisions == second.decisions
    assert first.state == second.state
    assert first.usage == second.usage


def test_aapply_gives_what_apply_gives() -> None:
    async def summarize(request: Any) -> str:
        return "The parser was read; 3 tests fail."

    asynchronous = asyncio.run(policy().aapply(SESSION, summarize=summarize))
    assert asynchronous.messages == policy().apply(SESSION, summarize=Notes()).messages
    assert summaries(asynchronous.messages)


def test_an_async_summariser_in_apply_is_a_failure_that_says_what_to_do() -> None:
    async def summarize(request: Any) -> str:
        return "note"

    outcome = policy().apply(SESSION, summarize=summarize)
    assert "await policy.aapply(...)" in reasons(outcome, "compact")


def test_an_unknown_format_names_the_known() -> None:
    with pytest.raises(CtxPolicyError, match=r"unknown format 'morse'.*openai-chat"):
        policy().apply(opening(), format="morse")


@pytest.mark.parametrize(
    "message", ["text", None, 7, {"content": "x"}, {"role": "robot", "content": "x"}, ["user", "x"]]
)
def test_what_is_no_message_is_named_by_its_place(message: Any) -> None:
    with pytest.raises(TranscriptInvalid, match="message 2 ") as caught:
        policy().apply([*opening(), message])
    assert caught.value.index == 2


def test_an_empty_list_stays_empty() -> None:
    outcome = policy().apply([])
    assert outcome.messages == []
    assert outcome.decisions == ()
    assert outcome.usage.fits


# ---- metadata -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "meta",
    [{5: {"pin": True}}, [{"pin": True} if i == 5 else None for i in range(62)], [{"pin": i == 5} for i in range(62)]],
    ids=["by index", "one each or None", "one each"],
)
def test_metadata_pins_the_message_it_belongs_to(meta: Any) -> None:
    outcome = policy().apply(SESSION, summarize=Notes(), meta=meta)
    assert SESSION[5] in outcome.messages
    assert SESSION[4] in outcome.messages  # the whole unit
    assert SESSION[6] not in outcome.messages
    assert {d.by for d in outcome.decisions[4:6]} == {"explicit"}


@pytest.mark.parametrize(
    ("meta", "words"),
    [
        ([None], "1 entries for 62 messages"),
        ({62: {}}, "message 62, but there are 62"),
        ({-1: {}}, "message -1"),
        ({"5": {}}, "'5'"),
    ],
)
def test_metadata_that_fits_no_message_is_an_error(meta: Any, words: str) -> None:
    with pytest.raises(CtxPolicyError, match=words):
        policy().apply(SESSION, meta=meta)
    with pytest.raises(CtxPolicyError, match=words):
        policy().window(messages=SESSION, meta=meta)
    with pytest.raises(CtxPolicyError, match=words):
        policy().look(SESSION, meta=meta)


# ---- looking ------------------------------------------------------------------------------------


def test_look_shows_roles_tools_tokens_and_what_protects() -> None:
    reminder = user("<system-reminder>x</system-reminder>")
    read_as = [{"match": {"role": "user", "regex": "^<system-reminder>"}, "as": "injected"}]
    messages = [
        *opening("The task."),
        *steps(3),
        reminder,
        said("ok"),
        calls("c9", tool="grep"),
        result("c9", "x" * 40),
    ]
    rows = policy(read_as=read_as, pins={"recent": {"newest": 1}}).look(messages)
    assert [row.index for row in rows] == list(range(12))
    assert [row.role for row in rows[:4]] == ["system", "user", "assistant", "tool"]
    assert (rows[8].role, rows[8].protects) == ("injected", None)
    assert [row.protects for row in rows] == ["opening", "opening", *[None] * 8, "recent", "recent"]
    assert [row.tool for row in rows[2:4]] == ["bash", "bash"]
    assert [row.tool for row in rows[10:]] == ["grep", "grep"]
    assert rows[11].tokens == 4 + 10


def test_look_names_the_live_tail_and_the_last_message() -> None:
    bare = policy(pins={"recent": None, "request": None, "user-words": None})
    live = bare.look([*opening(), said("Which one?"), user("The left one.")])
    assert [row.protects for row in live] == ["opening", "opening", None, "live"]
    last = bare.look([*opening(), said("Which one?")])
    assert [row.protects for row in last] == ["opening", "opening", "last"]


# ---- summarisers --------------------------------------------------------------------------------


def scripted(directory: Path, name: str, *replies: str) -> str:
    (directory / name).write_text("\n---\n".join(replies))
    return f"scripted:{directory / name}"


def test_the_callers_summariser_goes_before_the_rules_and_that_before_the_policys(tmp_path: Path) -> None:
    general = scripted(tmp_path, "general", *["of the policy"] * 5)
    own = scripted(tmp_path, "own", *["of the rule"] * 5)

    def said_by(rule: dict[str, Any] | None, **given: Any) -> str:
        compact = {"compact": {"compact": COMPACT | (rule or {})}}
        made = policy(summarizer=[{"use": general}], rules=compact)
        return str(summaries(made.apply(SESSION, **given).messages)[0]["content"]).splitlines()[-1]

    assert said_by(None) == "of the policy"
    assert said_by({"summarizer": [{"use": own}]}) == "of the rule"
    assert said_by({"summarizer": [{"use": own}]}, summarize=Notes("of the caller")) == "of the caller"


def test_without_a_summariser_the_rule_says_what_it_would_have_done() -> None:
    outcome = policy(rules={"evict": None}).apply(SESSION)
    assert "no summariser is set: 28 messages" in reasons(outcome, "compact")
    assert outcome.messages == SESSION


def test_false_is_no_summariser_whatever_the_policy_says() -> None:
    made = policy(summarizer=[{"use": "extract"}], rules={"evict": None})
    assert summaries(made.apply(SESSION).messages)
    assert made.apply(SESSION, summarize=False).messages == SESSION


def test_what_the_summariser_is_asked() -> None:
    notes = Notes()
    compact = COMPACT | {"word_limit": 60, "prompt": "Task: {{ task }} Words: {{ word_limit }} {{ span }}"}
    policy(rules={"compact": {"compact": compact}}).apply(SESSION, summarize=notes)
    request = notes.requests[0]
    assert request.rule == "compact"
    assert request.word_limit == 60
    assert request.prompt == f"Task: The task: port the parser. Words: 60 {request.span}"
    assert request.messages[0] is SESSION[2]
    assert request.previous is None
    assert 60 * 1.5 <= request.max_tokens <= 400


@pytest.mark.parametrize(
    ("reply", "words"),
    [
        (SummaryReply("half a not", finish_reason="length"), "cut off"),
        (SummaryReply(None, tool_calls=[{"id": "x"}]), "tool call"),
        (SummaryReply("I cannot", finish_reason="content_filter"), "content_filter"),
        ("  \n", "blank"),
        (None, "NoneType"),
        (RuntimeError("overloaded"), "overloaded"),
    ],
    ids=["cut off", "tool call", "filtered", "blank", "nothing", "error"],
)
def test_a_reply_that_is_no_note_changes_nothing(reply: Any, words: str) -> None:
    outcome = policy(rules={"evict": None}).apply(SESSION, summarize=Notes(reply))
    assert outcome.messages == SESSION
    failed = [event for event in outcome.events if event.failed]
    assert words in failed[0].reason
    assert outcome.state is not None  # the failure is remembered


def test_a_reply_with_a_reason_to_stop_is_taken() -> None:
    outcome = policy().apply(SESSION, summarize=Notes(SummaryReply("Three tests fail.", finish_reason="stop")))
    assert "Three tests fail." in summaries(outcome.messages)[0]["content"]


# ---- what left, and the way back ----------------------------------------------------------------


@pytest.mark.parametrize("summarize", [Notes(), Notes("NOTHING"), None], ids=["summary", "NOTHING", "eviction"])
def test_what_a_run_removed_restores_it_without_a_disk(summarize: Any) -> None:
    given = [*opening(), *steps(40, tokens=90), calls("c99"), result("c99", filler(900))]
    outcome = policy().apply(given, summarize=summarize)
    assert {removed.rule for removed in outcome.removed} >= {"cap", "compact" if summarize else "evict"}
    assert len(outcome.messages) < 70
    assert ctxpolicy.restore(outcome.messages, outcome.removed) == given


@pytest.mark.parametrize("kind", ["directory", "object", "function"])
def test_an_archive_gets_what_was_removed(kind: str, tmp_path: Path) -> None:
    memory = MemoryArchive()
    archive: Any = {"directory": tmp_path / "kept", "object": memory, "function": memory.put}[kind]
    outcome = policy().apply(CROWDED, archive=archive)
    assert ctxpolicy.restore(outcome.messages, archive if kind == "directory" else memory) == CROWDED


@pytest.mark.parametrize("archive", [None, False])
def test_apply_writes_nothing_unless_told(archive: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    policy(archive={"path": "kept"}).apply(CROWDED, archive=archive)
    assert list(tmp_path.iterdir()) == []


def test_what_is_no_archive_is_told() -> None:
    with pytest.raises(TypeError, match="archive= is int"):
        policy().apply(CROWDED, archive=7)


# ---- what a result tells ------------------------------------------------------------------------


def test_there_is_one_decision_for_each_message() -> None:
    given = [
        *opening(),
        *steps(30),
        calls("c98"),
        result("c98", filler(900)),
        said("ok"),
        calls("c99"),
        result("c99", "x"),
    ]
    outcome = policy(pins={"recent": {"newest": 3}}).apply(given, summarize=Notes())
    decisions = outcome.decisions
    assert [d.index for d in decisions] == list(range(len(given)))
    assert [(d.fate, d.by) for d in decisions[:2]] == [("pinned", "opening")] * 2
    compacted = [d for d in decisions if d.fate == "compacted"]
    assert len(compacted) == sum(event.messages for event in acted(outcome.events, "compact"))
    assert {d.by for d in compacted} == {"compact"}
    assert {d.left for d in compacted} == {0}
    assert {d.ref for d in compacted} == {event.ref for event in acted(outcome.events, "compact")}
    assert [(d.fate, d.by) for d in decisions[-2:]] == [("live", "live")] * 2
    assert decisions[-3].by == "recent"
    cut = decisions[-4]
    assert (cut.fate, cut.by) == ("truncated", "cap")
    assert cut.tokens == 904
    assert cut.left <= 204
    assert cut.ref in outcome.messages[-4]["content"]
    for decision in decisions:
        assert (decision.left == decision.tokens) is (decision.fate in ("kept", "pinned", "live"))


def test_evicted_and_masked_are_told_apart() -> None:
    mask = {
        "at": "send",
        "when": {"pressure": {"gt": 0.5}},
        "match": {"role": "tool", "all_but_newest": 30},
        "mask": {"batch": 2},
    }
    made = policy(rules={"compact": None, "evict": None, "mask": mask, "evict-last": {
        "at": "send", "when": {"pressure": {"gt": 0.7}}, "evict": {"until": {"pressure": {"lt": 0.6}}}}})  # fmt: skip
    outcome = made.apply(CROWDED)
    fates = {d.fate: d.by for d in outcome.decisions}
    assert fates["evicted"] == "evict-last"
    masked = [event for event in outcome.events if event.rule == "mask"]
    assert masked[0].messages == 10
    assert masked[0].ref is not None


def test_usage_adds_up() -> None:
    schema = [{"type": "function", "function": {"name": "f"}}]
    outcome = policy().apply(SESSION, summarize=Notes(), tools=schema)
    usage = outcome.usage
    for figures in (usage.before, usage.after):
        assert figures["total"] == sum(n for role, n in figures.items() if role != "total") + usage.tools + 3
    assert usage.tools == chars('[{"function":{"name":"f"},"type":"function"}]')
    assert usage.before["total"] == sum(d.tokens for d in outcome.decisions) + usage.tools + 3
    assert "injected" not in usage.before
    assert usage.after["injected"] > 0
    assert usage.after["user"] == usage.before["user"]
    assert usage.after["tool"] < usage.before["tool"]
    assert usage.limit == 4000
    assert usage.pressure == usage.after["total"] / 4000
    assert usage.fits
    assert usage == policy().apply(SESSION, summarize=Notes(), tools=schema).usage


def test_every_send_rule_tells_something_also_when_quiet() -> None:
    outcome = policy().apply(opening())
    assert [(e.rule, e.action, e.acted) for e in outcome.events] == [
        ("compact", "compact", False),
        ("evict", "evict", False),
    ]
    assert {e.reason for e in outcome.events} == {"quiet: its condition does not hold"}
    assert {(e.before, e.after) for e in outcome.events} == {(outcome.usage.before["total"],) * 2}


def test_events_chain_and_name_the_least_gain() -> None:
    outcome = policy(budget={"window": 8000}).apply([*opening(), *steps(140)], summarize=Notes())
    passes = acted(outcome.events, "compact")
    assert len(passes) > 2
    assert all(a.after == b.before for a, b in zip(outcome.events, outcome.events[1:], strict=False))
    assert {event.min_gain for event in passes} == {400}
    assert outcome.events[-1].after == outcome.usage.after["total"]
    assert str(passes[0]).startswith("compact: compacted 30 messages into a summary (")


def test_a_rule_that_declines_says_what_holds_the_list() -> None:
    outcome = policy(pins={"recent": {"newest": 200}}).apply(CROWDED, summarize=Notes())
    for rule in ("compact", "evict"):
        (event,) = [e for e in outcome.events if e.rule == rule]
        assert not event.acted
        assert "declined" in event.reason
        assert "pin recent" in event.reason
    assert not outcome.usage.fits


def test_odd_input_is_named() -> None:
    odd = [user("go"), calls("dead"), said("on"), result("orphan"), calls("a"), result("a"), result("a"), said("ok")]
    told = reasons(policy().apply(odd))
    assert "tool calls without a result (dead: a later assistant message exists): message 1 (dead)" in told
    assert "tool results without an earlier call: message 3 (orphan)" in told
    assert "second results of one call: message 6 (a)" in told


def test_system_beside_the_list_is_counted() -> None:
    plain, beside = policy().apply(SESSION), policy().apply(SESSION, system="x" * 400)
    assert beside.usage.before["total"] >= plain.usage.before["total"] + 100
    assert len(beside.messages) == len(SESSION)


def test_no_room_is_a_state_with_an_event() -> None:
    tools = [{"type": "function", "function": {"name": "f", "description": filler(4000)}}]
    outcome = policy().apply([system(), user("go")], tools=tools)
    assert outcome.messages == [system(), user("go")]
    assert not outcome.usage.fits
    assert "no room: tools and system alone take" in reasons(outcome)


def test_a_result_is_short_to_look_at() -> None:
    assert repr(policy().apply(opening())) == "<Result: 2 messages, 23 of 4,000 tokens, 2 events>"
    decision = policy().apply(SESSION, summarize=Notes()).decisions[2]
    assert str(decision).startswith("message 2: compacted by compact, 7 -> 0 tokens, ref ")


def test_marks_count_the_messages_that_left() -> None:
    outcome = policy().apply(CROWDED)
    (marker,) = marks(outcome.messages)
    gone = sum(d.fate == "evicted" for d in outcome.decisions)
    assert marker["content"].startswith(f"[{gone} earlier turns left out, ref ")
    assert len(outcome.messages) == len(CROWDED) - gone + 1


def test_a_resumed_window_for_another_model() -> None:
    window = policy().window(messages=SESSION, window=20_000)
    window.prepare()
    resumed = policy().resume(window.dump(), window=20_000)
    assert resumed.pressure() == window.pressure()
    assert resumed.prepare() == SESSION


def test_what_came_after_the_last_answer_stays_when_the_answer_has_left() -> None:
    rules = [
        {"id": f"evict{n}", "when": {"pressure": {"gt": 0.2}}, "evict": {"until": {"pressure": {"lt": 0.1}}}}
        for n in "12"
    ]
    made = ctxpolicy.loads(json.dumps({"version": 1, "pins": [], "rules": rules, "budget": {"window": 400}}))
    order = {"role": "system", "content": "From now on, answer in French. " * 12}
    messages = [user("Hello."), {"role": "assistant", "content": "word " * 200}, order, user("Go on.")]
    outcome = made.apply(messages)
    assert outcome.messages[-2:] == [order, user("Go on.")]
    assert made.apply(messages, state=outcome.state).messages == outcome.messages
