"""Summarisers: what turns a span into a note. Anything callable with a SummaryRequest is one."""

from ctxpolicy.summarize.build import Summarizers, declared, summarizer, summarizers
from ctxpolicy.summarize.request import Summarize, SummaryReply, SummaryRequest

__all__ = ["Summarize", "Summarizers", "SummaryReply", "SummaryRequest", "declared", "summarizer", "summarizers"]
