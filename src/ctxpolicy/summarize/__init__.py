"""Summarisers: what turns a span into a note. Anything callable with a SummaryRequest is one."""

from ctxpolicy.summarize.build import Summarizers, Unusable, declared, summarizer, summarizers, unusable
from ctxpolicy.summarize.request import Summarize, SummaryReply, SummaryRequest

__all__ = [
    "Summarize",
    "Summarizers",
    "SummaryReply",
    "SummaryRequest",
    "Unusable",
    "declared",
    "summarizer",
    "summarizers",
    "unusable",
]
