"""A summariser that is a model behind an HTTP endpoint: patience, errors in words, and no key in any of them.

The provider's own SDK sends the request; what differs between providers is a `Provider` (openai.py, anthropic.py).
"""

from __future__ import annotations

import json
import os
import random
import re
import time
from collections.abc import Mapping
from contextlib import suppress
from email.utils import parsedate_to_datetime
from importlib import import_module
from importlib.util import find_spec
from typing import Any, Protocol
from urllib.parse import urlsplit

from msgspec.structs import replace

from ctxpolicy.errors import CtxPolicyError
from ctxpolicy.policy.model import Summarizer
from ctxpolicy.summarize.reply import spent
from ctxpolicy.summarize.request import SummaryReply, SummaryRequest

_FIRST_WAIT = 0.5  # seconds before the second try, then twice as long each time: what the SDKs do
_LONGEST_WAIT = 8.0
_CONNECT = 10.0  # seconds to get a connection: a host that is down is no slow model
_PASSING = frozenset((408, 409, 425, 429))  # and 5xx: worth another try
_MOST = 4_000_000  # bytes of an answer
_SAID = 300  # characters of what a server says that are told


class Provider(Protocol):
    """How one provider is asked. The SDK's module has the provider's name."""

    NAME: str
    CLIENT: str
    """The SDK's client class."""
    HOME: str
    """Where the provider serves its models."""

    def send(self, client: Any, model: str, request: SummaryRequest, home: str) -> Any:
        """The SDK's context manager of a streaming response."""

    def reply(self, answer: Mapping[str, Any]) -> SummaryReply:
        """The reply in a decoded answer. Raises LookupError or TypeError where it has none."""


class _Passing(Exception):
    """A failure that another try may not meet. `after` is the wait in seconds that the server asks for."""

    def __init__(self, why: str, after: float | None = None) -> None:
        super().__init__(why)
        self.after = after


class Remote:
    """Asks a model for each request. Calls block; `waits` tells an async caller so."""

    waits = True

    def __init__(self, provider: Provider, model: str, declared: Summarizer) -> None:
        """Raises CtxPolicyError where the SDK is not installed or no key is set."""
        self.name = declared.use
        self._provider, self._model, self._declared = provider, model, declared
        env = provider.NAME.upper()
        if find_spec(provider.NAME) is None:
            extra = f"pip install 'ctxpolicy[{provider.NAME}]'"
            raise CtxPolicyError(f"{self.name} needs the {provider.NAME} package: {extra}")
        url = declared.base_url or os.environ.get(f"{env}_BASE_URL", "").strip()
        self._home = url or provider.HOME
        self._where = _without_user(self._home)
        self._key_env = declared.api_key_env or f"{env}_API_KEY"
        self._key = os.environ.get(self._key_env, "").strip()
        if not self._key and (declared.api_key_env or not url):
            raise CtxPolicyError(f"{self.name} needs a key: set the environment variable {self._key_env}")

    def __repr__(self) -> str:
        return f"<{self.name} at {self._where}>"

    def __call__(self, request: SummaryRequest) -> SummaryReply:
        """The reply. Raises CtxPolicyError when there is none within the time-out, after all tries."""
        end = time.monotonic() + self._declared.timeout
        tries = 0
        while True:
            tries += 1
            try:
                return self._try(request, end)
            except _Passing as error:
                wait = _wait(tries) if error.after is None else error.after
                why = str(error) if tries == 1 else f"{error}, {tries} times"
                if tries > self._declared.retries:
                    raise self._error(why) from None
                if time.monotonic() + wait >= end:
                    raise self._error(f"{why}; no time is left for another try") from None
            time.sleep(wait)

    def _try(self, request: SummaryRequest, end: float) -> SummaryReply:
        sdk = import_module(self._provider.NAME)
        left = end - time.monotonic()
        client = getattr(sdk, self._provider.CLIENT)(
            api_key=self._key or "none",  # servers at home ask for no key, the SDKs do
            base_url=self._home,
            max_retries=0,
            timeout=sdk.Timeout(left, connect=min(left, _CONNECT)),
        )
        try:
            with client, self._provider.send(client, self._model, request, self._home) as response:
                body = self._body(response, end)
        except sdk.APITimeoutError:
            raise self._too_late() from None
        except sdk.APIStatusError as error:
            raise self._status(error.status_code, error.response, error.body) from None
        except sdk.APIConnectionError as error:
            raise _Passing(self._clean(f"cannot reach {self._where}: {error.__cause__ or error}")) from None
        return _ended(self._read(body), request.max_tokens)

    def _body(self, response: Any, end: float) -> bytes:
        """The answer's bytes. The SDK's time-out is between two bytes: a server that trickles would never meet it."""
        body = bytearray()
        try:
            for chunk in response.iter_bytes():
                body += chunk
                if time.monotonic() > end:
                    raise self._too_late()
                if len(body) > _MOST:
                    raise self._error(f"the answer of {self._where} is larger than {_MOST:,} bytes")
        except CtxPolicyError:
            raise
        except Exception as error:  # noqa: BLE001 - the SDK passes on what its HTTP library raises here, of either name
            if "Timeout" in type(error).__name__:
                raise self._too_late() from None
            raise _Passing(self._clean(f"the answer of {self._where} broke off: {error}")) from None
        return bytes(body)

    def _read(self, body: bytes) -> SummaryReply:
        text = self._clean(body.decode("utf-8", "replace"))
        try:
            answer = json.loads(text)
        except ValueError:
            raise self._error(f"{self._where} answered with {_said(text)}, not JSON; check the base URL") from None
        try:
            return self._provider.reply(answer)
        except (LookupError, TypeError, AttributeError):
            raise self._error(f"the answer of {self._where} has no reply in it: {_said(text)}") from None

    def _status(self, status: int, response: Any, body: Any) -> Exception:
        told = self._clean(_said(_message(body) or response.text))
        why = f"{self._where} answered {status}: {told}"
        if status in _PASSING or status >= 500:
            return _Passing(why, _retry_after(response.headers))
        if status in (401, 403):
            why += f"; check the key in {self._key_env}" if self._key else f"; set a key in {self._key_env}"
        if status == 404:
            why += f"; check the model {self._model!r} and the base URL"
        return self._error(why)

    def _too_late(self) -> CtxPolicyError:
        return self._error(f"{self._where} gave no reply within {self._declared.timeout:g} seconds")

    def _error(self, why: str) -> CtxPolicyError:
        return CtxPolicyError(f"{self.name}: {why}")

    def _clean(self, text: str) -> str:
        """The text without the key, should a server have said it."""
        return text.replace(self._key, "[key]") if self._key else text


