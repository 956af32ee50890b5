"""A note in place of a model's, for runs that only want to know what a policy would do."""

from __future__ import annotations

from itertools import islice, product
from string import ascii_lowercase

from ctxpolicy.summarize.request import SummaryRequest


def assumed(request: SummaryRequest) -> str:
    """All the words that the rule allows, no two alike: a note that repeats itself would be turned away."""
    words = product(ascii_lowercase, repeat=4)
    return " ".join(map("".join, islice(words, request.word_limit)))
