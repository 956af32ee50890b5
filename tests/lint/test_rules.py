"""Every rule finds what it is for, at its place, and says what the provider would and what to do."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from ctxpolicy.formats import FORMATS
from ctxpolicy.lint import level_of, lint, rules
from ctxpolicy.lint.unjudged import JUDGED_AS, NOT_JUDGED

from .golden import CITED, GOLDEN, HI, PAGES, PARTS, REASON, TOKEN, A, U, asks, said, tells, text, thinking, turn

RULES = Path(__file__).resolve().parents[2].parent / "shared" / "provider_rules.md"


@pytest.mark.parametrize("code", GOLDEN)
def test_found_at_its_place(code: str) -> None:
    name, messages, place, request = GOLDEN[code]
    found = lint(messages, name, tools=request.get("tools"), request=request)
    assert place in [(fault.index, fault.path) for fault in found if fault.code == code], found


def test_every_rule_has_its_case() -> None:
    assert set(GOLDEN) == {code for name in FORMATS for code in rules(name)}


@pytest.mark.parametrize("name", FORMATS)
def test_rules_say_what_a_person_needs(name: str) -> None:
    for rule in rules(name).values():
        assert rule.level in ("error", "warning", "route")
        assert rule.title
        assert rule.error
        assert rule.do
        assert not rule.do.endswith(".")


def test_less_strict_where_the_provider_is() -> None:
    """Arguments that are no JSON are a fault of the model, which OpenAI passes on and Anthropic cannot hold."""
    bad = {"id": "a", "type": "function", "function": {"name": "f", "arguments": "{"}}
    (fault,) = [
        f
        for f in lint([{"role": "user", "content": "x"}, {"role": "assistant", "tool_calls": [bad]}])
        if f.code == "X-09"
    ]
    assert level_of(fault, "openai-chat") == "route"
    name, messages, _, _ = GOLDEN["X-09"]
    (fault,) = lint(messages, name)[:1]
    assert level_of(fault, name) == "error"


def test_what_is_still_in_flight_is_no_fault() -> None:
    for name, messages in (
        ("anthropic", GOLDEN["ANT-01"][1][:-1]),
        ("openai-chat", GOLDEN["OAC-01"][1][:-1]),
        ("openai-responses", GOLDEN["OAR-01"][1][:-1]),
        ("gemini", GOLDEN["GEM-03"][1][:-1]),
    ):
        assert not [fault for fault in lint(messages, name) if level_of(fault, name) == "error"]


SIGNATURE = "EqQB" * 40  # as long as the shortest that Anthropic makes


def codes(messages: list[Any], name: str) -> set[str]:
    return {fault.code for fault in lint(messages, name)}


@pytest.mark.parametrize("cut", [SIGNATURE[:-1], SIGNATURE[:100] + "...", SIGNATURE[:100] + "é" * 60])
def test_a_signature_that_was_cut(cut: str) -> None:
    hidden = {"type": "redacted_thinking", "data": cut}
    for block in (thinking(cut), hidden):
        assert "ANT-10" in codes([HI, said(A, [block, text("x")]), HI], "anthropic")
    for whole in (thinking(SIGNATURE), {**hidden, "data": SIGNATURE}, thinking("a stand-in")):
        assert "ANT-10" not in codes([HI, said(A, [whole, text("x")]), HI], "anthropic")


@pytest.mark.parametrize(
    ("sealed", "is_cut"),
    [(TOKEN, False), (TOKEN[:50] + TOKEN, True), (TOKEN[:-4], True), ("rsn_5ZVr", False), ("REDACTED", False)],
)
def test_encrypted_content_of_openai_is_a_whole_token(sealed: str, is_cut: bool) -> None:
    found = codes([HI, {**REASON, "encrypted_content": sealed}, said(A, "x")], "openai-responses")
    assert ("OAR-09" in found) is is_cut


@pytest.mark.parametrize("signature", ["c2lnbmVk", "c2lnbg==", "c2lnbg", "_-_-", b"signed"])
def test_signatures_that_gemini_can_read(signature: Any) -> None:
    messages = [turn(U, PARTS), turn("model", asks(thoughtSignature=signature)), turn(U, tells())]
    assert not codes(messages, "gemini") & {"GEM-09", "GEM-10"}


def test_citations_of_what_is_there() -> None:
    """In the same list, in a result too; other kinds of citation name no number."""
    other = text("x", citations=[{"type": "web_search_result_location", "url": "https://example.org"}])
    for cited in (CITED, other):
        assert "ANT-29" not in codes([said(U, [PAGES, PAGES]), said(A, [cited]), HI], "anthropic")
    found = {"type": "tool_result", "tool_use_id": "t", "content": [PAGES]}
    asked = said(A, [{"type": "tool_use", "id": "t", "name": "look", "input": {}}])
    assert "ANT-29" not in codes([said(U, [PAGES]), asked, said(U, [found]), said(A, [CITED]), HI], "anthropic")


def test_a_list_of_more_bytes_than_anthropic_takes() -> None:
    messages = [said(U, "x" * (1 << 20)), said(A, "y")] * 33
    (fault,) = [fault for fault in lint(messages, "anthropic") if fault.code == "ANT-27"]
    assert fault.index == 62


def test_only_work_before_a_compaction_item_is_dead_weight() -> None:
    """The compaction endpoint returns what the user said, then the item."""
    sealed = {"type": "compaction", "encrypted_content": TOKEN}
    assert codes([HI, HI, sealed, HI], "openai-responses") == set()


@pytest.mark.skipif(not RULES.is_file(), reason="the list of provider rules is not here")
def test_every_rule_that_is_known_is_judged_or_named() -> None:
    known = set(re.findall(r"^\| ((?:X|ANT|OAC|OAR|GEM)-\d\d) \|", RULES.read_text(encoding="utf-8"), re.MULTILINE))
    judged = {code for name in FORMATS for code in rules(name)}
    assert len(known) > 90
    assert known - judged == set(JUDGED_AS) | set(NOT_JUDGED)
    assert not set(JUDGED_AS) & set(NOT_JUDGED)
    assert {code for told in JUDGED_AS.values() for code in told} <= judged
    assert all(why and not why.endswith(".") for why in NOT_JUDGED.values())
