"""A declarative policy engine for the working memory of LLM agents.

policy = ctxpolicy.load("policies/default.yaml")
window = policy.window(tools=tools, summarize=my_model)
window.append(message)
reply = client.chat(messages=window.prepare(), tools=tools)

The way of a message through the source: `api` gives a `window` (or `apply`, once) over a `session`, which holds the
list. A message that comes in is read by its `formats` module, counted (`tokens`) and made an item (`intake`); the
append rules see it (`arrivals`). Before a model call the `pipeline` runs the send rules, compiled by `compile` from
`policy/`, over the working list (`working`): each sees a `view` of it (units, pins, live tail), and one of the
`actions/` says what to do. Summaries and archive records are asked for, and `drivers` gets them from `summarize/` and
`archive/`. What the rules left is handed out (`prepared`), repaired where that is wanted (`outgoing`, `repairs/`),
with a `result` that says why. Around it: `state` between calls, `review/` and `simulate/` to look at policies,
`logs/` and `transcripts/` for files, `cli/`.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ctxpolicy.api import Policy, Row, load, loads
    from ctxpolicy.archive.restoring import restore
    from ctxpolicy.errors import ArchiveError, CtxPolicyError, MessageTooLarge, PolicyInvalid, TranscriptInvalid
    from ctxpolicy.result import Decision, Event, Removed, Result, Usage
    from ctxpolicy.summarize.request import SummaryReply, SummaryRequest
    from ctxpolicy.window import ManagedWindow

__version__ = "0.1.0"

_HOMES = {
    "ctxpolicy.api": ("Policy", "Row", "load", "loads"),
    "ctxpolicy.errors": ("ArchiveError", "CtxPolicyError", "MessageTooLarge", "PolicyInvalid", "TranscriptInvalid"),
    "ctxpolicy.archive.restoring": ("restore",),
    "ctxpolicy.result": ("Decision", "Event", "Removed", "Result", "Usage"),
    "ctxpolicy.summarize.request": ("SummaryReply", "SummaryRequest"),
    "ctxpolicy.window": ("ManagedWindow",),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}

__all__ = [
    "ArchiveError",
    "CtxPolicyError",
    "Decision",
    "Event",
    "ManagedWindow",
    "MessageTooLarge",
    "Policy",
    "PolicyInvalid",
    "Removed",
    "Result",
    "Row",
    "SummaryReply",
    "SummaryRequest",
    "TranscriptInvalid",
    "Usage",
    "load",
    "loads",
    "restore",
]


def __getattr__(name: str) -> Any:
    """Import a public name when it is first asked for: the command line's help should not wait for the engine.

    No module may have the name of one (`restore` lives in `restoring`): its import would take the name's place.
    """
    home = _HOME_OF.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(home), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
