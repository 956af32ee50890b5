"""Gemini CLI: a later line replaces an earlier one with the same id; older versions write one document."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ctxpolicy.logs.model import Gathering, Session, amount, entries, mapping, scalars
from ctxpolicy.logs.source import Record, Source

_Kept = dict[str, tuple[int, dict[str, Any]]]  # id -> line and record, in order
_SAYS = ("user", "gemini")


def recognises(source: Source) -> bool:
    values = source.head or [source.document_or_none]
    return any(isinstance(v, dict) and {"sessionId", "projectHash"} <= set(v) for v in values)


def read(source: Source) -> Iterator[Session]:
    """The conversation, cut where a checkpoint left messages out."""
    kept: _Kept = {}
    cut = False
    for number, record in _records(source):
        checkpoint = mapping(record.get("$set")).get("messages")
        if isinstance(checkpoint, list):
            fresh = {str(m.get("id")): (number, m) for m in entries(checkpoint)}
            if any(key not in fresh for key, (_, m) in kept.items() if m.get("type") in _SAYS):
                yield from _session(source, kept, cut)
                cut = True
            kept = fresh
        elif "$rewindTo" in record:
            _rewind(kept, str(record["$rewindTo"]))
        elif record.get("type") in _SAYS:
            kept[str(record.get("id", number))] = (number, record)
        elif "sessionId" not in record:
            source.skip(record.get("type") or next(iter(record), "unknown"))
    yield from _session(source, kept, cut)


def _records(source: Source) -> Iterator[tuple[int, dict[str, Any]]]:
    records: Iterator[Record] = source.records() if source.head else iter([(1, source.document)])
    for number, record in records:
        if not isinstance(record, dict):
            source.skip("unknown")
            continue
        yield number, record
        if "sessionId" in record:
            yield from ((number, message) for message in entries(record.get("messages")) if isinstance(message, dict))


def _rewind(kept: _Kept, to: str) -> None:
    """Take back a message and all later ones; an unknown id takes back everything."""
    ids = list(kept)
    for key in ids[ids.index(to) if to in kept else 0 :]:
        del kept[key]


def _session(source: Source, kept: _Kept, cut: bool) -> Iterator[Session]:
    now = Gathering("gemini-cli", "gemini", source.name)
    if cut:
        now.compacted()
    for number, record in kept.values():
        if record.get("type") in _SAYS:
            _add(now, number, record)
        else:
            source.skip(record.get("type") or "unknown")
    if now.messages:
        yield now.session()


def _add(now: Gathering, number: int, record: dict[str, Any]) -> None:
    """A message, and after it the results of its calls, which stand in the same record."""
    fields, time = scalars(record), record.get("timestamp")
    calls = entries(record.get("toolCalls"))
    said = [*map(_thought, entries(record.get("thoughts"))), *_parts(record.get("content")), *map(_call, calls)]
    now.add({"role": "user" if record["type"] == "user" else "model", "parts": said}, number, fields, time)
    tokens = mapping(record.get("tokens"))
    output = amount(tokens.get("output")) + amount(tokens.get("thoughts"))
    now.used(tokens.get("input"), output, tokens.get("cached"))
    results = [part for call in calls for part in _parts(call.get("result"))]
    if results:
        now.add({"role": "user", "parts": results}, number, fields, time)


def _parts(content: Any) -> list[dict[str, Any]]:
    """A PartListUnion as parts."""
    if content is None or content == "":
        return []
    return [{"text": p} if isinstance(p, str) else p for p in (content if isinstance(content, list) else [content])]


def _thought(thought: dict[str, Any]) -> dict[str, Any]:
    told = [str(thought[key]) for key in ("subject", "description") if thought.get(key)]
    return {"text": "\n".join(told), "thought": True}


def _call(call: dict[str, Any]) -> dict[str, Any]:
    known = {key: call[key] for key in ("id", "name", "args") if call.get(key) is not None}
    return {"functionCall": known}
