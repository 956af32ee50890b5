"""Claude Code: one line for each content block, in a tree of `parentUuid`, cut at compaction boundaries.

The newest line that is not a side chain's is the leaf; the way from it to the root is what was said. A model's reply
is several lines with one `message.id`, and the results of parallel calls hang on different ones of them, so the way
alone misses some: they are joined again by that id. The lines are read twice, first without their content, so that
only one conversation is held at a time.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import msgspec

from ctxpolicy.errors import TranscriptInvalid
from ctxpolicy.logs import chat
from ctxpolicy.logs.model import Gathering, Session, mapping, scalars, snaked
from ctxpolicy.logs.source import Line, Source

_MESSAGES = ("user", "assistant")
_KEYS = {"uuid", "sessionId", "parentUuid", "isSidechain", "leafUuid", "messageId", "snapshot"}
_RECORDS = (*_MESSAGES, "system", "progress", "attachment", "summary", "file-history-snapshot", "queue-operation")


class _Block(msgspec.Struct):
    type: str = ""
    tool_use_id: str | None = None


class _Message(msgspec.Struct):
    id: str | None = None
    content: str | list[_Block] | None = None


class _Node(msgspec.Struct, rename="camel"):
    """A line without what it says; `line` is where that stands."""

    type: str = ""
    subtype: str | None = None
    uuid: str | None = None
    parent_uuid: str | None = None
    logical_parent_uuid: str | None = None
    is_sidechain: bool | None = False
    is_meta: bool | None = False
    agent_id: str | None = None
    team_name: str | None = None
    message: _Message | None = None
    line: Line | None = None

    @property
    def number(self) -> int:
        return self.line.number if self.line else 0

    @property
    def says(self) -> bool:
        return self.type in _MESSAGES and self.message is not None

    @property
    def answers(self) -> bool:
        """Whether it holds a tool result."""
        content = self.message.content if self.message else None
        return self.type == "user" and isinstance(content, list) and any(b.type == "tool_result" for b in content)


_node = msgspec.json.Decoder(_Node)


class _Tangle:
    """All that was said: the lines of each reply by its message id, and those with results by the line they hang on."""

    def __init__(self, said: Sequence[_Node]) -> None:
        self.said = said
        self.replies: dict[str, list[_Node]] = {}
        self.results: dict[str | None, list[_Node]] = {}
        for node in said:
            if node.type == "assistant" and node.message and node.message.id:
                self.replies.setdefault(node.message.id, []).append(node)
            elif node.answers:
                self.results.setdefault(node.parent_uuid, []).append(node)


def recognises(source: Source) -> bool:
    return any(isinstance(v, dict) and v.get("type") in _RECORDS and not _KEYS.isdisjoint(v) for v in source.head)


def read(source: Source) -> Iterator[Session]:
    """The main conversation, cut where it was compacted, then each sub-agent's."""
    nodes = list(_nodes(source))
    tree: dict[str | None, _Node] = {node.uuid: node for node in nodes if node.uuid}
    said = [node for node in nodes if node.says]
    main = [node for node in said if not node.is_sidechain]
    if main:
        leaf = next((n for n in reversed(main) if not n.is_meta and not n.team_name), main[-1])
        yield from _conversation(source, leaf, tree, _Tangle(main))
    for branch in _side_chains(said, tree):
        yield from _conversation(source, branch[-1], tree, _Tangle(branch))


def _nodes(source: Source) -> Iterator[_Node]:
    """Every line as a node, the records that say nothing counted."""
    fault: TranscriptInvalid | None = None
    for line in source.lines():
        if fault is not None:
            source.faults.append(fault)
            fault = None
        try:
            node = _node_of(source, line)
        except TranscriptInvalid as error:
            fault = error
            continue
        node.line = Line(line.number, line.offset, b"")
        if not node.says and not _is_boundary(node):
            source.skip(f"{node.type}:{node.subtype}" if node.subtype else node.type or "unknown")
        yield node
    if fault is not None:
        source.tear(fault)


def _node_of(source: Source, line: Line) -> _Node:
    try:
        if line.whole and line.number > 1:
            return _node.decode(line.data)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        pass  # what is wrong with it is told below, if anything is
    value = source.value(line)
    try:
        return msgspec.convert(value, _Node)
    except msgspec.ValidationError:
        return _Node("unknown")


def _is_boundary(node: _Node) -> bool:
    return node.type == "system" and node.subtype == "compact_boundary"


def _side_chains(said: Sequence[_Node], tree: dict[str | None, _Node]) -> Iterable[list[_Node]]:
    """The lines of sub-agents, by agent, or by root where they name none."""
    chains: dict[str, list[_Node]] = {}
    for node in said:
        if node.is_sidechain:
            root = node
            while root.agent_id is None and root.parent_uuid in tree and tree[root.parent_uuid].is_sidechain:
                root = tree[root.parent_uuid]
            chains.setdefault(node.agent_id or root.uuid or "", []).append(node)
    return chains.values()


