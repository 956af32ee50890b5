"""Each log format on a small log with its traps."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from ctxpolicy.logs import LOG_FORMATS, Compaction, Usage, detect, read_log

from .reading import everything, opened, pairs, roles, write
from .samples import INSPECT_SAMPLE, LOGS, OPENHANDS_EVENTS, lines


@pytest.mark.parametrize("name", LOGS)
def test_each_log_is_told_by_its_content(tmp_path: Path, name: str) -> None:
    found = detect(write(tmp_path, name))
    assert found is not None
    assert found.name == name.partition(".")[0]


@pytest.mark.parametrize("name", LOGS)
def test_each_message_has_its_line_fields_and_time(tmp_path: Path, name: str) -> None:
    log, sessions = opened(tmp_path, name)
    assert sessions
    assert log.format is not None
    for session in sessions:
        assert session.messages
        assert session.log == log.format.name
        assert session.format in log.format.messages
        assert session.at(0).startswith(f"{session.file}:")
        if not log.format.in_place:
            assert len(session.messages) == len(session.fields) == len(session.times)
        assert all(0 <= use.index < len(session.messages) for use in session.usage)
        assert roles(session)


def test_every_format_has_a_sample() -> None:
    assert {name.partition(".")[0] for name in LOGS} | {"http"} == {entry.name for entry in LOG_FORMATS}


class TestClaudeCode:
    def test_a_reply_is_one_message_and_results_that_hang_elsewhere_are_found(self, tmp_path: Path) -> None:
        _, (before, _, _) = opened(tmp_path, "claude-code")
        assert [m["role"] for m in before.messages] == ["user", "assistant", "user", "user"]
        assert [block["type"] for block in before.messages[1]["content"]] == ["text", "tool_use", "tool_use"]
        assert pairs(before) == (["t1", "t2"], ["t1", "t2"])

    def test_what_was_taken_back_is_not_there(self, tmp_path: Path) -> None:
        _, sessions = opened(tmp_path, "claude-code")
        assert not [m for s in sessions for m in s.messages if m["content"] == "an attempt that was taken back"]

    def test_the_view_is_cut_at_the_boundary(self, tmp_path: Path) -> None:
        _, (_, after, _) = opened(tmp_path, "claude-code")
        assert [m["content"] for m in after.messages] == ["Summary of earlier work", [{"type": "text", "text": "done"}]]
        assert after.compactions == [Compaction(0, "auto", 167000)]
        assert after.fields[0]["isCompactSummary"] is True

    def test_a_side_chain_is_a_session_of_its_own(self, tmp_path: Path) -> None:
        _, (*_, side) = opened(tmp_path, "claude-code")
        assert [m["role"] for m in side.messages] == ["user", "assistant"]
        assert side.where.endswith("s.jsonl:10")

    def test_usage_is_the_last_of_a_reply_and_counts_the_cache(self, tmp_path: Path) -> None:
        _, (before, _, _) = opened(tmp_path, "claude-code")
        assert before.usage == [Usage(1, 959, 20, 900, 50)]

    def test_other_records_are_counted(self, tmp_path: Path) -> None:
        log, _ = opened(tmp_path, "claude-code")
        assert log.skipped == {"file-history-snapshot": 1, "progress": 1}

    def test_a_preserved_segment_stands_behind_the_summary(self, tmp_path: Path) -> None:
        path = write(tmp_path, "claude-code")
        text = path.read_text()
        kept = '"preservedSegment": {"headUuid": "r1", "anchorUuid": "c1", "tailUuid": "r2"}, "preTokens"'
        path.write_text(text.replace('"preTokens"', kept))
        _, (_, after, _) = everything(path)
        assert roles(after) == ["user", "tool", "tool", "assistant"]
        assert after.compactions[0].carried == 2

    def test_a_log_of_a_sub_agent_alone(self, tmp_path: Path) -> None:
        path = write(tmp_path, "claude-code")
        path.write_text("".join(line for line in path.read_text().splitlines(True) if '"isSidechain": true' in line))
        _, (only,) = everything(path)
        assert len(only.messages) == 2


class TestCodex:
    def test_items_are_kept_as_they_are(self, tmp_path: Path) -> None:
        _, (first, _, _) = opened(tmp_path, "codex")
        assert roles(first) == ["user", "assistant", "assistant", "tool"]
        assert first.messages[2]["input"] == "*** not JSON"
        assert first.system == "You are an agent."
        assert first.usage == [Usage(3, 1200, 30, 1024)]

    def test_a_compaction_without_history_keeps_the_users_words(self, tmp_path: Path) -> None:
        _, (_, second, _) = opened(tmp_path, "codex")
        texts = [m["content"][0]["text"] for m in second.messages]
        assert texts == ["fix it", "Handoff: fixed.", "done"]
        assert second.compactions == [Compaction(0, "auto", 1200, None, 1)]
        assert second.system == "You are an agent."

    def test_a_replacement_history_is_taken(self, tmp_path: Path) -> None:
        _, (*_, third) = opened(tmp_path, "codex")
        assert roles(third) == ["user", "user", "assistant", "assistant"]
        assert pairs(third) == (["c2"], [])  # a call without a result

    def test_items_without_an_envelope(self, tmp_path: Path) -> None:
        path = tmp_path / "old.jsonl"
        head = {"id": "0", "timestamp": "2025-05-01T10:00:00Z", "instructions": "Be brief."}
        path.write_text(lines(head, {"record_type": "state"}, {"type": "message", "role": "user", "content": []}))
        log, (session,) = everything(path)
        assert session.system == "Be brief."
        assert log.skipped == {"state": 1}


class TestCopilotCli:
    def test_what_was_sent_and_the_failed_result(self, tmp_path: Path) -> None:
        _, (before, _, _) = opened(tmp_path, "copilot-cli")
        assert roles(before) == ["system", "user", "assistant", "tool"]
        assert before.messages[1]["content"].startswith("<now>")
        assert before.messages[2]["reasoning_content"] == "hm"
        assert before.messages[3] == {"role": "tool", "tool_call_id": "c1", "content": "no shell", "is_error": True}
        assert json.loads(before.messages[2]["tool_calls"][0]["function"]["arguments"]) == {"command": "ls"}

    def test_compaction_and_sub_agent(self, tmp_path: Path) -> None:
        _, (_, after, other) = opened(tmp_path, "copilot-cli")
        assert [m["content"] for m in after.messages] == ["You are Copilot.", "So far: nothing.", "sorry"]
        assert after.compactions == [Compaction(0, "auto", 90000, None, 1)]
        assert [m["content"] for m in other.messages] == ["a sub-agent"]


class TestGeminiCli:
    def test_later_lines_replace_and_rewind(self, tmp_path: Path) -> None:
        _, (before, after) = opened(tmp_path, "gemini-cli")
        assert roles(before) == ["user", "assistant", "tool", "user"]
        assert before.messages[0]["parts"] == [{"text": "fix it"}]
        assert [m["parts"][0]["text"] for m in after.messages] == ["Summary: go on", "done"]
        assert len(after.compactions) == 1

    def test_thoughts_calls_and_results_stand_in_one_record(self, tmp_path: Path) -> None:
        _, (session,) = opened(tmp_path, "gemini-cli.document")
        assert session.messages[0]["parts"] == [
            {"text": "Plan\nread it", "thought": True},
            {"text": "reading"},
            {"functionCall": {"id": "c1", "name": "read_file", "args": {"path": "a.py"}}},
        ]
        assert roles(session) == ["assistant", "tool"]
        assert session.usage == [Usage(0, 900, 27, 512)]


class TestPi:
    def test_its_messages_are_anthropics(self, tmp_path: Path) -> None:
        log, (before, _) = opened(tmp_path, "pi")
        assert before.messages[1]["content"] == [
            {"type": "thinking", "thinking": "hm", "signature": "sig"},
            {"type": "tool_use", "id": "t1", "name": "bash", "input": {"command": "ls"}},
        ]
        assert before.messages[2]["content"][0]["is_error"] is True
        assert before.usage == [Usage(1, 1000, 5, 900, 90)]
        assert log.skipped == {"session": 1, "model_change": 1}

    def test_a_compaction_keeps_from_the_entry_it_names(self, tmp_path: Path) -> None:
        _, (_, after) = opened(tmp_path, "pi")
        assert roles(after) == ["user", "user", "assistant"]
        assert "<summary>\nIt was ls.\n</summary>" in after.messages[0]["content"]
        assert after.compactions == [Compaction(0, "auto", 175004, None, 1)]

    def test_of_a_tree_the_newest_branch(self, tmp_path: Path) -> None:
        _, (session,) = opened(tmp_path, "pi.tree")
        assert [m["content"] for m in session.messages] == ["fix it", "done"]


class TestCline:
    def test_files_are_text_and_input_tokens_hold_the_cache(self, tmp_path: Path) -> None:
        _, (session,) = opened(tmp_path, "cline")
        assert session.system == "You are Cline."
        assert session.messages[0]["content"][0]["text"] == '<file_content path="a.py">\nx=1\n</file_content>'
        assert session.usage == [Usage(1, 1000, 9, 700)]
        assert session.began == datetime(2026, 7, 6, 22, 27, 48, 634000, UTC)

    def test_what_roo_condensed_is_a_session_before(self, tmp_path: Path) -> None:
        _, (before, after) = opened(tmp_path, "cline.roo")
        assert [m["content"] for m in before.messages] == ["fix it", "done"]
        assert [m["content"] for m in after.messages] == [
            "Summary: it is fixed",
            [{"type": "text", "text": "now test it"}],
        ]
        assert len(after.compactions) == 1


def test_swe_agent_results_find_their_calls(tmp_path: Path) -> None:
    _, (session,) = opened(tmp_path, "swe-agent")
    assert pairs(session) == (["c1"], ["c1"])
    assert session.fields[1]["is_demo"] is True
    assert "is_demo" not in session.messages[1]


def test_mini_swe_agent_tells_usage(tmp_path: Path) -> None:
    _, (session,) = opened(tmp_path, "mini-swe-agent")
    assert session.usage == [Usage(2, 50, 5)]


@pytest.mark.parametrize("name", ["mini-swe-agent", "tau-bench", "toolbench"])
def test_formats_written_in_place_keep_every_byte(tmp_path: Path, name: str) -> None:
    path = write(tmp_path, name)
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())
    texts: list[str] = []
    for part in read_log(path).parts():
        texts += [part] if isinstance(part, str) else [part.lead + part.render(part.messages)]  # type: ignore[union-attr]
    assert "".join(texts).encode() == path.read_bytes()


class TestOpenHands:
    def test_parallel_calls_are_one_reply(self, tmp_path: Path) -> None:
        log, (before, _) = opened(tmp_path, "openhands")
        assert roles(before) == ["system", "user", "assistant", "tool", "tool"]
        assert pairs(before) == (["c1", "c2"], ["c1", "c2"])
        assert before.messages[4]["is_error"] is True
        assert before.tools == [{"type": "function"}]
        assert log.skipped == {"ConversationStateUpdateEvent": 1}

    def test_a_condensation_forgets_and_puts_its_summary_in(self, tmp_path: Path) -> None:
        _, (_, after) = opened(tmp_path, "openhands")
        assert [m["content"] for m in after.messages] == ["You are OpenHands.", "fix it", "It was ls.", "done"]
        assert after.compactions == [Compaction(0, None, None, None, 2)]

    def test_a_folder_of_events(self, tmp_path: Path) -> None:
        folder = tmp_path / "c" / "events"
        folder.mkdir(parents=True)
        for n, event in enumerate(OPENHANDS_EVENTS):
            (folder / f"event-{n:05}-{event['id']}.json").write_text(json.dumps(event, indent=2))
        _, sessions = everything(tmp_path / "c")
        assert [len(session.messages) for session in sessions] == [5, 4]

    def test_version_0(self, tmp_path: Path) -> None:
        log, (session,) = opened(tmp_path, "openhands.version-0")
        assert roles(session) == ["system", "user", "assistant", "tool"]
        assert pairs(session) == (["c1"], ["c1"])
        assert session.usage == [Usage(2, 80, 8)]
        assert log.skipped == {"observation:agent_state_changed": 1}

    def test_steps(self, tmp_path: Path) -> None:
        _, (session,) = opened(tmp_path, "openhands.steps")
        assert [m["content"] for m in session.messages] == ["fix it", "look\n\nls", "a.py", "done"]

    def test_a_completion_ends_with_the_answer(self, tmp_path: Path) -> None:
        _, (session,) = opened(tmp_path, "openhands-completions")
        assert roles(session) == ["system", "user", "assistant"]
        assert session.usage == [Usage(2, 80, 8)]
        assert session.tools == [{"type": "function"}]


class TestInspect:
    def test_attachments_errors_media_and_usage(self, tmp_path: Path) -> None:
        log, (session,) = opened(tmp_path, "inspect")
        assert session.messages[0]["content"] == "a long task"
        assert session.messages[2]["content"] == "too slow"
        assert session.messages[2]["is_error"] is True
        assert session.messages[3]["content"] == [
            {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA"}}
        ]
        assert session.usage == [Usage(1, 61, 17, 60)]
        assert session.compactions[0].tokens_before == 5000
        assert log.skipped == {"event:state": 1}

    def test_a_sample_without_messages_is_counted(self, tmp_path: Path) -> None:
        path = tmp_path / "l.json"
        path.write_text(
            json.dumps({"version": 2, "eval": {}, "status": "error", "samples": [{"id": 2}, INSPECT_SAMPLE]})
        )
        log, sessions = everything(path)
        assert len(sessions) == 1
        assert log.skipped["sample:without messages"] == 1


class TestAtif:
    def test_a_result_without_id_answers_the_only_call(self, tmp_path: Path) -> None:
        _, (main, _) = opened(tmp_path, "atif")
        assert roles(main) == ["user", "assistant", "tool", "assistant", "user"]
        assert pairs(main) == (["c1"], ["c1"])
        assert main.usage == [Usage(1, 900, 20, 512)]

    def test_a_continuation_begins_with_a_compaction(self, tmp_path: Path) -> None:
        _, (main, other) = opened(tmp_path, "atif")
        assert main.compactions == [Compaction(0, None, None, None, 1)]
        assert [m["content"] for m in other.messages] == ["count"]


class TestLangChain:
    def test_calls_stand_once(self, tmp_path: Path) -> None:
        _, (session,) = opened(tmp_path, "langchain")
        assert session.messages[1]["content"] == [{"type": "text", "text": "look"}]
        assert pairs(session) == (["c1", "c2"], ["c1"])
        assert session.messages[1]["tool_calls"][1]["function"]["arguments"] == "{cut"
        assert session.messages[2]["is_error"] is True
        assert session.usage == [Usage(1, 100, 9, 64)]

    def test_runs_are_joined_in_the_order_of_the_tree(self, tmp_path: Path) -> None:
        log, (session,) = opened(tmp_path, "langchain.langsmith")
        assert [m["content"] for m in session.messages] == ["fix it", "which?", "a.py", "done"]
        assert session.usage == [Usage(1, 5, 2)]
        assert log.skipped == {"run:chain": 1}


def test_google_adk_leaves_out_partial_events_and_empty_fields(tmp_path: Path) -> None:
    log, (session,) = opened(tmp_path, "google-adk")
    assert roles(session) == ["user", "assistant", "tool", "assistant"]
    assert session.messages[0]["parts"] == [{"text": "fix it"}]
    assert log.skipped == {"event:without content": 1, "event:partial": 1}


def test_google_adk_evaluation_sets(tmp_path: Path) -> None:
    turn = {
        "user_content": {"role": "user", "parts": [{"text": "plan", "thought": None}]},
        "intermediate_data": {"tool_uses": [{"id": None, "name": "ls", "args": {}}], "intermediate_responses": []},
        "final_response": {"role": "model", "parts": [{"text": "done"}]},
    }
    path = tmp_path / "e.test.json"
    path.write_text(
        json.dumps({"eval_set_id": "1", "eval_cases": [{"conversation": [turn]}, {"conversation": [turn]}]})
    )
    _, sessions = everything(path)
    assert [roles(session) for session in sessions] == [["user", "assistant", "assistant"]] * 2
    path.write_text(json.dumps([{"query": "plan", "expected_tool_use": [], "reference": "done"}]))
    assert [roles(session) for session in everything(path)[1]] == [["user", "assistant"]]


def test_autogen_calls_are_one_growing_conversation(tmp_path: Path) -> None:
    _, (session,) = opened(tmp_path, "autogen")
    assert roles(session) == ["system", "user", "assistant", "tool", "assistant"]
    assert session.messages[1]["name"] == "the_user"
    assert session.messages[2]["content"] == "look"
    assert pairs(session) == (["c1"], ["c1"])
    assert session.usage == [Usage(2, 5, 2), Usage(4, 9, 1)]


def test_agents_are_told_apart_by_name(tmp_path: Path) -> None:
    _, (session,) = opened(tmp_path, "multi-agent")
    assert roles(session) == ["user", "assistant", "assistant", "user"]
    assert [m.get("name") for m in session.messages] == [
        None,
        "Orchestrator_-_WebSurfer",
        "WebSurfer",
        "Computer_terminal",
    ]


class TestOtel:
    def test_spans_are_sorted_and_joined(self, tmp_path: Path) -> None:
        log, (session,) = opened(tmp_path, "otel")
        assert roles(session) == ["system", "user", "assistant", "tool", "assistant"]
        assert session.messages[2]["reasoning_content"] == "hm"
        assert session.messages[3]["content"] == '{"files":["a.py"]}'
        assert session.usage == [Usage(2, 61, 0), Usage(4, 71, 0)]
        assert log.skipped == {"span:invoke_agent": 1}

    def test_one_attribute_for_each_leaf(self, tmp_path: Path) -> None:
        log, (session,) = opened(tmp_path, "otel.openinference")
        assert roles(session) == ["user", "assistant"]
        assert pairs(session) == (["c1"], [])
        assert session.usage == [Usage(1, 30, 0)]
        assert log.skipped == {"span:TOOL": 1}
