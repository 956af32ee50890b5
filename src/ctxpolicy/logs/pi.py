"""pi: entries one a line, newer ones in a tree; a compaction names the first entry that it kept.

pi's own messages are turned into Anthropic's, which hold everything that they do.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from ctxpolicy.logs.model import Gathering, Session, amount, name, scalars
from ctxpolicy.logs.source import Source

_Entry = tuple[int, int, dict[str, Any]]  # place among the entries, line, record
_SIGNS = ("cwd", "parentSession", "branchedFrom", "version", "provider")
# How pi tells the model of a compaction and of a branch left (packages/coding-agent, messages.ts).
_SUMMARY = (
    "The conversation history before this point was compacted into the following summary:\n\n<summary>\n{}\n</summary>"
)
_BRANCH = "The following is a summary of a branch that this conversation came back from:\n\n<summary>\n{}\n</summary>"


def recognises(source: Source) -> bool:
    return any(
        isinstance(v, dict) and v.get("type") == "session" and not set(_SIGNS).isdisjoint(v) for v in source.head
    )


def read(source: Source) -> Iterator[Session]:
    """The conversation to the newest entry, a session for each piece between compactions."""
    entries = _newest_branch(
        [(place, line, record) for place, (line, record) in enumerate(source.records()) if isinstance(record, dict)]
    )
    piece: list[_Entry] = []
    compaction: _Entry | None = None
    for entry in entries:
        if entry[2].get("type") != "compaction":
            piece.append(entry)
            continue
        yield from _session(source, piece, compaction)
        piece, compaction = _kept(piece, entry[2]), entry
    yield from _session(source, piece, compaction)


def _newest_branch(entries: list[_Entry]) -> list[_Entry]:
    """The way from the root to the newest entry. Files of the first version have no ids: all of it."""
    by_id = {name(entry[2].get("id")): entry for entry in entries if entry[2].get("type") != "session"}
    if not any("parentId" in record for _, _, record in entries):
        return entries
    way: list[_Entry] = []
    at: _Entry | None = entries[-1]
    while at is not None and at not in way[-1:]:
        way.append(at)
        at = by_id.get(name(at[2].get("parentId")))
        if len(way) > len(entries):
            break  # a ring of parents
    return way[::-1]


def _kept(piece: Sequence[_Entry], record: dict[str, Any]) -> list[_Entry]:
    """The entries that a compaction kept."""
    first, place = record.get("firstKeptEntryId"), record.get("firstKeptEntryIndex")
    if first is not None:
        start = next((i for i, entry in enumerate(piece) if entry[2].get("id") == first), len(piece))
        return list(piece[start:])
    return [entry for entry in piece if isinstance(place, int) and entry[0] >= place]


def _session(source: Source, piece: Sequence[_Entry], compaction: _Entry | None) -> Iterator[Session]:
    now = Gathering("pi", "anthropic", source.name)
    until = -1
    if compaction is not None:
        until, line, record = compaction
        carried = sum(place < until and _said(entry) is not None for place, _, entry in piece)
        now.compacted("auto", record.get("tokensBefore"), carried=carried)
        now.add(_user(_SUMMARY.format(record.get("summary"))), line, scalars(record), record.get("timestamp"))
    for place, line, record in piece:
        message = _said(record)
        if message is not None:
            now.add(message, line, scalars(record), record.get("timestamp"))
            _use(now, record["message"] if record.get("type") == "message" else {})
        elif place > until:
            source.skip(record.get("type") or "unknown")
    if now.messages:
        yield now.session()


def _use(now: Gathering, message: dict[str, Any]) -> None:
    used = message.get("usage")
    if isinstance(used, dict):
        cached, written = amount(used.get("cacheRead")), amount(used.get("cacheWrite"))
        now.used(amount(used.get("input")) + cached + written, used.get("output"), cached, written)


def _said(record: dict[str, Any]) -> dict[str, Any] | None:
    """What an entry says to the model; None where it says nothing."""
    kind, message = record.get("type"), record.get("message")
    if kind == "branch_summary":
        return _user(_BRANCH.format(record.get("summary")))
    if kind == "custom_message":
        return {"role": "user", "content": _content(record.get("content"))}
    if kind != "message" or not isinstance(message, dict):
        return None
    role, content = message.get("role"), _content(message.get("content"))
    if role in ("user", "assistant"):
        return {"role": role, "content": content}
    if role == "toolResult":
        block = {"type": "tool_result", "tool_use_id": message.get("toolCallId"), "content": content}
        return {"role": "user", "content": [{**block, "is_error": True} if message.get("isError") else block]}
    if role == "bashExecution":
        return _user(f"Ran `{message.get('command')}`\n```\n{message.get('output') or '(no output)'}\n```")
    return {"role": "user", "content": content} if message.get("content") else None


def _user(text: str) -> dict[str, Any]:
    return {"role": "user", "content": text}


def _content(content: Any) -> Any:
    return [_block(block) for block in content] if isinstance(content, list) else content


def _block(block: Any) -> Any:
    """A block of pi's as one of Anthropic's; what is not known stays as it is."""
    kind = block.get("type") if isinstance(block, dict) else None
    if kind == "toolCall":
        return {"type": "tool_use", "id": block.get("id"), "name": block.get("name"), "input": block.get("arguments")}
    if kind == "thinking":
        signature = {"signature": block["thinkingSignature"]} if block.get("thinkingSignature") else {}
        return {"type": "thinking", "thinking": block.get("thinking"), **signature}
    if kind == "image" and "data" in block:
        return {
            "type": "image",
            "source": {"type": "base64", "media_type": block.get("mimeType"), "data": block["data"]},
        }
    return block
