"""Repairs on the way out of a run: valid for the target, the same every time, told, and restorable."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from click.testing import Result as CommandResult
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from ctxpolicy.api import Policy
from ctxpolicy.archive import MemoryArchive
from ctxpolicy.archive.restoring import restore
from ctxpolicy.cli import main
from ctxpolicy.errors import CtxPolicyError
from ctxpolicy.lint import level_of, lint
from ctxpolicy.lint.fix import fix
from ctxpolicy.marks import END, GO_ON, LEAD, RECORD
from ctxpolicy.policy.model import Archive, Match, ReadAs
from ctxpolicy.result import Event, Result
from formats.histories import FORMATS, Turn, histories, write
from formats.policies import tiny
from formats.sdk import judge

from .golden import HI, MARK, answer, call, said, text, thinking, use
from .golden import result as output

some = settings(max_examples=60, deadline=None)
WINDOWS = st.sampled_from([60, 150, 400, 1000])
TARGETS = st.booleans()

# What strict repairs cannot mend: it would have to invent ids, reasoning, signatures or what an assistant said, or to
# move words away from where they were said. Gemini takes words behind responses in a content of their own only.
BEYOND = {"OAC-10", "OAC-11", "OAC-12", "OAC-13", "GEM-06", "GEM-08", "X-09"}


def note(_: Any) -> str:
    return "A note."


def refused(messages: Sequence[Any], name: str, *, strict: bool) -> set[str]:
    """Codes of what a target refuses."""
    levels = ("error", "route") if strict else ("error",)
    return {f.code for f in lint(messages, name) if level_of(f, name) in levels}


def repairs(result: Result) -> list[Event]:
    return [event for event in result.events if event.action == "repair"]


def acts(result: Result) -> list[Event]:
    """What the policy itself did."""
    return [event for event in result.events if event.acted and event.action != "repair"]


def same(a: Any, b: Any) -> bool:
    return json.dumps(a) == json.dumps(b)


@pytest.mark.parametrize("name", FORMATS)
class TestProperties:
    @some
    @given(histories(), WINDOWS, st.booleans(), TARGETS)
    def test_the_target_takes_it(self, name: str, turns: list[Turn], window: int, asks: bool, strict: bool) -> None:
        messages = write(turns, name)
        before = json.dumps(messages)
        done = tiny(window).apply(
            messages, format=name, summarize=note if asks else None, repair="strict" if strict else name
        )
        assert json.dumps(messages) == before
        assert refused(done.messages, name, strict=strict) <= (BEYOND if strict else set())
        judge(name)(done.messages)

    @some
    @given(histories(), WINDOWS, st.booleans(), TARGETS)
    def test_nothing_is_lost(self, name: str, turns: list[Turn], window: int, asks: bool, strict: bool) -> None:
        messages, target = write(turns, name), "strict" if strict else name
        archive = MemoryArchive()
        first = tiny(window).apply(
            messages, format=name, summarize=note if asks else None, archive=archive, repair=target
        )
        assert same(restore(first.messages, archive), messages)
        assert same(restore(first.messages, first.removed), messages)
        again = tiny(window).apply(
            first.messages, format=name, summarize=note if asks else None, archive=archive, repair=target
        )
        assert same(restore(again.messages, archive), messages)

    @some
    @given(histories(), WINDOWS, st.booleans(), TARGETS)
    def test_the_same_every_time(self, name: str, turns: list[Turn], window: int, asks: bool, strict: bool) -> None:
        """Whether the originals are passed again with the state, or what was returned, with the state or without."""
        messages, target = write(turns, name), "strict" if strict else name
        policy, summarize = tiny(window), note if asks else None
        first = policy.apply(messages, format=name, summarize=summarize, repair=target)
        for passed, state in ((messages, first.state), (first.messages, first.state), (first.messages, None)):
            again = policy.apply(passed, format=name, summarize=summarize, repair=target, state=state)
            if not acts(again):
                assert same(again.messages, first.messages)
                assert passed is messages or not repairs(again)

    @some
    @given(histories(), WINDOWS, TARGETS)
    def test_figures_are_those_of_the_list_handed_out(
        self, name: str, turns: list[Turn], window: int, strict: bool
    ) -> None:
        messages, target = write(turns, name), "strict" if strict else name
        policy = tiny(window)
        done = policy.apply(messages, format=name, repair=target)
        rows = tiny(10**6).look(done.messages, format=name)
        assert done.usage.after["total"] == sum(row.tokens for row in rows) + policy.pipeline(name).load(None).overhead
        assert [decision.index for decision in done.decisions] == list(range(len(messages)))

    @some
    @given(histories(), WINDOWS, TARGETS)
    def test_a_window_hands_out_the_same_prefix(self, name: str, turns: list[Turn], window: int, strict: bool) -> None:
        policy, archive = tiny(window), MemoryArchive()
        live = policy.window(format=name, archive=archive, repair="strict" if strict else name)
        before: list[Any] = []
        for message in write(turns, name):
            live.append(message)
            sent = live.prepare()
            assert live.result is not None
            if not acts(live.result):
                kept = _unmarked(before[:-1])
                assert _unmarked(sent[: len(kept)]) == kept
            put = len(archive.records)
            assert same(live.prepare(), sent)
            assert not [e for e in live.result.events if e.acted]
            assert len(archive.records) == put
            before = json.loads(json.dumps(sent))

    @some
    @given(histories(), st.randoms(use_true_random=False), TARGETS)
    def test_looking_at_what_is_new_is_enough(
        self, name: str, turns: list[Turn], chance: random.Random, strict: bool
    ) -> None:
        """A window, which remembers, hands out what a look at the whole list gives, in broken lists too."""
        live = tiny(10**6).window(format=name, archive=False, repair="strict" if strict else name)
        for message in write(turns, name):
            if chance.random() > 0.2:
                live.append(message)
                assert same(live.prepare(), fix(live.messages, name, strict=strict).messages)


def _unmarked(messages: Sequence[Any]) -> Any:
    """Without cache marks, which may move without harm to what is cached."""
    return json.loads(json.dumps(messages), object_hook=lambda d: {k: v for k, v in d.items() if k != "cache_control"})


def test_neighbours_are_merged_and_the_users_words_stay_apart_from_a_summary() -> None:
    summary = "[4 earlier turns compacted, ref 0123456789ab.]\nSummary of what happened:\n" + RECORD + "\nA note."
    given = [HI, said("assistant", "Hello"), said("user", summary), said("user", "Now go on."), said("user", "Please.")]
    done = tiny(10**6).apply(given, repair="strict")
    assert done.messages == [*given[:2], said("user", f"{summary}\n\n{END}\n\nNow go on.\n\nPlease.")]
    assert [(e.reason, e.ref) for e in repairs(done)] == [
        ("message 3: OAC-09: merged with the message before it", done.removed[0].ref),
        ("message 4: OAC-09: merged with the message before it", done.removed[0].ref),
    ]
    assert [(d.fate, d.by) for d in done.decisions[2:]] == [("repaired", "OAC-09")] * 3
    assert restore(done.messages, done.removed) == given
    assert [row.role for row in tiny().look(done.messages)] == ["user", "assistant", "user"], "words, not a summary"


def test_what_several_parts_of_a_program_put_first_becomes_one_system_message() -> None:
    done = tiny(10**6).apply([said("system", "Be kind."), said("system", "Be brief."), HI], repair="strict")
    assert done.messages == [said("system", "Be kind.\n\nBe brief."), HI]
    assert [e.reason for e in repairs(done)] == ["message 1: OAC-10: merged with the message before it"]


def test_what_left_between_two_that_are_one_now_comes_back_with_them() -> None:
    given = [HI, said("user", " "), said("user", [text("there"), text("")]), said("assistant", "Yes?"), HI]
    done = tiny(10**6).apply(given, repair="strict")
    assert done.messages == [said("user", [text("Hi"), text("there")]), *given[3:]]
    assert restore(done.messages, done.removed) == given
    assert done.decisions[1].left == 0


def test_words_lead_the_calls_of_one_turn() -> None:
    given = [HI, said("assistant", "I look."), {**call("a"), "content": None}, answer("a")]
    done = tiny(10**6).apply(given, repair="strict")
    assert done.messages == [HI, {**call("a"), "content": "I look."}, answer("a")]
    apart = [HI, said("user", [text("there")]), {"role": "user", "content": "x", "name": "Ann"}]
    assert tiny(10**6).apply(apart, repair="strict").messages == [said("user", [text("Hi"), text("there")]), apart[2]]


def _of_gemini(role: str, words: str, **more: Any) -> dict[str, Any]:
    return {"role": role, "parts": [{"text": words}], **more}


def test_messages_that_are_equal_once_repaired_come_back_each_as_it_was() -> None:
    given = [
        _of_gemini("user", "yes", id="u1"),
        _of_gemini("model", "ok"),
        _of_gemini("user", "yes", id="u2"),
        _of_gemini("model", "ok"),
        _of_gemini("user", "yes"),
    ]
    done = tiny(10**6).apply(given, format="gemini", repair="gemini")
    assert [message.get("id") for message in done.messages] == [None] * 5
    assert restore(done.messages, done.removed) == given


@pytest.mark.parametrize("words", ["yes", GO_ON, LEAD])
def test_a_conversation_beside_a_repaired_one_in_the_archive_stays_as_it_is(words: str) -> None:
    archive = MemoryArchive()
    other = [said("user", "Hello"), said("assistant", "Yes?"), said("user", words)]
    tiny(10**6).apply([said("assistant", "Yes?")], archive=archive, repair="strict")
    tiny(10**6).apply(
        [HI, said("assistant", "Yes?"), said("user", [text("yes"), text("")])], archive=archive, repair="strict"
    )
    assert len(archive.records) == 3
    assert restore(other, archive) == other


def test_what_was_repaired_comes_back_behind_what_was_rewritten_later() -> None:
    """Both what a later run compacts, and what then stands behind a marker."""
    turns = [said(role, f"{role} {n} " * 30) for n in range(6) for role in ("user", "assistant")]
    given = [*turns[:2], said("user", [text("yes"), text("")]), *turns[3:], said("user", [text("yes"), text(" ")])]
    archive = MemoryArchive()
    fixed = fix(given)
    archive.put([removed.record() for removed in fixed.removed()])
    now, policy = fixed.messages, tiny(400)
    for n in range(4):
        now = policy.apply([*now, said("assistant", f"No. {n} " * 30), HI], archive=archive).messages
    assert len(now) < len(given)
    assert restore(now, archive)[: len(given)] == given


def test_a_repair_is_archived_once_as_long_as_what_comes_before_it_stays() -> None:
    archive = MemoryArchive()
    live = tiny(10**6).window(archive=archive, repair="strict", messages=[HI, HI])
    for n in range(5):
        live.prepare()
        live.append(said("assistant", f"{n}"))
        live.append(HI)
    assert len(archive.records) == 1


def test_a_user_message_comes_first_and_last() -> None:
    given = [said("system", "Be kind."), said("assistant", "Hello"), HI, said("assistant", "Yes?")]
    done = tiny(10**6).apply(given, repair="strict")
    assert done.messages == [given[0], said("user", LEAD), *given[1:], said("user", GO_ON)]
    assert [e.reason for e in repairs(done)] == [
        "message 1: X-06: put a user message before it", "message 3: OAC-11: put a user message after it",
    ]  # fmt: skip
    assert {d.fate for d in done.decisions} & {"repaired"} == set(), "they are as they were"
    assert restore(done.messages, done.removed) == given
    assert [row.role for row in tiny().look(done.messages)] == [
        "system",
        "injected",
        "assistant",
        "user",
        "assistant",
        "injected",
    ]
    assert tiny(10**6).apply(given, repair="openai-chat").messages == given


def test_a_repaired_message_keeps_the_role_that_all_of_it_was_read_as() -> None:
    policy = tiny(10**6, read_as=(ReadAs(Match(role=("user",), regex=("^<note>",)), "injected"),))
    given = [HI, said("assistant", "Yes?"), said("user", "<note>1"), said("user", "<note>2")]
    done = policy.apply(given, meta={0: {"k": 1}}, repair="strict")
    assert done.state is not None
    assert done.state["list"]["roles"] == {"2": "injected"}
    assert "injected" in done.usage.after
    mixed = policy.apply([*given, HI], meta={0: {"k": 1}}, repair="strict")
    assert mixed.state is not None
    assert mixed.state["list"]["roles"] == {}, "words of the user, and counted as such"


def test_a_call_in_flight_is_not_answered_for() -> None:
    given = [HI, call("a")]
    assert tiny(10**6).apply(given, repair="strict").messages == given
    paused = [HI, said("assistant", [{"type": "server_tool_use", "id": "srv", "name": "web_search", "input": {}}])]
    assert tiny(10**6).apply(paused, format="anthropic", repair="strict").messages == paused


def test_the_last_four_cache_marks_stay_with_those_of_tools_and_system() -> None:
    given = [said("user", [text(str(n), **MARK) for n in range(3)])]
    tools, system = [{"name": "look", "input_schema": {}, **MARK}], [text("Be kind.", **MARK)]
    done = tiny(10**6).apply(given, format="anthropic", tools=tools, system=system, repair="anthropic")
    assert [("cache_control" in block) for block in done.messages[0]["content"]] == [False, True, True]
    assert restore(done.messages, done.removed) == given


def test_empty_texts_leave_and_what_only_they_held_together() -> None:
    cut = said("assistant", [thinking(), text("")])
    blank = said("user", [output("t", [text(" ")]), text("")])
    given = [HI, cut, HI, said("assistant", [use("t")]), blank]
    done = tiny(10**6).apply(given, format="anthropic", repair="anthropic")
    assert done.messages == [HI, HI, given[3], said("user", [output("t", "")])]
    assert [d.fate for d in done.decisions] == ["pinned", "repaired", "kept", "live", "repaired"]
    assert done.decisions[1].left == 0
    silent = tiny(10**6).apply([HI, call("a"), answer("a", "")], repair="strict")
    assert silent.messages[-1] == answer("a", "(no output)")


def test_the_working_list_stays_as_it_is_and_a_late_result_finds_its_call() -> None:
    live = tiny(10**6).window(archive=False, messages=[HI, call("a"), HI], repair="openai-chat")
    assert live.prepare()[2]["content"] == "No result: the call was interrupted."
    assert live.messages == [HI, call("a"), HI]
    live.append(answer("a"))
    assert live.prepare() == [HI, call("a"), answer("a"), HI]


def test_metadata_stays_with_the_message_it_became_part_of() -> None:
    given = [HI, said("assistant", "Hello"), HI, HI]
    policy = tiny(10**6)
    done = policy.apply(given, meta={3: {"pin": True}}, repair="strict")
    assert done.state is not None
    assert done.state["meta"] == {"2": {"pin": True}}
    again = policy.apply([*done.messages, said("assistant", "Yes?"), HI], state=done.state, repair="strict")
    assert again.messages[:3] == done.messages
    assert not [event for event in again.events if "changed" in event.reason]


def test_a_full_disk_undoes_repairs_unless_the_policy_lets_originals_go() -> None:
    def full(_: Any) -> None:
        raise OSError("No space left on device")

    given = [HI, HI]
    kept = tiny(10**6).apply(given, archive=full, repair="strict")
    assert kept.messages == given
    assert [event.reason for event in kept.events if event.failed] == [
        "the archive could not be written, so the list was not repaired: OSError: No space left on device"
    ]
    assert not kept.removed
    policy = tiny(10**6)
    dropping = Policy(replace(policy.spec, archive=Archive(path=None, on_error="drop")))
    dropped = dropping.apply(given, archive=full, repair="strict")
    assert dropped.messages == [said("user", "Hi\n\nHi")]
    assert "the originals of repairs are lost" in dropped.events[-1].reason


def test_what_is_no_json_is_handed_out_as_it_is() -> None:
    given = [HI, {**said("user", [text("a", odd=object())])}]
    done = tiny(10**6).apply(given, repair="strict")
    assert done.messages == given
    assert next(e.reason for e in done.events if e.failed).startswith("declined: the list could not be repaired")


def test_of_another_format_there_is_no_repair() -> None:
    with pytest.raises(CtxPolicyError, match="cannot be repaired for 'gemini'; give 'openai-chat' or 'strict'"):
        tiny().apply([HI], repair="gemini")


class TestCommand:
    """`apply --for`."""

    @pytest.fixture(autouse=True)
    def _in_a_folder_of_its_own(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.chdir(tmp_path)

    def run(self, *args: str) -> CommandResult:
        return CliRunner().invoke(main, list(args), env={"NO_COLOR": "1"})

    def test_it_repairs_tells_and_restores(self) -> None:
        Path("a.json").write_text(json.dumps([HI, HI, said("assistant", "Yes?")]), encoding="utf-8")
        done = self.run("apply", "-p", "builtin:default", "--for", "strict", "a.json", "-o", "b.json")
        assert done.exit_code == 0
        told = done.stderr.splitlines()
        assert told[0] == "note: a.json:1: message 1: OAC-09: merged with the message before it (and 1 more)"
        assert told[1].endswith("; repaired 2")
        merged = said("user", "Hi\n\nHi")
        assert json.loads(Path("b.json").read_text(encoding="utf-8")) == [
            merged,
            said("assistant", "Yes?"),
            said("user", GO_ON),
        ]
        assert self.run("lint", "--for", "strict", "b.json").exit_code == 0
        assert self.run("restore", "b.json", "-o", "c.json").exit_code == 0
        assert Path("c.json").read_bytes() == Path("a.json").read_bytes()

    def test_messages_that_may_be_of_several_formats_are_of_the_one_named(self) -> None:
        marked = [said("user", [text(str(n), **MARK) for n in range(5)])]
        Path("a.json").write_text(json.dumps(marked), encoding="utf-8")
        done = self.run("apply", "-p", "builtin:default", "--for", "anthropic", "--archive", "none", "a.json")
        assert done.stdout.count("cache_control") == 4
        assert self.run("lint", "--for", "anthropic", "--fix", "a.json").exit_code == 0
        assert json.loads(Path("a.json").read_text(encoding="utf-8")) == json.loads(done.stdout)

    @pytest.mark.parametrize(("given", "target"), [([HI, call("a")], "anthropic"), ([HI], "gemini")])
    def test_another_format_is_bad_usage(self, given: list[Any], target: str) -> None:
        Path("a.json").write_text(json.dumps(given), encoding="utf-8")
        done = self.run("apply", "-p", "builtin:default", "--for", target, "a.json")
        assert done.exit_code == 2
        assert f"a.json:1 holds messages of the format openai-chat, which no repair turns into {target}" in done.stderr

    def test_what_lint_repairs_comes_back_too(self) -> None:
        Path("a.json").write_text(json.dumps([HI, call("a"), HI, HI]), encoding="utf-8")
        before = Path("a.json").read_bytes()
        self.run("lint", "--for", "strict", "--fix", "a.json")
        assert Path("a.json").read_bytes() != before
        assert self.run("restore", "a.json", "-o", "b.json").exit_code == 0
        assert Path("b.json").read_bytes() == before
