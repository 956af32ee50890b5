"""`apply` and `restore`: shapes, bytes, archives, failures and exit codes."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from .helpers import Run, lines, talk, write

EXAMPLE = Path(__file__).parents[2] / "policies" / "examples" / "support-session.jsonl"
DEFAULT = str(Path(__file__).parents[2] / "policies" / "default.yaml")
BIG = {"role": "user", "content": "x" * 5000}


def records(folder: str) -> list[dict[str, Any]]:
    return [json.loads(line) for file in Path(folder).glob("*.jsonl") for line in file.read_text().splitlines()]


class TestShape:
    def test_nothing_to_do_is_the_same_bytes(self, run: Run) -> None:
        text = '{"role":"user",  "content":"\\u00e9\\/"}\n\n{"role": "assistant", "content": "é", "n": 1.50}'
        done = run("apply", "-p", "p.yaml", write("t.jsonl", text))
        assert done.exit_code == 0
        assert done.stdout == text
        assert done.stderr == "1 conversation, 2 messages, 13 -> 13 tokens; no rule acted\n"
        assert sorted(os.listdir()) == ["p.yaml", "t.jsonl"]

    def test_untouched_messages_keep_their_bytes(self, run: Run) -> None:
        odd = '{"role":"system",  "content":"\\u0042e brief.", "n": 1.50}\n'
        done = run("apply", "-p", "p.yaml", write("t.jsonl", odd + lines(*talk(20)[1:])))
        out = done.stdout.splitlines(keepends=True)
        assert out[0] == odd
        assert len(out) < 30
        assert json.loads(out[-1]) == {"role": "user", "content": "And now?"}

    def test_an_object_keeps_what_stands_around_the_messages(self, run: Run) -> None:
        value = {"id": 1.50, "messages": talk(20), "tools": [{"name": "ls"}], "tail": None}
        done = run("apply", "-p", "p.yaml", write("t.json", json.dumps(value, indent=4)))
        out = json.loads(done.stdout)
        assert list(out) == list(value)
        assert {**out, "messages": 0} == {**value, "messages": 0}
        assert len(out["messages"]) < len(value["messages"])
        assert done.stdout.startswith('{\n    "id": 1.5,\n    "messages": [\n        {\n            "role": "system"')

    def test_standard_input_and_output(self, run: Run) -> None:
        text = lines(*talk(1))
        assert run("apply", "-p", "p.yaml", "-", input=text).stdout == text
        assert run("apply", "-p", "p.yaml", "-", "-o", "-", input=text).stdout == text

    def test_in_place(self, run: Run) -> None:
        write("t.jsonl", lines(*talk(20)))
        done = run("apply", "-p", "p.yaml", "t.jsonl", "-o", "t.jsonl")
        assert (done.exit_code, done.stdout) == (0, "")
        assert len(Path("t.jsonl").read_text().splitlines()) < 30

    def test_several_inputs_go_into_a_directory(self, run: Run) -> None:
        for name in ("a.jsonl", "b.jsonl"):
            write(name, lines(*talk(1)))
        done = run("apply", "-p", "p.yaml", "a.jsonl", "b.jsonl", "-o", "out/deep")
        assert done.exit_code == 0
        assert done.stderr.startswith("2 conversations, 8 messages, ")
        assert Path("out/deep/a.jsonl").read_bytes() == Path("a.jsonl").read_bytes()
        assert run("apply", "-p", "p.yaml", "a.jsonl", "-o", "out").exit_code == 0
        assert Path("out/a.jsonl").read_bytes() == Path("a.jsonl").read_bytes()


class TestUsage:
    @pytest.mark.parametrize(
        ("args", "message"),
        [
            (["a.jsonl", "b.jsonl"], "give -o DIR"),
            (["a.jsonl", "b.jsonl", "-o", "a.jsonl"], "a.jsonl is a file"),
            (["a.jsonl", "-", "-o", "out"], "standard input has no name"),
            (["a.jsonl", "x/a.jsonl", "-o", "out"], "two transcripts are named a.jsonl"),
            (["a.jsonl", "--pin", "1,x"], "'1,x' is not a list of message indexes; write numbers"),
            (["a.jsonl", "--window", "0"], "'--window'"),
            (["a.jsonl", "--window", "many"], "'--window'"),
            (["a.jsonl", "--format", "morse"], "'morse' is not"),
            ([], "Missing argument"),
        ],
    )
    def test_bad_usage_is_exit_2(self, run: Run, args: list[str], message: str) -> None:
        write("a.jsonl", lines(*talk(1)))
        done = run("apply", "-p", "p.yaml", *args)
        assert done.exit_code == 2
        assert message in done.stderr

    def test_a_policy_must_be_named(self, run: Run) -> None:
        done = run("apply", write("a.jsonl", lines(*talk(1))))
        assert (done.exit_code, done.stdout) == (2, "")
        assert "Missing option '--policy'" in done.stderr

    def test_the_help_says_every_summariser_and_what_strict_repairs(self, run: Run) -> None:
        said = " ".join(run("apply", "--help").stdout.split())
        assert "--summarizer HOW none, extract, scripted:FILE, command:CMD or PROVIDER:MODEL (" in said
        assert "strict: also what only some models and servers refuse, as far as it can be repaired." in said
        assert "PROVIDER:MODEL" in run("simulate", "--help").stdout

    @pytest.mark.parametrize(
        ("args", "message"),
        [
            (["-p", "none.yaml", "a.jsonl"], "none.yaml"),
            (["-p", "builtin:none", "a.jsonl"], "builtin:none"),
            (["-p", "p.yaml", "none.jsonl"], "error: none.jsonl: no such file; check the path\n"),
            (["-p", "p.yaml", "a.jsonl", "--summarizer", "oracle"], "error: summarizer 'oracle' is unknown"),
            (["-p", "p.yaml", "a.jsonl", "--tools", "p.yaml"], "error: p.yaml: is not JSON"),
            (["-p", "p.yaml", "a.jsonl", "--tools", "t.json"], "error: t.json: holds no tool schemas; give an array"),
            (["-p", "p.yaml", "a.jsonl", "--tools", "none.json"], "none.json: No such file"),
        ],
    )
    def test_unreadable_input_is_exit_2(self, run: Run, args: list[str], message: str) -> None:
        write("a.jsonl", lines(*talk(1)))
        write("t.json", "{}")
        done = run("apply", *args)
        assert (done.exit_code, done.stdout) == (2, "")
        assert message in done.stderr

    def test_one_unreadable_file_does_not_stop_the_others(self, run: Run) -> None:
        write("a.jsonl", lines(*talk(1)))
        done = run("apply", "-p", "p.yaml", "none.jsonl", "a.jsonl", "-o", "out")
        assert done.exit_code == 1
        assert os.listdir("out") == ["a.jsonl"]


class TestFailures:
    def test_a_refused_conversation_is_named_and_left_out(self, run: Run) -> None:
        write("t.jsonl", lines(talk(1), [*talk(1), BIG], talk(2)))
        done = run("apply", "-p", "p.yaml", "t.jsonl", "-o", "out.jsonl")
        assert done.exit_code == 1
        assert done.stderr.startswith("error: t.jsonl:2: message 4 cannot be sent")
        assert done.stderr.splitlines()[-1].startswith("2 conversations, 1 failed, 10 messages, ")
        assert Path("out.jsonl").read_text() == lines(talk(1), talk(2))

    def test_the_line_is_that_of_the_message(self, run: Run) -> None:
        done = run("apply", "-p", "p.yaml", write("t.jsonl", lines(*talk(1), BIG)))
        assert (done.exit_code, done.stdout) == (1, "")
        assert done.stderr.startswith("error: t.jsonl:5: message 4 cannot be sent")

    @pytest.mark.parametrize("bad", [0, 1, 2])
    def test_an_array_stays_json_without_the_refused_one(self, run: Run, bad: int) -> None:
        talks = [{"n": n, "traj": talk(1)} for n in range(3)]
        talks[bad]["traj"] = [BIG]
        done = run("apply", "-p", "p.yaml", write("t.json", json.dumps(talks, indent=2)))
        assert done.exit_code == 1
        assert json.loads(done.stdout) == [one for n, one in enumerate(talks) if n != bad]

    def test_a_broken_line_is_exit_1_and_nothing_readable_exit_2(self, run: Run) -> None:
        good = lines({"messages": talk(1)})
        done = run("apply", "-p", "p.yaml", write("t.jsonl", good + '{"messages": [{"role"\n' + good))
        assert (done.exit_code, done.stdout) == (1, good * 2)
        assert done.stderr.startswith("error: t.jsonl:2: is cut off in the middle")
        done = run("apply", "-p", "p.yaml", write("t.jsonl", '{"messages": [{"role": "bot"}]}\n'), "-o", "out.jsonl")
        assert (done.exit_code, Path("out.jsonl").exists()) == (2, False)

    def test_in_place_loses_no_failed_conversation(self, run: Run) -> None:
        text = lines(talk(20), [BIG])
        done = run("apply", "-p", "p.yaml", write("t.jsonl", text), "-o", "t.jsonl")
        assert done.exit_code == 1
        assert Path("t.jsonl").read_text() == text
        assert "t.jsonl: is left as it was" in done.stderr

    def test_a_malformed_message_is_a_failed_conversation(self, run: Run) -> None:
        bad = {"role": "assistant", "tool_calls": 7}
        done = run("apply", "-p", "p.yaml", write("t.jsonl", lines(talk(1), [bad])))
        assert (done.exit_code, done.stdout) == (1, lines(talk(1)))
        assert done.stderr.startswith("error: t.jsonl:2: message 0")


class TestOptions:
    def test_the_summary_line_counts_by_rule(self, run: Run) -> None:
        call = {"id": "a", "type": "function", "function": {"name": "ls", "arguments": "{}"}}
        messages = [
            *talk(1),
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "a", "content": "\n".join(f"line {n}" for n in range(200))},
            *talk(20)[1:],
        ]
        done = run("apply", "-p", "p.yaml", "--summarizer", "extract", write("t.jsonl", lines(*messages)))
        last = done.stderr.splitlines()[-1]
        assert last.startswith("1 conversation, 47 messages, ")
        assert "tokens; cap: truncated 1, shrink: compacted " in last
        assert "drop" not in last

    def test_without_a_summariser_it_says_what_is_missing(self, run: Run) -> None:
        done = run("apply", "-p", "p.yaml", write("t.jsonl", lines(*talk(20))))
        hint, last = done.stderr.splitlines()
        assert hint.startswith("note: t.jsonl:1: shrink: declined: no summariser is set: ")
        assert hint.endswith("would have been summarised; set one with --summarizer extract, or in the policy")
        assert "drop: evicted " in last

    def test_a_failing_summariser_is_told_once(self, run: Run) -> None:
        write("t.jsonl", lines(talk(20), talk(20)))
        done = run("apply", "-p", "p.yaml", "--summarizer", "command:no-such-program", "t.jsonl")
        assert done.exit_code == 0
        warning, last = done.stderr.splitlines()
        assert warning.startswith("warning: t.jsonl:1: shrink: declined: the summariser failed: ")
        assert warning.endswith(" (and 1 more)")
        assert "drop: evicted " in last

    def test_summarizer_none_overrides_the_policys(self, run: Run) -> None:
        write("q.yaml", Path("p.yaml").read_text() + "summarizer: extract\n")
        write("t.jsonl", lines(*talk(20)))
        assert "compacted" in run("apply", "-p", "q.yaml", "t.jsonl").stderr
        done = run("apply", "-p", "q.yaml", "t.jsonl", "--summarizer", "none")
        assert "compacted" not in done.stderr
        assert "no summariser is set" in done.stderr

    def test_dry_run_writes_nothing(self, run: Run) -> None:
        done = run("apply", "-p", "p.yaml", "--dry-run", write("t.jsonl", lines(*talk(20))), "-o", "out/o.jsonl")
        assert (done.exit_code, done.stdout) == (0, "")
        assert done.stderr.endswith("; dry run, nothing was written\n")
        assert sorted(os.listdir()) == ["p.yaml", "t.jsonl"]

    def test_archive_follows_the_policy_or_the_option(self, run: Run) -> None:
        write("t.jsonl", lines(*talk(20)))
        run("apply", "-p", "p.yaml", "t.jsonl")
        assert records(".ctxpolicy/archive")
        run("apply", "-p", "p.yaml", "t.jsonl", "--archive", "kept")
        assert records("kept")

    def test_archive_none(self, run: Run) -> None:
        run("apply", "-p", "p.yaml", write("t.jsonl", lines(*talk(20))), "--archive", "none")
        assert sorted(os.listdir()) == ["p.yaml", "t.jsonl"]

    def test_one_run_writes_one_archive_file(self, run: Run) -> None:
        run("apply", "-p", "p.yaml", write("t.jsonl", lines(talk(20), talk(21))))
        assert len(os.listdir(".ctxpolicy/archive")) == 1

    def test_pins(self, run: Run) -> None:
        messages = talk(20)
        done = run("apply", "-p", "p.yaml", "--pin", "5, 8", write("t.jsonl", lines(*messages)))
        out = [json.loads(line) for line in done.stdout.splitlines()]
        assert messages[5] in out
        assert messages[8] in out
        assert messages[6] not in out

    def test_a_pin_beyond_the_end_is_bad_usage(self, run: Run) -> None:
        done = run("apply", "-p", "p.yaml", "--pin", "99", write("t.jsonl", lines(*talk(1))))
        assert done.exit_code == 2
        assert "'--pin': 99 is no message of t.jsonl, which has 4, numbered 0 to 3" in done.stderr

    def test_window_in_place_of_the_policys(self, run: Run) -> None:
        text = lines(*talk(20))
        assert run("apply", "-p", "p.yaml", "--window", "100000", write("t.jsonl", text)).stdout == text

    def test_tools_and_system_count(self, run: Run) -> None:
        tools = [{"name": "n" * 400}]
        before = [
            run("apply", "-p", "p.yaml", "--dry-run", *extra, write("t.json", json.dumps(value))).stderr
            for value, extra in (
                ({"messages": talk(1)}, ()),
                ({"messages": talk(1), "tools": tools}, ()),
                ({"messages": talk(1)}, ("--tools", write("tools.json", json.dumps({"tools": tools})))),
                ({"messages": talk(1), "system": "s" * 400}, ()),
            )
        ]
        plain, own, given, system = (int(text.split(", ")[2].split(" ->")[0]) for text in before)
        assert own == given
        assert 100 <= own - plain <= 110
        assert 100 <= system - plain <= 110


class TestExample:
    """The transcript that ships: every rule of the default policy acts on it, and nothing is lost."""

    def test_every_rule_acts(self, run: Run) -> None:
        done = run("apply", "-p", DEFAULT, "--window", "16000", "--summarizer", "extract", "--dry-run", str(EXAMPLE))
        assert done.exit_code == 0
        acts = done.stderr.rpartition("tokens; ")[2]
        assert acts.startswith("cap-tool-results: truncated 2, compact-oldest: compacted ")
        assert "evict-oldest: evicted " in acts

    def test_restore_gives_back_the_same_bytes(self, run: Run) -> None:
        run("apply", "-p", DEFAULT, "--window", "16000", "--summarizer", "extract", str(EXAMPLE), "-o", "short.jsonl")
        assert len(Path("short.jsonl").read_text().splitlines()) < 40
        done = run("restore", "short.jsonl")
        assert done.exit_code == 0
        assert done.stdout_bytes == EXAMPLE.read_bytes()
        assert done.stderr.startswith("1 conversation, ")

    def test_it_is_small_and_plain(self) -> None:
        text = EXAMPLE.read_text(encoding="utf-8")
        assert len(text.encode()) < 120_000
        messages = [json.loads(line) for line in text.splitlines()]
        calls = [call["id"] for message in messages for call in message.get("tool_calls", ())]
        assert [m["tool_call_id"] for m in messages if m["role"] == "tool"] == calls
        assert len(set(calls)) == len(calls)


class TestRestore:
    @pytest.mark.parametrize("indent", [None, 2])
    def test_every_shape_comes_back(self, run: Run, indent: int | None) -> None:
        text = json.dumps([{"task": n, "traj": talk(20 + n)} for n in range(3)], indent=indent)
        run("apply", "-p", "p.yaml", write("t.json", text), "--archive", "kept", "-o", "short.json")
        assert Path("short.json").stat().st_size < len(text) / 2
        done = run("restore", "--archive", "kept", "short.json", "-o", "whole.json")
        assert done.exit_code == 0
        assert Path("whole.json").read_text() == text
        assert done.stderr.startswith("3 conversations, ")

    def test_without_records_nothing_changes(self, run: Run) -> None:
        text = lines(*talk(2))
        Path("kept").mkdir()
        done = run("restore", "--archive", "kept", write("t.jsonl", text))
        assert (done.exit_code, done.stdout) == (0, text)
        assert done.stderr == "1 conversation, 6 -> 6 messages, 0 put back\n"

    def test_what_a_repair_added_is_taken_out(self, run: Run) -> None:
        text = lines({"role": "assistant", "content": "Hi."}, *talk(1)[1:-1])
        run("apply", "-p", "p.yaml", "--for", "strict", write("t.jsonl", text), "--archive", "kept", "-o", "sent.jsonl")
        done = run("restore", "--archive", "kept", "sent.jsonl")
        assert (done.exit_code, done.stdout) == (0, text)
        said = "1 conversation, 5 -> 3 messages, 0 put back, 2 that a repair had added taken out\n"
        assert done.stderr == said

    def test_a_missing_archive_is_exit_2(self, run: Run) -> None:
        done = run("restore", "--archive", "nowhere", write("t.jsonl", lines(*talk(2))))
        assert (done.exit_code, done.stdout) == (2, "")
        assert done.stderr.startswith("error: nowhere: no such archive; give the directory that `apply` wrote to")
