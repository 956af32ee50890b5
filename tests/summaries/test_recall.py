"""The agent reads again what the policy took out: by reference, by search, its own list only, within a limit."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ctxpolicy import CtxPolicyError, ManagedWindow
from ctxpolicy.archive.recall import schema
from ctxpolicy.archive.standing import REFERENCE
from support import calls, filler, policy, result, step, system, user


def window(archive: Any, word: str = "amber", steps: int = 60) -> ManagedWindow:
    """A window that has lost most of its steps; one early result names a figure."""
    made = policy(rules={"compact": None}).window(archive=archive)
    made.append(system())
    made.append(user("Read the gauges."))
    for n in range(steps):
        for message in step(n, 80):
            made.append(message)
        if n == 3:
            made.append(calls("special", tool="gauge"))
            made.append(result("special", f"first line\nThe {word} gauge reads 8443 bar\n{filler(60)}"))
        made.prepare()
    return made


def refs(made: ManagedWindow) -> list[str]:
    return [ref for m in made.messages if m["role"] == "user" for ref in REFERENCE.findall(m["content"])]


def test_by_reference_page_by_page(tmp_path: Path) -> None:
    made = window(tmp_path)
    tool = made.recall_tool(max_tokens=300)
    (ref,) = refs(made)
    pages, start = [], 1
    for _ in range(100):
        page = tool({"ref": ref, "from": start})
        assert len(page) / 4 <= 300
        pages.append(page)
        more = page.rpartition("[More: from ")[2] if "[More: from " in page else ""
        if not more:
            break
        start = int(more.split()[0])
    everything = "".join(pages)
    assert len(pages) > 2
    assert f"[1] {'user' if 'earlier turns' in everything[:80] else 'assistant'}:" in everything


def test_nested_references_open_in_turn(tmp_path: Path) -> None:
    made = window(tmp_path)
    tool = made.recall_tool(max_tokens=100_000)
    seen, todo = "", refs(made)
    opened = set()
    while todo:
        ref = todo.pop()
        if ref not in opened:
            opened.add(ref)
            text = tool(json.dumps({"ref": f"ref {ref}."}))
            assert "Nothing in this conversation" not in text
            seen += text
            todo += REFERENCE.findall(text)
    assert len(opened) > 1
    assert "tool result of gauge:\nfirst line\nThe amber gauge reads 8443 bar" in seen
    assert 'calls bash {"n": 0}' in seen


def test_by_search(tmp_path: Path) -> None:
    tool = window(tmp_path).recall_tool(max_tokens=200)
    answer = tool({"search": "AMBER 8443"})
    assert answer.startswith("[ref ")
    first, second = answer.split("\n")[:2]
    assert first.endswith("tool result of gauge:")
    assert second == "The amber gauge reads 8443 bar"
    assert len(answer) / 4 <= 200
    assert tool({"search": "no-such-word"}) == "Nothing that was taken out has any of these words: no-such-word"


def test_other_conversations_in_the_archive_are_not_seen(tmp_path: Path) -> None:
    mine, other = window(tmp_path), window(tmp_path, word="cobalt")
    assert "cobalt" in other.recall_tool()({"search": "cobalt"})
    assert "Nothing" in mine.recall_tool()({"search": "cobalt"})
    (ref,) = set(refs(other)) - set(refs(mine))
    assert "Nothing in this conversation has the reference" in mine.recall_tool()({"ref": ref})


@pytest.mark.parametrize("arguments", ["", "null", "[]", '{"ref": ""}', "{}", {"ref": 3}, {"search": " "}, None])
def test_whatever_a_model_writes_gets_an_answer(tmp_path: Path, arguments: Any) -> None:
    assert window(tmp_path, steps=5).recall_tool()(arguments).startswith("Give {")


def test_odd_but_clear_arguments_are_understood(tmp_path: Path) -> None:
    made = window(tmp_path)
    tool = made.recall_tool()
    (ref,) = refs(made)
    whole = tool({"ref": ref})
    assert tool(f'"{ref}"') == tool(f" {ref}\n") == tool({"ref": ref.upper(), "from": "x"}) == whole
    assert tool({"ref": ref, "from": 10_000}).endswith("there is none from 10,000 on.")


def test_an_archive_that_is_gone_is_an_answer_too(tmp_path: Path) -> None:
    made = window(tmp_path)
    tool = made.recall_tool()
    (ref,) = refs(made)
    for file in tmp_path.iterdir():
        file.unlink()
    assert tool({"ref": ref}).startswith(("What was taken out cannot be read", "Nothing in this conversation"))


def test_without_an_archive_there_is_no_tool() -> None:
    with pytest.raises(CtxPolicyError, match="this window has no archive; give one with archive="):
        policy().window(archive=False).recall_tool()
    with pytest.raises(CtxPolicyError, match="it is a function"):
        policy().window(archive=lambda records: None).recall_tool()


def test_the_schema_in_each_format() -> None:
    assert schema("openai-chat")["function"]["parameters"]["properties"].keys() == {"ref", "from", "search"}
    assert schema("openai-responses")["name"] == schema("anthropic")["name"] == "recall"
    assert schema("anthropic")["input_schema"]["type"] == "object"
    assert schema("gemini")["functionDeclarations"][0]["name"] == "recall"


@pytest.mark.parametrize("format", ["openai-chat", "anthropic", "openai-responses", "gemini"])
def test_a_window_gives_the_schema_of_its_format(tmp_path: Path, format: str) -> None:
    assert policy().window(archive=tmp_path, format=format).recall_tool().schema == schema(format)
