"""From what a policy, a command line or a caller says to the summarisers it means."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Literal

from msgspec.structs import replace

from ctxpolicy.errors import CtxPolicyError
from ctxpolicy.policy.model import Compact, Spec, Summarizer
from ctxpolicy.summarize.request import Reply, Summarize, SummaryRequest

_BARE = ("none", "extract")  # nothing may follow these
_WANTS = {"scripted": "FILE", "command": "COMMAND", "openai": "MODEL", "anthropic": "MODEL"}
_WORKS = ", ".join((*_BARE, *(f"{scheme}:{rest}" for scheme, rest in _WANTS.items())))

Named = str | Summarizer | Summarize
Summarizers = Named | Sequence[Named] | Literal[False] | None  # what a caller may give; False: none, None: the policy's


def summarizer(spec: Named, base: Path | None = None) -> Summarize | None:
    """The summariser that `spec` names; None for `none`. A function is itself.

    `base` is the directory that FILE and COMMAND are relative to (default: the current one). Raises CtxPolicyError for
    a name that is unknown, a file or command that cannot be read, an SDK that is not installed and a key that is not
    set.
    """
    if isinstance(spec, str):
        spec = Summarizer(spec)
    if not isinstance(spec, Summarizer):
        return spec
    scheme, _, rest = spec.use.partition(":")
    make = _MAKERS.get(scheme)
    if make is None or (scheme in _BARE) == bool(rest.strip()):
        raise CtxPolicyError(_unusable(spec.use, scheme))
    made = make(rest.strip(), spec, base)
    return _Capped(made, spec.max_tokens) if made and spec.max_tokens else made


def summarizers(what: Named | Sequence[Named], base: Path | None = None) -> tuple[Summarize, ...]:
    """The summarisers to ask in turn, for one or several specs; `none` ends the list. Raises as `summarizer` does."""
    specs = [what] if isinstance(what, (str, Summarizer)) or callable(what) else what
    if not isinstance(specs, Sequence):
        raise CtxPolicyError(
            f"summarize= is {what!r}; give a function, the name of a summariser, a list of these, or False"
        )
    return tuple(_until_none(summarizer(spec, base) for spec in specs))


def declared(specs: Sequence[Summarizer], base: Path | None = None) -> tuple[Summarize, ...]:
    """The summarisers that a checked policy declares. One that cannot be used here raises when it is asked, not now.

    The run goes on with the next one and tells why in an event: a checked policy never raises at run time.
    """
    return tuple(_until_none(_or_unusable(spec, base) for spec in specs))


def unusable(spec: Spec, base: Path | None = None) -> list[str]:
    """Why summarisers that a policy declares cannot be used here; each reason once."""
    asked = [spec.summarizer, *(r.action.summarizer or () for r in spec.rules if isinstance(r.action, Compact))]
    made = (one for specs in asked for one in declared(specs, base))
    return list(dict.fromkeys(one.why for one in made if isinstance(one, Unusable)))


def name_of(summarize: Summarize) -> str:
    """What to call a summariser in an event."""
    found = getattr(summarize, "name", None) or getattr(summarize, "__name__", None)
    return found if isinstance(found, str) else type(summarize).__name__


class Unusable:
    """Stands for a declared summariser that cannot be used here, and says why when it is asked."""

    def __init__(self, name: str, why: str) -> None:
        self.name, self.why = name, why

    def __call__(self, request: SummaryRequest) -> str:
        """Raises CtxPolicyError."""
        raise CtxPolicyError(self.why)


class _Capped:
    """A summariser with the limit of a reply that its declaration gives."""

    def __init__(self, summarize: Summarize, max_tokens: int) -> None:
        self._summarize, self._max_tokens = summarize, max_tokens
        self.name = name_of(summarize)
        self.waits = getattr(summarize, "waits", False)

    def __call__(self, request: SummaryRequest) -> Reply:
        return self._summarize(replace(request, max_tokens=self._max_tokens))


def _or_unusable(spec: Summarizer, base: Path | None) -> Summarize | None:
    try:
        return summarizer(spec, base)
    except CtxPolicyError as error:
        return Unusable(spec.use, str(error))


def _until_none(made: Iterable[Summarize | None]) -> Iterable[Summarize]:
    for one in made:
        if one is None:
            return
        yield one


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


def _openai(rest: str, spec: Summarizer, _base: Path | None) -> Summarize:
    from ctxpolicy.summarize import openai
    from ctxpolicy.summarize.remote import Remote

    return Remote(openai, rest, spec)


def _anthropic(rest: str, spec: Summarizer, _base: Path | None) -> Summarize:
    from ctxpolicy.summarize import anthropic
    from ctxpolicy.summarize.remote import Remote

    return Remote(anthropic, rest, spec)


_MAKERS: dict[str, Callable[[str, Summarizer, Path | None], Summarize | None]] = {
    "none": _none,
    "extract": _extract,
    "scripted": _scripted,
    "command": _command,
    "openai": _openai,
    "anthropic": _anthropic,
}


def _unusable(use: str, scheme: str) -> str:
    if scheme in _BARE:
        return f"summarizer {use!r}: nothing may follow {scheme!r}; write {scheme}"
    if scheme in _MAKERS:
        return f"summarizer {use!r} is incomplete; write {scheme}:{_WANTS[scheme]}"
    return f"summarizer {use!r} is unknown; use one of {_WORKS}"
