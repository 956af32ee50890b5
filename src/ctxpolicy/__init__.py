"""A declarative policy engine for the working memory of LLM agents.

    policy = ctxpolicy.load("policies/default.yaml")
    window = policy.window(tools=tools, summarize=my_model)
    window.append(message)
    reply = client.chat(messages=window.prepare(), tools=tools)
"""

from ctxpolicy.api import Policy, Row, load, loads
from ctxpolicy.errors import ArchiveError, CtxPolicyError, MessageTooLarge, PolicyInvalid, TranscriptInvalid
from ctxpolicy.restore import restore
from ctxpolicy.result import Decision, Event, Removed, Result, Usage
from ctxpolicy.summarize.request import SummaryReply, SummaryRequest
from ctxpolicy.window import ManagedWindow

__version__ = "0.1.0"

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
