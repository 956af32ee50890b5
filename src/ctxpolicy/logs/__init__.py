"""Session logs: what agents, frameworks and test tools leave on disk, read as conversations of messages.

Each format has one module, with `recognises` and `read`; `registry` lists them. A log is never changed.
"""

from __future__ import annotations

from ctxpolicy.logs.model import Compaction, Session, Usage
from ctxpolicy.logs.open import LogFile, detect, open_inputs, read, read_log, written_back
from ctxpolicy.logs.registry import LOG_FORMATS, LogFormat

__all__ = [
    "LOG_FORMATS",
    "Compaction",
    "LogFile",
    "LogFormat",
    "Session",
    "Usage",
    "detect",
    "open_inputs",
    "read",
    "read_log",
    "written_back",
]
