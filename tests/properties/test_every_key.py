"""Every declared key matters: change any scalar of these policies, and a run tells another story.

Together the policies use the whole language. What no run can tell (a name, a place on disk) must change `show`.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import ctxpolicy
from ctxpolicy import MessageTooLarge
from ctxpolicy.archive import MemoryArchive
from ctxpolicy.cli import main
from properties.scenarios import Scripted, is_valid, make_policy
from properties.transcripts import Wire

Doc = dict[str, Any]
Path_ = tuple[str | int, ...]

BUDGET: Doc = {"window": 1000, "ratio": 0.9, "reserve": 20, "counter": "chars", "tools_tokens": 15}
KEEP = {"role": "assistant", "newest": {"share": 0.1}}

POLICIES: dict[str, Doc] = {
    "arrival": {
        "budget": {**BUDGET, "media": {"image": 130, "audio": 70, "file": 90}},
        "rules": [
            {
                "id": "cap",
                "at": "append",
                "match": {"role": "tool", "tokens": {"gt": 60}, "contains": "line"},
                "truncate": {
                    "max_tokens": 80,
                    "max_lines": 12,
                    "head": 0.4,
                    "tail": 0.5,
                    "marker": "\n-- {{ chars }} left out, {{ lines }} lines, ref {{ ref }} --\n",
                    "keep_lines": "ERROR",
                },
            },
            {
                "id": "json",
                "at": "append",
                "match": {"tool": "list", "role": "tool"},
                "truncate": {"max_tokens": 60, "json": "text"},
            },
            {"id": "no", "at": "append", "match": {"share": {"gte": 0.5}}, "refuse": {"message": "Too much."}},
        ],
    },
    "pins": {
        "budget": BUDGET,
        "read_as": [
            {"match": {"role": "user", "regex": "^OBSERVATION"}, "as": "tool"},
            {"match": {"field": {"is_demo": True}}, "as": "injected"},
        ],
        "pins": [
            {"id": "first", "match": {"role": "user", "oldest": 1}},
            {"id": "words", "match": {"role": "user", "tokens": {"lt": 10}, "newest": {"tokens": 14}}},
            {"id": "opening", "match": {"opening": True}},
            {"id": "named", "match": {"name": "ana"}},
            {"id": "meta", "match": {"meta": {"pin": True}}},
            {"id": "notes", "match": {"tool": ["no*"], "newest": 1}},
            {"id": "young", "match": {"role": "tool", "turn_age": {"lt": 1}}},
            {"id": "errors", "match": {"all": [{"has": "error"}, {"not": {"contains": "line 3"}}]}},
            {"id": "either", "match": {"any": [{"regex": "(?i)keep me"}, {"share": {"gt": 0.5}}]}},
        ],
        "rules": [
            {
                "id": "evict",
                "at": "send",
                "when": {"pressure": {"gt": 0.65}},
                "evict": {"until": {"pressure": {"lt": 0.6}}, "keep": KEEP},
            },
        ],
    },
    "mask": {
        "budget": {**BUDGET, "media": {"image": 130}},
        "rules": [
            {
                "id": "again",
                "match": {"superseded": True},
                "mask": {"placeholder": "({{ tokens }} tokens of {{ tool }} are in the archive, ref {{ ref }})"},
            },
            {
                "id": "old",
                "when": {"results": {"gt": 2}},
                "match": {"role": "tool", "all_but_newest": 2},
                "mask": {"parts": ["results", "arguments"], "batch": 2, "until": {"tool_tokens": {"lt": 200}}},
            },
            {
                "id": "media",
                "match": {"has": ["image", "reasoning"]},
                "mask": {"parts": ["media", "reasoning"], "min_gain": 0.2},
            },
            {"id": "all", "when": {"messages": {"gt": 14}}, "evict": {"until": "all"}},
        ],
    },
    "compact": {
        "budget": BUDGET,
        "rules": [
            {
                "id": "compact",
                "when": {"pressure": {"gt": 0.5}, "not": {"messages": {"lt": 4}}},
                "compact": {
                    "until": {"used": {"lt": 300}},
                    "keep": {"role": "user", "newest": 2},
                    "span": {"min": 2, "max": 4},
                    "min_gain": {"tokens": 40},
                    "word_limit": 30,
                    "nothing": "NIL",
                    "prompt": "Condense {{ span }} in {{ word_limit }} words or say {{ nothing }}. {{ previous }}",
                    "input": {"max_tokens": 260},
                    "max_passes": 3,
                    "max_summaries": 1,
                    "summaries": "keep",
                    "breaker": 1,
                    "label": "[A note on {{ count }} messages, ref {{ ref }}]\nIt happened before:",
                    "marker": "[{{ count }} messages went from here, ref {{ ref }}]",
                },
            }
        ],
    },
    "evict": {
        "budget": BUDGET,
        "rules": [
            {"id": "cut", "at": "send", "match": "all", "truncate": {"max_tokens": 60}},
            {
                "id": "evict",
                "at": "send",
                "when": {"any": [{"headroom": {"lt": 100}}, {"turns": {"gt": 4}}]},
                "evict": {
                    "until": {"pressure": {"lt": 0.4}},
                    "marker": "[{{ count }} messages went from here, ref {{ ref }}]",
                },
            },
        ],
        "archive": {"on_error": "keep"},
    },
}
SHOWN: dict[str, Doc] = {
    "show": {
        "name": "shown",
        "description": "What no run can tell.",
        "budget": BUDGET,
        "summarizer": {"use": "extract", "timeout": 30, "max_tokens": 300},
        "reasoning": "keep",
        "archive": {"path": "somewhere"},
        "allow": {"CP401": "tried"},
        "rules": [],
    }
}


# ---- what is run -----------------------------------------------------------------------------------------------------


def called(call: str, tool: str, arguments: str = "{}") -> Wire:
    one = {"id": call, "type": "function", "function": {"name": tool, "arguments": arguments}}
    return {"role": "assistant", "content": None, "tool_calls": [one]}


def answered(call: str, text: str, **more: Any) -> Wire:
    return {"role": "tool", "tool_call_id": call, "content": text, **more}


def lines(count: int) -> str:
    return "\n".join(f"line {i} {'ERROR' if i == count // 2 else 'is fine'}" for i in range(count))


NOTE = "[9 earlier turns compacted, ref 3f9a12c0d4e1.]\nSummary of what happened:\n" + "It was built. " * 9
LONG = json.dumps({"text": "word " * 80})
WORK: list[Wire] = [
    {"role": "system", "content": "You are an agent."},
    {"role": "user", "content": "Fix the build, please."},
    called("c1", "bash", LONG),
    answered("c1", lines(30)),
    {"role": "user", "content": "No, use staging.", "name": "ana"},
    called("c2", "list"),
    answered("c2", json.dumps([{"id": i} for i in range(60)])),
    {"role": "user", "content": "OBSERVATION: " + lines(3)},
    {"role": "user", "content": "A demonstration.", "is_demo": True},
    called("c3", "notes", LONG),
    answered("c3", "keep me: " + lines(9)),
    called("c4", "bash", '{"cmd": "ls"}'),
    answered("c4", "line 3 " * 25, is_error=True),
    {"role": "assistant", "content": "It is a wall of text. " * 15, "reasoning_content": "hm, " * 50},
    {
        "role": "user",
        "content": [{"type": "text", "text": "Look at this."}, {"type": "image_url", "image_url": {"url": "x"}}],
    },
    called("c5", "bash", '{"cmd": "ls"}'),
    answered("c5", "line 4 " * 25, is_error=True),
    {"role": "user", "content": [{"type": "text", "text": "And these."}, {"type": "input_audio"}, {"type": "file"}]},
    called("c6", "bash", '{"cmd": "ls"}'),
    answered("c6", lines(6)),
    {"role": "assistant", "content": "Nearly done."},
    {"role": "user", "content": "Go on."},
]
OTHER: list[Wire] = [
    *WORK[:2],
    {"role": "user", "content": NOTE},
    WORK[2],
    answered("c1", "all is well"),
    *WORK[9:14],
    called("c7", "notes"),
    answered("c7", "another note " * 8),
    {"role": "user", "content": "KEEP ME: these are the words that matter, all of them. " * 3},
    *WORK[15:17],
    *({"role": "assistant", "content": f"Step {n} is done. " * 12} for n in range(6)),
    {"role": "user", "content": "x" * 1800},
]
SCRIPTS = (["good", "again"], ["nil"], ["nothing", "good"], ["blank", "good"])


class Full(MemoryArchive):
    def put(self, records: Any) -> None:
        raise OSError("disk full")


def story(doc: Doc) -> Any:
    """Everything that runs of a policy tell."""
    policy = make_policy(doc)
    told: list[Any] = []
    for messages in (WORK, WORK[:12], OTHER):
        for script in SCRIPTS:
            told.append(run(policy, messages, script))
    return told


def run(policy: ctxpolicy.Policy, messages: list[Wire], script: list[str]) -> Any:
    summarize = Scripted(script)
    told: list[Any] = []
    try:
        result = policy.apply(messages, summarize=summarize, archive=MemoryArchive(), meta={5: {"pin": True}})
        again = policy.apply(messages, summarize=summarize, archive=Full())
        later = policy.apply(messages, summarize=summarize, archive=MemoryArchive(), state=result.state)
        for r in (result, again, later):
            told.append((r.messages, r.decisions, r.events, r.usage))
    except MessageTooLarge as error:
        told.append(str(error))
    return [told, [r.prompt for r in summarize.requests]]


# ---- what is changed -------------------------------------------------------------------------------------------------


def scalars(value: Any, path: Path_ = ()) -> Iterator[tuple[Path_, Any]]:
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from scalars(inner, (*path, key))
    elif isinstance(value, list):
        for i, inner in enumerate(value):
            yield from scalars(inner, (*path, i))
    else:
        yield path, value


OTHERS: dict[str, tuple[Any, ...]] = {
    "at": ("append", "send"),
    "json": ("prune",),
    "counter": ("estimate",),
    "as": ("tool", "system", "injected"),
    "role": ("user", "tool", "assistant"),
    "has": ("image", "reasoning", "tool_call"),
    "parts": ("results", "arguments", "media", "reasoning"),
    "summaries": ("merge",),
    "on_error": ("drop",),
    "reasoning": ("strip_after_edit",),
    "until": ({"pressure": {"lt": 0.4}},),
    "match": ({"role": "tool"},),
    "use": ("none",),
}


def variants(path: Path_, value: Any) -> tuple[Any, ...]:
    """Other values for a scalar; one that the checks turn away is passed over."""
    key = next(k for k in reversed(path) if isinstance(k, str))
    if key in OTHERS:
        return tuple(v for v in OTHERS[key] if v != value)
    if isinstance(value, bool):
        return (not value,)
    if isinstance(value, int):
        return (value + 1, max(1, value - 1), value * 2, max(1, value // 2), value * 10)
    if isinstance(value, float):
        return (round(value / 2, 4), round(value * 1.05, 4), round(value * 1.9, 4))
    return (f"zz{value}", f"{value} indeed", value[:-1])


def changed(doc: Doc, path: Path_, value: Any) -> Doc:
    made = copy.deepcopy(doc)
    place = made
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = value
    return made


CASES = [(name, path, value) for name, doc in POLICIES.items() for path, value in scalars(doc)]


@pytest.mark.parametrize(("name", "path", "value"), CASES, ids=[f"{n}-{'.'.join(map(str, p))}" for n, p, _ in CASES])
def test_a_changed_scalar_changes_what_runs_tell(name: str, path: Path_, value: Any) -> None:
    doc = {"version": 1, **POLICIES[name]}
    before = stories(name)
    others = [d for d in (changed(doc, path, other) for other in variants(path, value)) if is_valid(d)]
    assert not others or any(story(other) != before for other in others), f"{value!r} may be anything: nothing reads it"


_STORIES: dict[str, Any] = {}


def stories(name: str) -> Any:
    if name not in _STORIES:
        _STORIES[name] = story({"version": 1, **POLICIES[name]})
    return _STORIES[name]


def test_what_no_run_tells_is_shown(tmp_path: Path) -> None:
    doc = {"version": 1, **SHOWN["show"]}
    before = shown(doc, tmp_path)
    for path, value in scalars(SHOWN["show"]):
        other = next(iter(variants(path, value)))
        assert shown(changed(doc, path, other), tmp_path) != before, path


def shown(doc: Doc, folder: Path) -> str:
    file = folder / "policy.yaml"
    file.write_text(json.dumps(doc))
    return CliRunner().invoke(main, ["show", str(file)]).output
