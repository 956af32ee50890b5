"""The gate against notes made by hand, by `extract` and by a small model: which it lets pass, which it refuses.

`python tests/summaries/test_notes.py` prints the error rates that docs/summaries.md states.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from ctxpolicy.policy.model import KeepFacts
from ctxpolicy.summarize import SummaryReply, SummaryRequest
from ctxpolicy.summarize.gate import weigh
from ctxpolicy.summarize.prompt import PROMPT
from ctxpolicy.summarize.reply import Refused

TESTS = Path(__file__).parents[1]
NOTES: list[dict[str, Any]] = [
    json.loads(line) for line in (TESTS / "data" / "notes.jsonl").read_text(encoding="utf-8").splitlines()
]
KEEP = KeepFacts(0.5)


def asking(span: str, limit: int = 200) -> SummaryRequest:
    prompt = PROMPT.replace("{{ word_limit }}", str(limit)).replace("{{ nothing }}", "NOTHING")
    return SummaryRequest(prompt.replace("{{ span }}", span), span, limit, "compact", 3 * limit)


def passes(note: dict[str, Any], keep: KeepFacts | None) -> bool:
    return not isinstance(weigh(note["note"], asking(note["span"]), "NOTHING", keep), Refused)


def stated(keep: KeepFacts | None, notes: Sequence[dict[str, Any]], which: str) -> str:
    """The error rates on these notes, as a row of the table in the docs."""
    wrong = Counter(n["verdict"] for n in notes if passes(n, keep) != (n["verdict"] == "good"))
    of = Counter(n["verdict"] for n in notes)
    gate = "with `keep_facts`" if keep else "form alone"
    return f"| {which}, {gate} | {wrong['good']} of {of['good']} | {wrong['bad']} of {of['bad']} |"


def table() -> list[str]:
    held_out = [n for n in NOTES if n["origin"] == "held out"]
    seen = [n for n in NOTES if n["origin"] != "held out"]
    sets = ((seen, "thresholds set on them"), (held_out, "held out"))
    return [stated(keep, notes, which) for notes, which in sets for keep in (None, KEEP)]


def test_there_are_enough_of_both_kinds() -> None:
    assert Counter(n["verdict"] for n in NOTES)["good"] >= 30
    assert Counter(n["verdict"] for n in NOTES)["bad"] >= 30
    assert len({n["note"] for n in NOTES}) == len(NOTES)


@pytest.mark.parametrize("note", [n for n in NOTES if n["verdict"] == "good"], ids=lambda n: n["why"])
def test_a_good_note_passes(note: dict[str, Any]) -> None:
    assert weigh(note["note"], asking(note["span"]), "NOTHING", None) == weigh(
        note["note"], asking(""), "NOTHING", None
    )
    assert passes(note, KEEP)


@pytest.mark.parametrize("note", [n for n in NOTES if n["verdict"] == "bad"], ids=lambda n: n["why"])
def test_a_bad_note_is_refused_with_keep_facts(note: dict[str, Any]) -> None:
    assert not passes(note, KEEP)


def test_the_form_alone_cannot_tell_what_a_note_is_about() -> None:
    """Without `keep_facts` these pass, and only these: they read like notes."""
    missed = {n["why"] for n in NOTES if n["verdict"] == "bad" and passes(n, None)}
    assert missed == {
        "a joke",
        "about something else",
        "answers the user",
        "asks back",
        "facts that are not in the span",
        "goes on with the work",
        "goes on with the work, with code",
        "only a title",
        "plans on",
        "says nothing in particular",
        "the opposite of what happened",
        "vague",
        "writes the migration",
        "wrong figures",
    }


def test_the_docs_state_the_rates() -> None:
    text = (TESTS.parent / "docs" / "summaries.md").read_text(encoding="utf-8")
    for row in table():
        assert row in text


# ---- single rules -----------------------------------------------------------------------------

SPAN = "[1] tool result of bash:\n" + "\n".join(f"  line {n} says {n * 37} things of {n * 11} kinds" for n in range(60))
NOTE = "src/app.py was changed and the tests passed. The user wants port 8443, and deploy.sh must not be touched."


def verdict(note: str | SummaryReply, span: str = SPAN, previous: str | None = None) -> str | None:
    request = asking(span)
    if previous is not None:
        prompt = request.prompt + previous
        request = SummaryRequest(prompt, span, 200, "compact", 600, previous=previous)
    found = weigh(note, request, "NOTHING", None)
    return found.reason if isinstance(found, Refused) else None


def test_nothing_is_not_put_to_the_gate() -> None:
    assert verdict("NOTHING") is None
    assert not isinstance(weigh("**Nothing.**", asking(SPAN), "NOTHING", KeepFacts(1.0)), Refused)


def test_a_reply_that_took_all_it_was_allowed_was_cut() -> None:
    full = {"completion_tokens": 600}
    assert verdict(SummaryReply(NOTE, usage=full)) == "the reply was cut at its limit of 600 tokens"
    assert verdict(SummaryReply(NOTE, usage={"output_tokens": 600})) is not None
    assert verdict(SummaryReply(NOTE, usage={"completion_tokens": 599})) is None
    assert verdict(SummaryReply(NOTE, "stop", usage=full)) is None  # it says so, and may have been allowed more


def test_a_note_may_begin_with_the_users_words_in_quotes() -> None:
    task = "Move the importer to port 8443 and do not touch deploy.sh, whatever happens in between."
    request = asking(SPAN)
    request = SummaryRequest(f"The task: {task}\n{request.prompt}", SPAN, 200, "compact", 600)
    assert not isinstance(weigh(f'"{task}" {NOTE}', request, "NOTHING", None), Refused)
    assert isinstance(weigh(f"{task} {NOTE}", request, "NOTHING", None), Refused)


def test_a_copy_is_told_with_its_length() -> None:
    lines = [line.strip() for line in SPAN.split("\n")[10:20]]
    assert verdict(f"{NOTE} " + " ".join(lines)) == "the reply copies the span: 60 words in a row"
    quoted = '"; "'.join(lines[:3])
    assert verdict(f'{NOTE} "{quoted}"') is None
    assert verdict(f"{NOTE} " * 2 + " ".join(lines[:2])) is None


def test_a_merged_note_may_begin_as_the_earlier_one() -> None:
    assert verdict(f"{NOTE} Then the importer was restarted.", previous=NOTE) is None


def test_a_span_that_repeats_itself_may_be_told_of_in_its_way() -> None:
    same = "Gauge 1 read steady through the morning and nobody touched valve 1. "
    assert verdict(same * 8) is not None
    assert verdict(same * 8, span="[1] user:\n  " + "The gauge was read and found steady. " * 200) is None


if __name__ == "__main__":
    print("\n".join(table()))
