"""The session that `demo` plays: a person, an agent with three tools, and a night job that fails."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from typing import Any

Message = dict[str, Any]
Chat = Callable[[Sequence[Message]], Message]  # the list to send in, the assistant's message out

POLICY = """\
version: 1
name: demo
description: The default policy for a very small window, so that a short session fills it.
extends: [builtin:default]
budget: {window: 6000, ratio: 0.70, reserve: 600}
rules:
  - id: cap-tool-results
    at: append
    match: {role: tool, tokens: {gt: 500}}
    truncate: {max_tokens: 500, head: 0.4, tail: 0.6, keep_lines: 'ERROR'}
"""

SYSTEM = (
    "You are the engineer on call for a bicycle rental. Look into the question with your tools, one or two calls at a "
    "time, and answer in at most four sentences. Say what you found, not what you might do."
)
REQUESTS = (
    "The night job that settles rentals failed again. Please find out which step fails.",
    "Please answer in plain words, I have to pass it on to the accountants. Since when does it fail?",
    "Which rentals are left unsettled? I need their numbers.",
    "What does the code do at that place?",
    "Is there a test for it?",
    "Thank you. Sum up for my mail to the accountants: cause, rentals concerned, since when.",
)
STEPS = 5  # calls with tools in one turn at most


def _schema(name: str, what: str, argument: str, values: Sequence[str]) -> Message:
    properties = {argument: {"type": "string", "enum": list(values)}}
    parameters = {"type": "object", "properties": properties, "required": [argument]}
    return {"type": "function", "function": {"name": name, "description": what, "parameters": parameters}}


_DAYS = ("2025-03-01", "2025-03-02", "2025-03-03")
_PATHS = ("jobs/settle.py", "jobs/rates.py", "tests/test_settle.py")
TOOLS = [
    _schema("read_log", "The log of the night job on a day.", "day", _DAYS),
    _schema("read_file", "The text of a source file.", "path", _PATHS),
    _schema("run_tests", "Run the tests in a file and give what they print.", "path", _PATHS[2:]),
]


def _log(day: str) -> str:
    """A night's log: two hundred rentals, and on all days but the first some that fail."""
    lines = [f"{day} 02:00:00 INFO settle: 212 rentals to settle, rates of {day[:8]}01 loaded"]
    for n in range(212):
        rental = f"R-{48_000 + 7 * n}"
        at = f"{day} 02:{n // 60:02}:{n % 60:02}"
        if day != _DAYS[0] and n in (57, 131, 188):
            lines.append(f"{at} ERROR settle: {rental}: unknown rate 'cargo-weekend' in step price")
        else:
            lines.append(f"{at} INFO settle: {rental} priced, booked, receipt sent")
    failed = 0 if day == _DAYS[0] else 3
    return "\n".join([*lines, f"{day} 02:03:40 INFO settle: done, {212 - failed} settled, {failed} failed"])


_FILES = {
    _PATHS[0]: "def settle(rental, rates):\n    price = rates[rental.rate] * rental.hours\n    book(rental, price)\n"
    "    send_receipt(rental, price)\n\n\n# step price raises KeyError for a rate that rates.py does not know\n",
    _PATHS[1]: "RATES = {\n    'city': 3.0,\n    'city-weekend': 3.5,\n    'cargo': 6.0,\n}\n"
    "# 2025-03-02: the shop sells the rate cargo-weekend\n",
    _PATHS[2]: "def test_city():\n    assert settle(Rental('city', 2), RATES) == 6.0\n\n\n"
    "def test_cargo():\n    assert settle(Rental('cargo', 1), RATES) == 6.0\n",
}


def use(tool: str, arguments: str) -> str:
    """What a tool answers; a sentence where the call makes no sense."""
    try:
        given = json.loads(arguments)
        value = next(iter(given.values()))
    except (ValueError, AttributeError, StopIteration):
        return f"the arguments {arguments!r} are not what {tool} takes"
    if tool == "read_log" and value in _DAYS:
        return _log(value)
    if tool == "read_file" and value in _FILES:
        return _FILES[value]
    if tool == "run_tests" and value == _PATHS[2]:
        return "test_city PASSED\ntest_cargo PASSED\n2 passed, 0 failed; no test for cargo-weekend"
    return f"{tool} knows no {value!r}"


_Step = str | tuple[tuple[str, str], ...]  # what the scripted model says, or the calls it makes
_SCRIPT: tuple[_Step, ...] = (
    (("read_log", _DAYS[2]),),
    "Three of the 212 rentals fail in the step that works out the price: the rate 'cargo-weekend' is unknown there.",
    (("read_log", _DAYS[1]), ("read_log", _DAYS[0])),
    "Since the night of 2 March. On 1 March all rentals were settled.",
    (("read_log", _DAYS[2]),),
    "R-48399, R-48917 and R-49316 are unsettled, the same three in both nights.",
    (("read_file", _PATHS[0]), ("read_file", _PATHS[1])),
    "It looks up the hourly rate by its name. The list of rates has cargo and city-weekend, but not cargo-weekend, "
    "which the shop has sold since 2 March.",
    (("read_file", _PATHS[2]), ("run_tests", _PATHS[2])),
    "There are two tests, for city and cargo, and both pass. Nothing tests cargo-weekend.",
    "Cause: since 2 March the shop sells the rate cargo-weekend, which the night job does not know. Concerned are "
    "R-48399, R-48917 and R-49316; they failed in the nights of 2 and 3 March and are not settled.",
)


def scripted() -> Chat:
    """A model that says its lines, whatever it is sent."""
    lines = iter(_SCRIPT)
    ids = (f"call-{n}" for n in range(1, 1000))

    def chat(_: Sequence[Message]) -> Message:
        step = next(lines)
        if isinstance(step, str):
            return {"role": "assistant", "content": step}
        return {"role": "assistant", "content": None, "tool_calls": [_call(next(ids), *one) for one in step]}

    return chat


def _call(name: str, tool: str, value: str) -> Message:
    argument = "day" if tool == "read_log" else "path"
    return {"id": name, "type": "function", "function": {"name": tool, "arguments": json.dumps({argument: value})}}


def play(ask: Callable[[], Message]) -> Iterator[Message]:
    """The messages of the session in order. `ask` is called for each of the assistant's, with all others in place."""
    yield {"role": "system", "content": SYSTEM}
    for request in REQUESTS:
        yield {"role": "user", "content": request}
        for step in range(STEPS + 1):
            reply = ask()
            calls = reply.get("tool_calls") if step < STEPS else None
            yield reply if calls else {"role": "assistant", "content": reply.get("content") or "(no answer)"}
            if not calls:
                break
            for call in calls:
                function = call["function"]
                answer = use(function["name"], function["arguments"])
                yield {"role": "tool", "tool_call_id": call["id"], "content": answer}
