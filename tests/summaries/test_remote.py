"""`openai:` and `anthropic:` against a server that fails in every way known: what is asked, retried and told."""

from __future__ import annotations

import logging
import time
import traceback
from typing import Any

import pytest

from ctxpolicy.errors import CtxPolicyError
from ctxpolicy.policy.model import Summarizer
from ctxpolicy.summarize import SummaryReply, SummaryRequest, summarizer
from summaries import server as ways
from summaries.conftest import KEY
from summaries.server import NOTE, Server, fails, gives, page, says

ASKING = SummaryRequest("Write a note.", "the span", 200, "compact", 400)


def ask(use: str = "openai:tiny", **declared: Any) -> SummaryReply:
    made = summarizer(Summarizer(use, **declared))
    assert made is not None
    reply = made(ASKING)
    assert isinstance(reply, SummaryReply)
    return reply


def told(use: str = "openai:tiny", **declared: Any) -> str:
    """The error that asking ends in."""
    with pytest.raises(CtxPolicyError) as caught:
        ask(use, **declared)
    assert KEY not in "".join(traceback.format_exception(caught.value))
    return str(caught.value)


def test_openai_is_asked_and_answers(endpoint: Server) -> None:
    usage = {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120}
    assert ask() == SummaryReply(NOTE, "stop", usage=usage)
    (body,) = endpoint.asked
    assert body == {
        "path": "/v1/chat/completions",
        "model": "tiny",
        "messages": [{"role": "user", "content": "Write a note."}],
        "max_tokens": 400,
    }
    assert endpoint.headers[0]["authorization"] == f"Bearer {KEY}"


def test_anthropic_is_asked_and_answers(endpoint: Server) -> None:
    pytest.importorskip("anthropic", reason="the anthropic extra is not installed")
    endpoint.ways = [gives(ways.anthropic(NOTE))]
    usage = {"input_tokens": 70, "cache_read_input_tokens": 30, "output_tokens": 20}
    assert ask("anthropic:tiny") == SummaryReply(NOTE, "end_turn", "Hm.", usage=usage)
    (body,) = endpoint.asked
    assert (body["path"], body["model"], body["max_tokens"]) == ("/v1/messages", "tiny", 400)
    assert any(KEY in value for value in endpoint.headers[0].values())