def _conversation(source: Source, leaf: _Node, tree: dict[str | None, _Node], tangle: _Tangle) -> Iterator[Session]:
    """What lies on the way to a leaf, a session for each piece between compactions, oldest first."""
    before: list[_Node] = []
    for boundary, way in _pieces(leaf, tree, tangle.said):
        nodes = _rejoined(way, tangle)
        gathering = Gathering("claude-code", "anthropic", source.name)
        if boundary is not None:
            nodes = _open_again(source, boundary, nodes, before, gathering)
        before = nodes
        _gather(source, nodes, gathering)
        if gathering.messages:
            yield gathering.session()


def _open_again(
    source: Source, boundary: _Node, nodes: list[_Node], before: list[_Node], gathering: Gathering
) -> list[_Node]:
    """Note a compaction; the messages that were preserved stand behind the summary."""
    record = _record(source, boundary)
    told = mapping(record.get("compactMetadata") or record.get("compact_metadata"))
    facts = snaked(told)
    preserved = _preserved(facts.get("preserved_segment") or facts.get("preserved_messages"), before)
    gathering.compacted(facts.get("trigger"), facts.get("pre_tokens"), facts.get("post_tokens"), len(preserved))
    return [*nodes[:1], *preserved, *nodes[1:]]


def _preserved(segment: Any, before: Sequence[_Node]) -> list[_Node]:
    """The nodes from the head to the tail of a preserved segment."""
    if not isinstance(segment, dict):
        return []
    ends = snaked(segment)
    places = {node.uuid: place for place, node in enumerate(before)}
    first, last = places.get(ends.get("head_uuid")), places.get(ends.get("tail_uuid"))
    return list(before[first : last + 1]) if first is not None and last is not None else []


def _pieces(
    leaf: _Node, tree: dict[str | None, _Node], said: Sequence[_Node]
) -> list[tuple[_Node | None, list[_Node]]]:
    """The way from the root to the leaf, cut at boundaries; each piece with the boundary it begins with."""
    pieces: list[tuple[_Node | None, list[_Node]]] = []
    way: list[_Node] = []
    seen: set[str | None] = set()
    node: _Node | None = leaf
    while node is not None and node.uuid not in seen:
        seen.add(node.uuid)
        if _is_boundary(node):
            pieces.append((node, way[::-1]))
            way = []
            node = tree.get(node.logical_parent_uuid) or _last_before(node, said)
        else:
            way.append(node)
            node = tree.get(node.parent_uuid)
    return [(None, way[::-1]), *pieces[::-1]]


def _last_before(boundary: _Node, said: Sequence[_Node]) -> _Node | None:
    return next((node for node in reversed(said) if node.number < boundary.number), None)


def _rejoined(way: Sequence[_Node], tangle: _Tangle) -> list[_Node]:
    """What was said on the way, with the other blocks of its replies and the results that hang on them."""
    kept = {node.number: node for node in way if node.says}
    replies = [node for node in kept.values() if node.type == "assistant"]
    for reply in replies[:]:
        if reply.message and reply.message.id:
            replies += tangle.replies.get(reply.message.id, ())
    results = [node for reply in replies for node in tangle.results.get(reply.uuid, ())]
    kept |= {node.number: node for node in (*replies, *results)}
    return [kept[number] for number in sorted(kept)]


def _record(source: Source, node: _Node) -> dict[str, Any]:
    line = node.line
    assert line is not None  # every node has one
    value = source.value(Line(line.number, line.offset, source.line_at(line)))
    return value if isinstance(value, dict) else {}


def _gather(source: Source, nodes: Sequence[_Node], gathering: Gathering) -> None:
    """The messages of these lines, the blocks of one reply in one message."""
    replies: dict[str, int] = {}
    usage: dict[int, Any] = {}
    for node in nodes:
        record = _record(source, node)
        said, fields, time = mapping(record.get("message")), scalars(record), record.get("timestamp")
        place = replies.get(said.get("id") or "")
        if place is None or node.type != "assistant":
            place = len(gathering.messages)
            replies[said.get("id") or ""] = place
            message = {"role": said.get("role") or node.type, "content": said.get("content")}
            gathering.add(message, node.number, fields, time)
        else:
            gathering.messages[place]["content"] = _blocks(gathering.messages[place]) + _blocks(said)
        if isinstance(said.get("usage"), dict):
            usage[place] = said["usage"]
    for place, used in sorted(usage.items()):
        gathering.used(*chat.usage(used), index=place)


def _blocks(message: dict[str, Any]) -> list[Any]:
    content = message.get("content")
    return content if isinstance(content, list) else [{"type": "text", "text": content}] if content else []
