"""Made-up sessions with the sizes of real ones.

The size tables are quantiles of recorded sessions, in characters: of 200 customer-service runs (`service`), and of 28
sessions with an interactive coding agent (`coding`), where about 3 % of the tool results are over 20,000 characters and
hold 40 % of all tool text. User turns of `coding` are shorter than recorded ones, which had 22 calls on average, so
that a few hundred turns take seconds. `chat` has no source: people write much as in `service`, the answers are longer.
`computer` has none either: each result comes with a screenshot. Everything follows from the seed.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from ctxpolicy.simulate.chance import Maker, Quantiles

Message = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Profile:
    """A kind of agent. Sizes are quantiles in characters; `steps` of calls with tools in one user turn."""

    system: int
    user: Quantiles
    answer: Quantiles
    steps: Quantiles = ((0, 0), (1, 0))
    tools: tuple[str, ...] = ()
    arguments: Quantiles = ((0, 2), (1, 2))
    result: Quantiles = ((0, 1), (1, 1))
    structured: bool = False  # results are JSON
    screens: bool = False  # each result comes with a screenshot
    again: float = 0.0  # share of calls that repeat an earlier one, arguments and all
    parallel: float = 0.0  # share of steps with more than one call


PROFILES = {
    "chat": Profile(
        system=1500,
        user=((0, 10), (0.5, 95), (0.9, 400), (0.99, 2000), (1, 12000)),
        answer=((0, 40), (0.5, 900), (0.9, 2500), (1, 8000)),
    ),
    "coding": Profile(
        system=9000,
        user=((0, 5), (0.25, 43), (0.5, 78), (0.75, 162), (0.95, 566), (0.99, 12000), (1, 24000)),
        answer=((0, 40), (0.5, 120), (0.9, 650), (1, 6000)),
        steps=((0, 1), (0.25, 1), (0.5, 3), (0.75, 7), (0.95, 20), (1, 40)),
        tools=("bash", "read_file", "grep", "edit_file"),
        arguments=((0, 26), (0.25, 100), (0.5, 134), (0.75, 430), (0.95, 1500), (1, 8000)),
        result=((0, 10), (0.25, 100), (0.5, 290), (0.75, 1400), (0.95, 8500), (0.972, 20000), (0.999, 40000),
                (1, 80000)),
        again=0.06,
        parallel=0.1,
    ),
    "service": Profile(
        system=6200,
        user=((0, 10), (0.25, 63), (0.5, 92), (0.75, 130), (0.95, 190), (1, 320)),
        answer=((0, 60), (0.5, 270), (0.9, 600), (1, 1250)),
        steps=((0, 0), (0.5, 0.6), (0.75, 2), (0.95, 4), (1, 12)),
        tools=("get_order", "get_customer", "search_products", "update_order"),
        arguments=((0, 27), (0.5, 31), (0.75, 139), (0.95, 464), (1, 1000)),
        result=((0, 20), (0.25, 51), (0.5, 667), (0.9, 950), (0.98, 2700), (1, 8100)),
        structured=True,
        again=0.02,
    ),
    "computer": Profile(
        system=4000,
        user=((0, 20), (0.5, 95), (0.9, 400), (1, 2000)),
        answer=((0, 40), (0.5, 120), (0.9, 650), (1, 2000)),
        steps=((0, 1), (0.5, 6), (0.9, 15), (1, 40)),
        tools=("click", "type", "scroll", "screenshot"),
        arguments=((0, 26), (0.9, 60), (1, 400)),
        result=((0, 10), (0.7, 60), (0.9, 2000), (1, 12000)),
        screens=True,
    ),
}  # fmt: skip


def session(name: str, turns: int, seed: int) -> Iterator[Message]:
    """The messages of a session of `turns` user turns, in the format of OpenAI Chat Completions."""
    profile, maker = PROFILES[name], Maker(seed)
    yield {"role": "system", "content": maker.prose(profile.system)}
    made: list[tuple[str, str]] = []  # tool and arguments of earlier calls
    for turn in range(turns):
        opening = "This is the task for the whole session: " if turn == 0 else ""
        yield {"role": "user", "content": opening + maker.prose(maker.size(profile.user))}
        for step in range(maker.size(profile.steps)):
            yield from _step(profile, maker, made, f"{turn}-{step}")
        yield {"role": "assistant", "content": maker.prose(maker.size(profile.answer))}


def tools(name: str) -> list[Message]:
    """The tool schemas that the agent of a profile sends along."""
    return [_schema(tool) for tool in PROFILES[name].tools]


def _schema(tool: str) -> Message:
    parameters = {"type": "object", "properties": {"target": {"type": "string"}}, "required": ["target"]}
    what = f"{tool.replace('_', ' ').capitalize()}: give the target, as a path, an id or words to look for."
    return {"type": "function", "function": {"name": tool, "description": what, "parameters": parameters}}


def _step(profile: Profile, maker: Maker, made: list[tuple[str, str]], place: str) -> Iterator[Message]:
    """An assistant message with calls, and their results."""
    count = 2 + maker.below(2) if maker.happens(profile.parallel) else 1
    calls: list[Message] = []
    for n in range(count):
        if made and maker.happens(profile.again):
            tool, arguments = made[maker.below(len(made))]
        else:
            tool = profile.tools[maker.below(len(profile.tools))]
            arguments = json.dumps({"target": maker.prose(maker.size(profile.arguments) - 14)})
            made.append((tool, arguments))
        calls.append(
            {"id": f"call-{place}-{n}", "type": "function", "function": {"name": tool, "arguments": arguments}}
        )
    yield {"role": "assistant", "content": None, "tool_calls": calls}
    for call in calls:
        size = maker.size(profile.result)
        content: Any = maker.records(size) if profile.structured else maker.output(size)
        if profile.screens:
            content = [{"type": "text", "text": content}, maker.picture()]
        yield {"role": "tool", "tool_call_id": call["id"], "content": content}
