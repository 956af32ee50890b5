"""Writing an output file in one step: readers see the old content or the new, never half of it."""

from __future__ import annotations

import os
import stat
import sys
import tempfile
from pathlib import Path
from types import TracebackType
from typing import BinaryIO, Self


class Output:
    """A file to be written as a whole; `-` is standard output, which is written as it comes.

    The text goes to a temporary file beside the target, which takes its place when the block ends without an error
    and `keep` was not called. An existing file's mode is preserved, a symbolic link stays one, and what is not a
    regular file (a pipe, /dev/null) is written directly. Raises OSError where the target cannot be written.
    """

    def __init__(self, path: str | Path) -> None:
        self._target = None if str(path) == "-" else Path(os.path.realpath(path))
        self._temporary: Path | None = None
        self._kept = False

    def __enter__(self) -> Self:
        self._stream = self._open()
        return self

    def _open(self) -> BinaryIO:
        if self._target is None:
            return sys.stdout.buffer
        if self._target.exists() and not self._target.is_file():
            return self._target.open("wb")
        handle, temporary = tempfile.mkstemp(prefix=f".{self._target.name}.", dir=self._target.parent)
        self._temporary = Path(temporary)
        return os.fdopen(handle, "wb")

    def write(self, text: str) -> None:
        """Append text, as UTF-8."""
        self._stream.write(text.encode())

    def keep(self) -> None:
        """Leave the target as it is."""
        self._kept = True

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._target is None:
            self._stream.flush()
            return
        try:
            self._stream.close()
            if kind is None and not self._kept:
                self._replace(self._target)
        finally:
            if self._temporary is not None:
                self._temporary.unlink(missing_ok=True)

    def _replace(self, target: Path) -> None:
        if self._temporary is None:
            return
        self._temporary.chmod(_mode_for(target))
        os.replace(self._temporary, target)


def _mode_for(target: Path) -> int:
    """The mode of the file to be replaced, or what a new file gets; mkstemp's own is for the owner alone."""
    if target.exists():
        return stat.S_IMODE(target.stat().st_mode)
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask
