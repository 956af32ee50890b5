"""The command `replay`: a line for each recorded call, and the list of one of them."""

from __future__ import annotations

import json
from typing import Any

from ctxpolicy.cli.options import setup
from ctxpolicy.simulate.summaries import note

from .helpers import Run, lines, talk, write


def claude(role: str, number: int, text: str, used: int | None = None) -> dict[str, Any]:
    """A line of a Claude Code log."""
    message: dict[str, Any] = {"role": role, "content": text, "id": f"m{number}"}
    if used is not None:
        message["usage"] = {"input_tokens": used, "output_tokens": 1}
    parent = f"u{number - 1}" if number else None
    return {"type": role, "uuid": f"u{number}", "parentUuid": parent, "sessionId": "s", "message": message}


LOG = lines(
    claude("user", 0, "x" * 40),
    claude("assistant", 1, "y" * 40, used=34),
    claude("user", 2, "x" * 40),
    claude("assistant", 3, "y" * 40, used=54),
)


def test_a_line_for_each_call(run: Run) -> None:
    done = run("replay", "-p", "p.yaml", write("t.jsonl", lines(*talk(3))))
    assert (done.exit_code, done.stderr) == (0, "")
    assert done.stdout.splitlines() == [
        "t.jsonl:1: 3 calls, limit 1,000 tokens of a window of 1,000",
        "call  reply  before  sent  pressure  counted",
        "   1      2      54    54       5 %       54",
        "   2      4     142   142      14 %      142",
        "   3      6     230   230      23 %      230",
        "",
    ]


def test_what_the_rules_did(run: Run) -> None:
    done = run("replay", "-p", "p.yaml", write("t.jsonl", lines(*talk(20))))
    assert "shrink: compacted" in done.stdout


def test_the_list_of_one_call(run: Run) -> None:
    messages = talk(20)
    file = write("t.jsonl", lines(*messages))
    done = run("replay", "-p", "p.yaml", "--call", "20", file)
    assert done.exit_code == 0
    results = list(setup("p.yaml", None, None, None, None).policy.replay(messages, summarize=note))
    assert [json.loads(line) for line in done.stdout.splitlines()] == results[19].messages
    (told,) = run("replay", "-p", "p.yaml", "--call", "20", "-f", "json", file).stdout.splitlines()
    call = json.loads(told)
    assert (call["number"], call["reply"]) == (20, 40)
    assert call["messages"] == results[19].messages
    assert call["sent"] == results[19].usage.after["total"]


def test_calls_are_numbered_through_all_conversations(run: Run) -> None:
    write("a.json", json.dumps(talk(2)))
    write("b.json", json.dumps([{"role": "user", "content": "b"}, {"role": "assistant", "content": "c"}]))
    done = run("replay", "-p", "p.yaml", "--call", "3", "a.json", "b.json")
    assert json.loads(done.stdout) == {"role": "user", "content": "b"}
    shown = [json.loads(line) for line in run("replay", "-f", "json", "a.json", "b.json").stdout.splitlines()]
    assert [[call["number"] for call in one["calls"]] for one in shown] == [[1, 2], [3]]


def test_a_call_that_is_not_there(run: Run) -> None:
    done = run("replay", "--call", "9", write("t.jsonl", lines(*talk(3))))
    assert (done.exit_code, done.stdout) == (2, "")
    assert done.stderr == "error: there is no call 9: 3 calls can be replayed\n"


def test_recorded_usage_stands_beside_and_calibrates(run: Run) -> None:
    file = write("log.jsonl", LOG)
    done = run("replay", "-p", "p.yaml", file)
    assert done.stdout.splitlines()[1:-1] == [
        "call  reply  before  sent  pressure  counted  recorded  factor",
        "   1      1      17    17       2 %       17        34    2.00",
        "   2      3      45    45       9 %       45        54    1.20",
        "at the last recorded call the provider counted 54 tokens and this policy 45: factor 1.20",
    ]
    for option, pressures in (("--calibrate", [0.017, 0.09]), ("--no-calibrate", [0.017, 0.045])):
        shown = json.loads(run("replay", "-p", "p.yaml", "-f", "json", option, file).stdout)
        assert [call["pressure"] for call in shown["calls"]] == pressures
        assert [(call["recorded"], call["counted"], call["factor"]) for call in shown["calls"]] == [
            (34, 17, 2.0),
            (54, 45, 1.2),
        ]


def test_inspect_shows_the_factor_too(run: Run) -> None:
    file = write("log.jsonl", LOG)
    assert (
        "the provider counted 54 tokens and this policy 45: factor 1.20" in run("inspect", "-p", "p.yaml", file).stdout
    )
    shown = json.loads(run("inspect", "-p", "p.yaml", "-f", "json", file).stdout)
    assert shown["recorded"]["counting"] == [
        {"reply": 1, "recorded": 34, "counted": 17, "factor": 2.0},
        {"reply": 3, "recorded": 54, "counted": 45, "factor": 1.2},
    ]


def test_what_the_log_leaves_out_is_named(run: Run) -> None:
    file = write("log.jsonl", LOG.replace('"input_tokens": 34', '"input_tokens": 517').replace(": 54", ": 545"))
    assert "about 500 tokens that are not in the log were sent" in " ".join(
        run("replay", "-p", "p.yaml", file).stdout.split()
    )


def test_a_refused_message_ends_its_conversation_alone(run: Run) -> None:
    big = [
        {"role": "user", "content": "a"},
        {"role": "assistant", "content": "b"},
        {"role": "user", "content": "x" * 5000},
    ]
    write("a.jsonl", lines(*big))
    write("b.jsonl", lines(*talk(2)))
    done = run("replay", "-p", "p.yaml", "a.jsonl", "b.jsonl")
    assert done.exit_code == 1
    assert done.stderr.startswith("error: a.jsonl:3: message 2 cannot be sent")
    assert "a.jsonl:1: 1 call," in done.stdout
    assert "b.jsonl:1: 2 calls," in done.stdout


def test_what_cannot_be_read(run: Run) -> None:
    assert run("replay", "none.jsonl").exit_code == 2
    assert run("replay", "none.jsonl", write("t.jsonl", lines(*talk(1)))).exit_code == 1
