"""Recorded HTTP exchanges: VCR cassettes (YAML or JSON) and HAR files, of the model providers' APIs.

An exchange that is no model call is skipped and counted.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

from ctxpolicy.errors import TranscriptInvalid
from ctxpolicy.logs import growing, http_calls
from ctxpolicy.logs.model import Session
from ctxpolicy.logs.source import Source
from ctxpolicy.transcripts.decoding import decode

_LARGEST = 64 * 2**20  # bytes of one body, unpacked
_MAGIC = (b"\x1f\x8b", b"\x78\x01", b"\x78\x9c", b"\x78\xda")  # gzip, zlib


def recognises(source: Source) -> bool:
    beginning = source.beginning(4096)
    if beginning.startswith(b"interactions:") or b"\ninteractions:" in beginning:
        return True
    return _exchanges(source.document_or_none) is not None


def _exchanges(value: Any) -> list[Any] | None:
    """The exchanges of a cassette or HAR file."""
    inner = value.get("log", value) if isinstance(value, dict) else None
    found = (inner.get("interactions") or inner.get("entries")) if isinstance(inner, dict) else None
    held = isinstance(found, list) and found and isinstance(found[0], dict) and {"request", "response"} <= set(found[0])
    return found if held else None


def read(source: Source) -> Iterator[Session]:
    """The conversations that the recorded calls make."""
    value = source.document_or_none
    exchanges = _exchanges(_yaml(source) if value is None else value)
    calls = (_call(source, exchange) for exchange in exchanges or ())
    return growing.sessions("http", source.name, (call for call in calls if call is not None))


def _yaml(source: Source) -> Any:
    import yaml

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        return yaml.load(decode(source.name, 1, source.beginning(-1)), Loader=loader)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = mark.line + 1 if mark else 1
        why = getattr(error, "problem", None) or "not YAML"
        raise TranscriptInvalid(f"{source.name}:{line}: is not YAML: {why}; record it again") from None


def _call(source: Source, exchange: Any) -> growing.Call | None:
    request = exchange.get("request") if isinstance(exchange, dict) else None
    if not isinstance(request, dict):
        source.skip("unknown")
        return None
    sent = _body(request)
    address = urlsplit(str(request.get("uri") or request.get("url") or ""))
    call = http_calls.call(address.path, sent, _body(exchange.get("response"))) if isinstance(sent, dict) else None
    if call is None:
        source.skip(
            f"exchange:{request.get('method', 'POST')} {address.hostname}{'/'.join(address.path.split('/')[:3])}"
        )
    return call


def _body(side: Any) -> Any:
    """The body of a request or response: a JSON value, the text of an event stream, or None."""
    if not isinstance(side, dict):
        return None
    if side.get("parsed_body") is not None:
        return side["parsed_body"]
    body = side.get("body", side.get("content", side.get("postData")))
    if isinstance(body, dict):
        body = next((body[key] for key in ("string", "text", "base64_string") if key in body), body)
    if isinstance(body, bytes):
        body = _unpacked(body)
    try:
        return json.loads(body) if isinstance(body, str) else body
    except ValueError:
        return body


def _unpacked(data: bytes) -> str:
    if data.startswith(_MAGIC):
        try:
            data = zlib.decompressobj(zlib.MAX_WBITS | 32).decompress(data, _LARGEST)
        except zlib.error:
            return ""
    return data.decode(errors="replace")
