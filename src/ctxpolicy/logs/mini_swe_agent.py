"""mini-swe-agent trajectories: plain chat messages; the reply of the provider stands in each one's `extra`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ctxpolicy.logs.in_place import sessions
from ctxpolicy.logs.model import Session
from ctxpolicy.logs.source import Source


def recognises(source: Source) -> bool:
    value = source.document_or_none
    return isinstance(value, dict) and (
        str(value.get("trajectory_format", "")).startswith("mini-swe-agent")
        or (isinstance(value.get("info"), dict) and "mini_version" in value["info"])
    )


def read(source: Source) -> Iterator[Session | str]:
    """The one conversation."""
    return sessions(source, "mini-swe-agent", _used)


def _used(message: Any) -> Any:
    extra = message.get("extra")
    response = extra.get("response") if isinstance(extra, dict) else None
    return response.get("usage") if isinstance(response, dict) else None
