"""Counting: everything that is sent counts, near its true size, and a budget that cannot work is an error."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from ctxpolicy.cli import main
from support import Message, calls, filler, opening, result, said, steps, system, user

from .both import Make, both, fill, play

DEFAULT = Path(__file__).parents[2] / "policies" / "default.yaml"
PICTURE = {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgo="}}
SOUND = {"type": "input_audio", "input_audio": {"data": "UklGRg==", "format": "wav"}}


@both(raises=TypeError)
def test_29_list_content_is_content(make: Make) -> None:
    question = {"role": "user", "content": [{"type": "text", "text": "Which lexer?"}, PICTURE]}
    window = make()
    out = play(window, [*opening(), question, *steps(40)])
    assert question in out
    assert len(out) < 80


def parts(*given: Any) -> Message:
    return {"role": "assistant", "content": list(given)}


@both()
@pytest.mark.parametrize(
    ("message", "least"),
    [
        (parts({"type": "text", "text": filler(300)}), 300),
        (parts({"type": "text", "text": "see"}, PICTURE), 1000),
        (parts({"type": "text", "text": "hear"}, SOUND), 1000),
        ({**said("yes"), "reasoning_content": filler(300)}, 300),
        ({**said(""), "refusal": filler(300)}, 300),
        ({**said("yes"), "name": filler(20)}, 20),
        ({"role": "assistant", "content": None, "function_call": {"name": "f", "arguments": filler(300)}}, 300),
    ],
    ids=["text part", "image", "audio", "reasoning", "refusal", "name", "function_call"],
)
def test_29_everything_sent_counts(make: Make, message: Message, least: int) -> None:
    window = make()
    fill(window, opening())
    before = window.pressure()
    window.append(message)
    assert (window.pressure() - before) * 4000 >= least


# What o200k_base, a real tokenizer, makes of each text.
CODE = """if(!(a[i]>=0&&b[j]!==null)){x+=(y<<2)|(z>>>3);m[k]={...n,[k]:v??0};}else{return{ok:!1,at:[i,j,-1]};}
for(let i=0,j=n-1;i<=j;++i,--j){[a[i],a[j]]=[a[j],a[i]];s^=a[i]&0xff;t=(t*31+s)%1e9+7;}
"""
ROWS = json.dumps(
    [
        {"id": n, "uuid": f"a3f{n:03d}-9c1b", "ok": n % 2 == 0, "pos": [n * 1.5, n * 2.25], "tags": ["x1", "y2"]}
        for n in range(12)
    ]
)
CHINESE = "我们需要在周五之前把解析器移植到新的语法上，并且保证所有的测试都通过。请先阅读文档，然后修复失败的三个测试。"


@both()
@pytest.mark.parametrize(("text", "true"), [(CODE, 106), (ROWS, 601), (CHINESE, 38)], ids=["code", "JSON", "Chinese"])
def test_30_no_script_is_under_counted(make: Make, text: str, true: int) -> None:
    window = make(budget={"window": 4000, "counter": "estimate"})
    window.append(user("go"))
    before = window.pressure()
    window.append(said(text))
    assert 0.85 * true <= (window.pressure() - before) * 4000 <= 1.6 * true


@both()
def test_30_tool_schemas_are_not_counted_as_escapes(make: Make) -> None:
    schema = {"type": "function", "function": {"name": "search", "description": CHINESE * 10}}
    counted = make(budget={"window": 4000, "counter": "estimate"}, tools=[schema]).pressure() * 4000
    assert 380 <= counted <= 1.5 * 400


@both(raises=pytest.fail.Exception)
def test_31_a_budget_below_zero_is_an_error(make: Make) -> None:
    with pytest.raises(ValueError, match="limit"):
        make(budget={"window": 4000, "ratio": 0.5, "reserve": 3000})


@both(raises=pytest.fail.Exception)
@pytest.mark.parametrize("tokens", [3996, 4000], ids=["exactly the limit", "over it"])
def test_32_a_message_as_large_as_the_limit_is_refused(make: Make, tokens: int) -> None:
    window = make()
    with pytest.raises(ValueError, match="cannot be sent"):
        window.append(user(filler(tokens)))


@both()
def test_32_tools_that_leave_no_room_are_told(make: Make) -> None:
    window = make(tools=[{"type": "function", "function": {"name": "search", "description": filler(4100)}}])
    fill(window, [system(), user("go"), calls("c1"), result("c1")])
    window.prepare()
    assert "no room" in "\n".join(map(str, window.events))


# Not for the naive list, which has no file and no command: the figures must be shown.
@pytest.mark.parametrize("command", ["check", "inspect", "show"])
def test_33_thresholds_are_shown_in_tokens(command: str, tmp_path: Path) -> None:
    transcript = tmp_path / "t.jsonl"
    transcript.write_text('{"role": "user", "content": "go"}\n')
    words = ["--policy", str(DEFAULT), str(transcript)] if command == "inspect" else [str(DEFAULT)]
    shown = CliRunner().invoke(main, [command, *words])
    assert shown.exit_code == 0, shown.output
    for tokens, share in [("85,600", "67 %"), ("59,920", "47 %"), ("77,040", "60 %")]:
        lines = [line for line in shown.output.splitlines() if tokens in line]
        assert any(share in line for line in lines) or (command == "inspect" and lines), tokens
