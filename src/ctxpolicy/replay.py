"""A recorded list through a window, message by message: what a live loop would have sent at each model call."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ctxpolicy.calls import RecordedCall
from ctxpolicy.errors import MessageTooLarge
from ctxpolicy.result import Result
from ctxpolicy.window import ManagedWindow


def replay(
    window: ManagedWindow,
    messages: Sequence[Any],
    metas: Sequence[Mapping[str, Any] | None] | None,
    calls: Sequence[RecordedCall],
) -> Iterator[Result]:
    """The result of the window's run before each of the calls. See `Policy.replay`."""
    due = {call.index: call for call in calls}
    for index, message in enumerate(messages):
        if index in due:
            yield _call(window, due[index])
        append(window, message, metas[index] if metas else None)


def append(window: ManagedWindow, message: Any, meta: Mapping[str, Any] | None = None) -> Any:
    """Append a message, or in place of a refused tool result its replacement; gives what is in the list now.

    Raises MessageTooLarge where nothing can take a message's place.
    """
    try:
        window.append(message, meta)
    except MessageTooLarge as error:
        if error.replacement is None:
            raise
        window.append(error.replacement, meta)
        return error.replacement
    return message


def _call(window: ManagedWindow, call: RecordedCall) -> Result:
    window.prepare()
    result = window.result
    assert result is not None
    if call.factor is not None:
        # The provider counted the recorded list, not this one: for this one it would have been off by the same factor.
        window.observe({"prompt_tokens": round(call.factor * result.usage.after["total"])})
    return result
