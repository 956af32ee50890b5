"""Amazon Bedrock's Converse messages as Anthropic's, which have a block for each of theirs."""

from __future__ import annotations

import json
from typing import Any

from ctxpolicy.logs.model import entries, mapping


def message(wire: dict[str, Any]) -> dict[str, Any]:
    """A Converse message as an Anthropic one."""
    return {"role": wire.get("role"), "content": [block(b) for b in entries(wire.get("content"))]}


def tool(wire: dict[str, Any]) -> dict[str, Any]:
    """A tool's schema."""
    spec = wire.get("toolSpec")
    if not isinstance(spec, dict):
        return wire
    known = {key: spec[key] for key in ("name", "description") if key in spec}
    return {**known, "input_schema": mapping(spec.get("inputSchema")).get("json")}


def block(wire: Any) -> Any:
    """A content block: Converse names its kind by its one key. What is not known keeps its fields under that kind."""
    if not isinstance(wire, dict) or not wire or "type" in wire:
        return wire
    kind, body = next(iter(wire.items()))
    if kind == "text":
        return {"type": "text", "text": body}
    if kind == "json":
        return {"type": "text", "text": _json(body)}
    if kind == "toolUse":
        return {"type": "tool_use", "id": body.get("toolUseId"), "name": body.get("name"), "input": body.get("input")}
    if kind == "toolResult":
        return _result(body)
    if kind in ("image", "document", "video"):
        return _media(kind, body)
    if kind == "reasoningContent":
        return _reasoning(body)
    return {"type": kind, **body} if isinstance(body, dict) else {"type": kind, kind: body}


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _result(body: dict[str, Any]) -> dict[str, Any]:
    made = {
        "type": "tool_result",
        "tool_use_id": body.get("toolUseId"),
        "content": [block(b) for b in entries(body.get("content"))],
    }
    return {**made, "is_error": True} if body.get("status") == "error" else made


def _media(kind: str, body: dict[str, Any]) -> dict[str, Any]:
    source = mapping(body.get("source"))
    mime = f"image/{body.get('format')}" if kind == "image" else f"application/{body.get('format')}"
    if "bytes" in source:
        given = {"type": "base64", "media_type": mime, "data": source["bytes"]}
    else:
        given = {"type": "url", "url": mapping(source.get("s3Location")).get("uri"), "media_type": mime}
    titled = {"title": body["name"]} if body.get("name") else {}
    return {"type": "image" if kind == "image" else "document", "source": given, **titled}


def _reasoning(body: dict[str, Any]) -> dict[str, Any]:
    told = body.get("reasoningText")
    if not isinstance(told, dict):
        return {"type": "redacted_thinking", "data": body.get("redactedContent")}
    signature = {"signature": told["signature"]} if told.get("signature") else {}
    return {"type": "thinking", "thinking": told.get("text"), **signature}
