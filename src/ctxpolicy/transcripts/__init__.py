"""Transcript files: reading conversations from any of the known shapes, and writing them back in the same shape.

`read` gives the parts of a file in order, `read_lines` leaves the lines that hold a conversation each unread; `Output`
takes their text, changed or not. Where in a JSON value the messages stand is decided in `layout` alone: a new file
shape is added there.
"""

from __future__ import annotations

from ctxpolicy.transcripts.model import Broken, Conversation, Part
from ctxpolicy.transcripts.output import Output
from ctxpolicy.transcripts.reader import STDIN, Unread, read, read_lines

__all__ = ["STDIN", "Broken", "Conversation", "Output", "Part", "Unread", "read", "read_lines"]