def _ended(reply: SummaryReply, allowed: int) -> SummaryReply:
    """The reply, cut off where it took every token it was allowed: some servers say `stop` all the same."""
    return replace(reply, finish_reason="length") if spent(reply).output >= allowed else reply


def _without_user(url: str) -> str:
    """A URL as it may be shown: no user, password or query."""
    parts = urlsplit(url)
    return parts._replace(netloc=parts.netloc.rpartition("@")[2], query="", fragment="").geturl().rstrip("/")


def _wait(tries: int) -> float:
    """Seconds before the next try, up to a quarter less so that many clients do not come back at once."""
    return float(min(_FIRST_WAIT * 2 ** (tries - 1), _LONGEST_WAIT) * (1 - random.random() / 4))


def _retry_after(headers: Mapping[str, str]) -> float | None:
    """The seconds that a server asks to wait (RFC 9110, 10.2.3: seconds or a date), where it does."""
    for name, unit in (("retry-after-ms", 1000.0), ("retry-after", 1.0)):
        with suppress(KeyError, ValueError):
            return max(0.0, float(headers[name]) / unit)
    with suppress(KeyError, ValueError, TypeError):
        return max(0.0, parsedate_to_datetime(headers["retry-after"]).timestamp() - time.time())
    return None


def _message(body: Any) -> str | None:
    """The message in an error's JSON, as OpenAI, Anthropic and most others write it."""
    inner = body.get("error", body) if isinstance(body, Mapping) else None
    message = inner.get("message") if isinstance(inner, Mapping) else inner
    return message if isinstance(message, str) else None


def _said(text: str) -> str:
    """What a server said, on one line and short."""
    if re.match(r"\s*<(!doctype|html)", text, re.I):
        title = re.search(r"<title>([^<]{1,80})", text, re.I)
        return f"an HTML page ({title.group(1).strip()})" if title else "an HTML page"
    line = " ".join(text.split())
    return line if len(line) <= _SAID else line[:_SAID] + "..."
