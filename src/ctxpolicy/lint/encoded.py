"""Texts that must be whole base64: media, signatures, encrypted reasoning. A cut shows in the length."""

from __future__ import annotations

import base64
import binascii
from typing import Any

_URL_SAFE = str.maketrans("-_", "+/")  # the Gemini SDK writes the URL-safe alphabet
_ALPHABET = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=-_\n\r")
_STAND_IN = 64  # shorter than any signature that a provider makes: a made-up one, of a test or a log
_FERNET = "gAAAAA"  # how a Fernet token of this century begins: version 0x80, then four zero bytes of the time
_FERNET_SHORTEST, _FERNET_BLOCK, _FERNET_FRAME = 73, 16, 57  # bytes: version 1, time 8, IV 16, HMAC 32, whole blocks


def is_base64(data: str) -> bool:
    """True for a text that decodes, padding included."""
    try:
        binascii.a2b_base64(data.translate(_URL_SAFE).encode(), strict_mode=False)
    except (ValueError, UnicodeEncodeError):
        return False
    return not set(data[:200]) - _ALPHABET


def is_cut_signature(signature: Any) -> bool:
    """True for a signature that is not whole base64, as Anthropic's are; short stand-ins pass."""
    if not isinstance(signature, str):
        return True
    return len(signature) >= _STAND_IN and not is_base64(signature)


def is_cut_bytes(value: Any) -> bool:
    """True for what cannot be the JSON of protobuf `bytes` (Gemini): base64 of either alphabet, padded or not."""
    if isinstance(value, bytes):  # as the Python SDK holds them
        return False
    return not isinstance(value, str) or not is_base64(value + "=" * (-len(value) % 4))


def is_cut_token(text: Any) -> bool:
    """True for OpenAI's encrypted content where it is a Fernet token (https://github.com/fernet/spec) that lost a part.

    What does not begin as one is another vendor's, and passes.
    """
    if not isinstance(text, str) or not text.startswith(_FERNET):
        return False
    size = len(base64.urlsafe_b64decode(text)) if is_base64(text) else 0
    return size < _FERNET_SHORTEST or (size - _FERNET_FRAME) % _FERNET_BLOCK != 0
