"""Summarisers: what turns a span into a note. Anything callable with a SummaryRequest is one."""

from ctxpolicy.summarize.build import summarizer
from ctxpolicy.summarize.request import Summarize, SummaryReply, SummaryRequest

__all__ = ["Summarize", "SummaryReply", "SummaryRequest", "summarizer"]
