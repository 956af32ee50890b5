"""The list that a window hands out: its messages become the caller's own copies when he first touches the list.

A caller may edit what he got, and the window must not notice; but most callers only encode the list and send it, and
copying every message before every model call would cost more than everything else a window does.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ctxpolicy.values import copy


class Prepared(list[Any]):
    """A list of wire messages. Encoders written in C may read it as it is; whatever else reaches in finds copies."""

    def __init__(self, wires: Sequence[Any]) -> None:
        super().__init__(wires)
        self._shared = True

    def _own(self) -> None:
        """Put copies in the place of the window's own messages, once."""
        if self._shared:
            self._shared = False
            super().__setitem__(slice(None), [copy(wire) for wire in super().__iter__()])

    def __radd__(self, other: list[Any]) -> list[Any]:
        self._own()
        return [*other, *super().__iter__()]

    def __reduce_ex__(self, protocol: Any) -> tuple[Any, ...]:
        self._own()
        return list, (list(super().__iter__()),)


def _owning(name: str) -> Callable[..., Any]:
    """The list method of this name, for a list whose messages are the caller's own."""
    method = getattr(list, name)

    def owning(self: Prepared, *args: Any, **kwargs: Any) -> Any:
        self._own()
        return method(self, *args, **kwargs)

    owning.__name__, owning.__doc__ = name, method.__doc__
    return owning


_REACHING_IN = (
    "__add__ __contains__ __delitem__ __getitem__ __iadd__ __imul__ __iter__ __mul__ __reversed__ __rmul__ __setitem__ "
    "append copy count extend index insert pop remove reverse sort"
)
for _name in _REACHING_IN.split():
    setattr(Prepared, _name, _owning(_name))