def test_the_policy_says_where_and_which_key_and_how_much(endpoint: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    monkeypatch.setenv("TEAM_KEY", "sk-team")
    ask(base_url=endpoint.url, api_key_env="TEAM_KEY", max_tokens=5000)
    assert endpoint.headers[0]["authorization"] == "Bearer sk-team"
    assert endpoint.asked[0]["max_tokens"] == 5000


def test_a_reply_that_took_all_it_was_allowed_was_cut_whatever_the_server_says(endpoint: Server) -> None:
    assert ask(max_tokens=20).finish_reason == "length"
    assert ask(max_tokens=21).finish_reason == "stop"


def test_a_server_at_home_needs_no_key(endpoint: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY")
    assert ask().text == NOTE


@pytest.mark.parametrize(
    ("way", "says_"),
    [
        (fails(400, {"error": {"message": "context length exceeded"}}), "answered 400: context length exceeded"),
        (fails(401, {"error": {"message": f"bad key {KEY}"}}), "bad key [key]; check the key in OPENAI_API_KEY"),
        (fails(404), "answered 404: no luck; check the model 'tiny' and the base URL"),
        (fails(422, "what?"), 'answered 422: "what?"'),
        (page(), "answered with an HTML page (Bad Gateway), not JSON; check the base URL"),
        (gives({"choices": []}), 'has no reply in it: {"choices": []}'),
        (gives({"choices": [{}]}), "has no reply in it"),
        (gives(["no", KEY]), "has no reply in it"),
        (gives(3), "has no reply in it: 3"),
    ],
)
def test_what_no_second_try_would_mend_is_told_at_once(endpoint: Server, way: ways.Way, says_: str) -> None:
    endpoint.ways = [way, says(NOTE)]
    said = told()
    assert said.startswith("openai:tiny: ")
    assert says_ in said
    assert len(endpoint.asked) == 1


@pytest.mark.parametrize(
    ("way", "says_"),
    [
        (fails(429), "answered 429: no luck"),
        (fails(500), "answered 500: no luck"),
        (page(502), "answered 502: an HTML page (Bad Gateway)"),
        (ways.half, "broke off"),
        (ways.closes, "cannot reach"),
    ],
)
def test_what_may_pass_is_tried_again(endpoint: Server, way: ways.Way, says_: str) -> None:
    endpoint.ways = [way, way, says(NOTE)]
    assert ask().text == NOTE
    assert len(endpoint.asked) == 3
    endpoint.ways = [way]
    said = told(retries=1)
    assert says_ in said
    assert said.endswith(", 2 times")
    assert len(endpoint.asked) == 5


def test_a_server_that_is_not_there_is_told_with_its_address() -> None:
    pytest.importorskip("openai", reason="the openai extra is not installed")
    said = told(base_url="http://127.0.0.1:9/v1", retries=0)
    assert said.startswith("openai:tiny: cannot reach http://127.0.0.1:9/v1: ")


def test_retry_after_is_obeyed(endpoint: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    waits: list[float] = []
    monkeypatch.setattr(time, "sleep", waits.append)
    date = "Wed, 21 Oct 2015 07:28:00 GMT"
    endpoint.ways = [
        fails(429, Retry_After="7"), fails(503, Retry_After_Ms="250"), fails(429, Retry_After=date), says(NOTE)
    ]  # fmt: skip
    ask(retries=3)
    assert waits == [7, 0.25, 0]


def test_a_wait_beyond_the_time_out_is_not_begun(endpoint: Server) -> None:
    endpoint.ways = [fails(429, Retry_After="90")]
    assert told().endswith("answered 429: no luck; no time is left for another try")
    assert len(endpoint.asked) == 1


@pytest.mark.parametrize("way", [ways.hangs, ways.stops, ways.trickles])
def test_the_time_out_covers_all_of_it(endpoint: Server, way: ways.Way) -> None:
    endpoint.ways = [way]
    start = time.monotonic()
    assert told(timeout=0.2).endswith("gave no reply within 0.2 seconds")
    assert time.monotonic() - start < 3
    assert len(endpoint.asked) == 1


def test_an_endless_answer_is_not_read_to_its_end(endpoint: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ctxpolicy.summarize.remote._MOST", 1000)
    endpoint.ways = [says("word " * 1000)]
    assert "larger than 1,000 bytes" in told()


def test_the_key_is_in_no_log_error_or_reply(endpoint: Server, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    endpoint.ways = [fails(500, {"error": {"message": KEY}}), says(f"The key is {KEY}.")]
    made = summarizer("openai:tiny")
    assert made is not None
    assert made(ASKING).text == "The key is [key]."  # type: ignore[union-attr]
    assert KEY not in repr(made)
    endpoint.ways = [ways.closes]
    told()
    assert endpoint.headers[0]["authorization"] == f"Bearer {KEY}"  # so there was one to be seen
    assert caplog.records
    assert not any(KEY in record.getMessage() for record in caplog.records)


def test_a_password_in_the_address_is_not_told() -> None:
    pytest.importorskip("openai", reason="the openai extra is not installed")
    said = told(base_url="http://me:secret@127.0.0.1:9/v1?token=secret", retries=0)
    assert "secret" not in said
    assert "http://127.0.0.1:9/v1" in said


@pytest.mark.parametrize(("use", "env"), [("openai:x", "OPENAI_API_KEY"), ("anthropic:x", "ANTHROPIC_API_KEY")])
def test_without_a_key_the_error_says_which_to_set(monkeypatch: pytest.MonkeyPatch, use: str, env: str) -> None:
    pytest.importorskip(use.partition(":")[0], reason="the extra is not installed")
    for name in (env, env.replace("API_KEY", "BASE_URL")):
        monkeypatch.delenv(name, raising=False)
    assert told(use) == f"{use} needs a key: set the environment variable {env}"
    assert told(use, api_key_env="MINE", base_url="http://127.0.0.1/v1").endswith("variable MINE")


def test_without_the_sdk_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ctxpolicy.summarize.remote.find_spec", lambda name: None)
    assert told() == "openai:tiny needs the openai package: pip install 'ctxpolicy[openai]'"
