"""Proving that a policy would leave a conversation as it is, without running it (see `look`)."""

from ctxpolicy.quick.look import FORMAT, QuickLook

__all__ = ["FORMAT", "QuickLook"]
