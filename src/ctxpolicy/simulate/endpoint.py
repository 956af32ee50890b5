"""A chat with an endpoint that speaks OpenAI's Chat Completions, with nothing but the standard library."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.request import Request, urlopen

from ctxpolicy.errors import CtxPolicyError
from ctxpolicy.summarize.request import SummaryReply, SummaryRequest

_HOME = "https://api.openai.com/v1"
_PATIENCE = 120.0  # seconds for a reply
_SAID = 200  # characters of an error that are told
_MOST = 4_000_000  # bytes of an answer


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where a model is, and how it is called there. The key is never shown."""

    url: str
    model: str
    key: str = field(default="", repr=False)

    def chat(self, messages: Sequence[Any], tools: Sequence[Any] | None = None) -> dict[str, Any]:
        """The assistant's message. Raises CtxPolicyError, which says what the endpoint said, where there is none."""
        answer = self._post({"model": self.model, "messages": list(messages), **({"tools": tools} if tools else {})})
        try:
            message = answer["choices"][0]["message"]
            return {key: message[key] for key in ("role", "content", "tool_calls") if message.get(key)}
        except (LookupError, TypeError, AttributeError):
            raise CtxPolicyError(f"{self.url} answered without a message; is it a Chat Completions endpoint?") from None

    def summarize(self, request: SummaryRequest) -> SummaryReply:
        """The same model as a summariser."""
        return SummaryReply(self.chat([{"role": "user", "content": request.prompt}]).get("content"))

    def _post(self, body: dict[str, Any]) -> Any:
        headers = {"Content-Type": "application/json"}
        if self.key:
            headers["Authorization"] = f"Bearer {self.key}"
        try:
            request = Request(f"{self.url}/chat/completions", json.dumps(body).encode(), headers)
            with urlopen(request, timeout=_PATIENCE) as response:
                return json.loads(response.read(_MOST))
        except HTTPError as error:
            said = error.read(_MOST).decode("utf-8", "replace")
            raise CtxPolicyError(f"{self.url} answered {error.code}: {self._clean(said)}") from None
        except (URLError, OSError, ValueError) as error:
            why = getattr(error, "reason", None) or error
            raise CtxPolicyError(f"{self.url} gave no answer: {self._clean(str(why))}") from None

    def _clean(self, text: str) -> str:
        """On one line, short, and without the key."""
        line = " ".join((text.replace(self.key, "[key]") if self.key else text).split())
        return line[:_SAID]


def from_environment() -> Endpoint | None:
    """The endpoint that OPENAI_BASE_URL, OPENAI_API_KEY and CTXPOLICY_DEMO_MODEL name; None where they name none.

    The model is needed, and an address or a key: a server at home asks for no key, OpenAI has a known address.
    """
    url = os.environ.get("OPENAI_BASE_URL", "").strip()
    key = os.environ.get("OPENAI_API_KEY", "").strip()
    model = os.environ.get("CTXPOLICY_DEMO_MODEL", "").strip()
    if not model or not (url or key):
        return None
    if url and not url.startswith(("http://", "https://")):
        raise CtxPolicyError(f"OPENAI_BASE_URL is {url!r}; give a URL that begins with http:// or https://")
    return Endpoint((url or _HOME).rstrip("/"), model, key)
