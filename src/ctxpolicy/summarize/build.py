"""From what a policy, a command line or a caller says to the summariser it means."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from ctxpolicy.errors import CtxPolicyError
from ctxpolicy.policy.model import Summarizer
from ctxpolicy.summarize.request import Summarize, SummaryRequest

_BARE = ("none", "extract")  # nothing may follow these
_WANTS = {"scripted": "FILE", "command": "COMMAND"}
_LATER = ("openai", "anthropic")  # in the language, not yet in the program
_WORKS = ", ".join((*_BARE, *(f"{scheme}:{rest}" for scheme, rest in _WANTS.items())))

Spec = str | Summarizer | Summarize


def summarizer(spec: Spec | Sequence[Spec] | None, base: Path | None = None) -> Summarize | None:
    """The summariser that `spec` names, None where it names none. Several are tried in order until one answers.

    `base` is the directory that FILE and COMMAND are relative to (default: the current one). Raises CtxPolicyError for
    a name that is unknown or not in this version, and for a file or command that cannot be read.
    """
    specs = [spec] if spec is None or isinstance(spec, (str, Summarizer)) or callable(spec) else list(spec)
    links = [(_name(one), made) for one in specs if one is not None and (made := _one(one, base))]
    if len(links) < 2:
        return links[0][1] if links else None
    from ctxpolicy.summarize.chain import Chain

    return Chain(links)


def _name(spec: Spec) -> str:
    if isinstance(spec, Summarizer):
        return spec.use
    return spec if isinstance(spec, str) else getattr(spec, "__name__", type(spec).__name__)


def _one(spec: Spec, base: Path | None) -> Summarize | None:
    if isinstance(spec, str):
        spec = Summarizer(spec)
    if not isinstance(spec, Summarizer):
        return spec
    scheme, _, rest = spec.use.partition(":")
    make = _MAKERS.get(scheme)
    if make is None or (scheme in _BARE) == bool(rest.strip()):
        raise CtxPolicyError(_unusable(spec.use, scheme))
    made = make(rest.strip(), spec, base)
    return _capped(made, spec.max_tokens) if made and spec.max_tokens else made


def _none(_rest: str, _spec: Summarizer, _base: Path | None) -> None:
    return None


def _extract(_rest: str, _spec: Summarizer, _base: Path | None) -> Summarize:
    from ctxpolicy.summarize.extract import extract

    return extract


def _scripted(rest: str, _spec: Summarizer, base: Path | None) -> Summarize:
    from ctxpolicy.summarize.scripted import Scripted

    return Scripted((base or Path()) / rest)


def _command(rest: str, spec: Summarizer, base: Path | None) -> Summarize:
    from ctxpolicy.summarize.command import Command

    return Command(rest, timeout=spec.timeout, directory=base)


_MAKERS: dict[str, Callable[[str, Summarizer, Path | None], Summarize | None]] = {
    "none": _none,
    "extract": _extract,
    "scripted": _scripted,
    "command": _command,
}


def _capped(summarize: Summarize, max_tokens: int) -> Summarize:
    """The same, asked for a reply of at most `max_tokens` tokens."""
    return lambda request: summarize(_with_cap(request, max_tokens))


def _with_cap(request: SummaryRequest, max_tokens: int) -> SummaryRequest:
    return replace(request, max_tokens=min(request.max_tokens, max_tokens))


def _unusable(use: str, scheme: str) -> str:
    if scheme in _LATER:
        return (
            f"summarizer {use!r}: this version calls no {scheme} models, a later one will; "
            f"until then pass your own function as summarize=, or use one of {_WORKS}"
        )
    if scheme in _BARE:
        return f"summarizer {use!r}: nothing may follow {scheme!r}; write {scheme}"
    if scheme in _MAKERS:
        return f"summarizer {use!r} is incomplete; write {scheme}:{_WANTS[scheme]}"
    return f"summarizer {use!r} is unknown; use one of {_WORKS}"
