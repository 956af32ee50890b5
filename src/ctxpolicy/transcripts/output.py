"""Writing an output file in one step: readers see the old content or the new, never half of it."""

from __future__ import annotations

import os
import secrets
import stat
import sys
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
        self._name = str(path)
        self._target = None if str(path) == "-" else Path(os.path.realpath(path))
        self._temporary: Path | None = None
        self._kept = False

    def __enter__(self) -> Self:
        try:
            self._stream = self._open()
        except BaseException as error:
            self._remove_temporary()
            self._blame(error)
            raise
        return self

    def _open(self) -> BinaryIO:
        if self._target is None:
            return sys.stdout.buffer
        if self._target.exists() and not self._target.is_file():
            return self._target.open("wb")
        mode = _mode(self._target)
        self._temporary = self._target.with_name(f".{self._target.name}.{secrets.token_hex(8)}")
        return os.fdopen(os.open(self._temporary, _NEW, 0o666 if mode is None else mode), "wb")

    def write(self, text: str | bytes) -> None:
        """Append text, as UTF-8, or bytes that are text already."""
        self._stream.write(text.encode() if isinstance(text, str) else text)

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
            with self._stream:
                self._stream.flush()
                if self._temporary is not None:
                    os.fsync(self._stream.fileno())  # or a crash could leave the new name with nothing in it
            if kind is None and not self._kept:
                self._replace(self._target)
        except OSError as failed:
            self._blame(failed)
            raise
        finally:
            self._remove_temporary()

    def _blame(self, error: BaseException) -> None:
        """Let an error name the file as the caller did, not the temporary one."""
        if isinstance(error, OSError) and self._target is not None:
            error.filename, error.filename2 = self._name, None

    def _replace(self, target: Path) -> None:
        if self._temporary is not None:
            if (mode := _mode(target)) is not None:
                self._temporary.chmod(mode)  # os.open took the umask off
            os.replace(self._temporary, target)

    def _remove_temporary(self) -> None:
        if self._temporary is not None:
            self._temporary.unlink(missing_ok=True)


_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)


def _mode(target: Path) -> int | None:
    """The permissions of the file to be replaced; None where there is none yet."""
    return stat.S_IMODE(target.stat().st_mode) if target.exists() else None
