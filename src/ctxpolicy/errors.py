"""The errors a caller can meet, all under one root."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ctxpolicy.policy.findings import Finding


class CtxPolicyError(Exception):
    """Root of every error that ctxpolicy raises on purpose."""


class PolicyInvalid(CtxPolicyError, ValueError):
    """A policy that must not run. `findings` holds everything that is wrong with it, in file order."""

    def __init__(self, message: str, findings: Sequence[Finding] = ()) -> None:
        super().__init__(message)
        self.findings = tuple(findings)


class TranscriptInvalid(CtxPolicyError, ValueError):
    """A list or file that is not a transcript. `index` is the message's place in the list, where there is one."""

    def __init__(self, message: str, *, index: int | None = None) -> None:
        super().__init__(message)
        self.index = index


class MessageTooLarge(CtxPolicyError, ValueError):
    """A message that a `refuse` rule turned away; the list is as it was.

    `size` and `limit` are tokens, `rule` is the rule's id, `index` the message's place in the list.
    `replacement` is, for a tool result, a short result with the same id to append instead; else None.
    """

    def __init__(
        self, message: str, *, size: int, limit: int, rule: str, index: int, replacement: dict[str, Any] | None = None
    ) -> None:
        super().__init__(message)
        self.size, self.limit, self.rule, self.index = size, limit, rule, index
        self.replacement = replacement


class ArchiveError(CtxPolicyError, OSError):
    """An archive that cannot be read, or a reference that it does not hold."""
