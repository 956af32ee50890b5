"""Logs in a zip file: its members read one by one, none larger than is safe."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from typing import Any

from ctxpolicy.errors import TranscriptInvalid
from ctxpolicy.logs.source import Source, json_value

LARGEST = 512 * 2**20  # bytes of one member, unpacked; a sample with every event of a day's run has some 50 MB
_BOMB = 200, 64 * 2**20  # more than this many times its packed size, and larger than this: JSON packs 5 to 50 times
_ZSTD = 93


def documents(source: Source, wanted: Callable[[str], bool]) -> Iterator[Any]:
    """The JSON values of the members whose names are wanted. One that cannot be read is noted, the others still are.

    Raises TranscriptInvalid where the zip is damaged or would unpack to more than any log.
    """
    zipfile = _zipfile()
    try:
        archive = zipfile.ZipFile(source.stream)
    except zipfile.BadZipFile as error:
        raise TranscriptInvalid(f"{source.name}: is a damaged zip file ({error}); copy it again") from None
    with archive:
        for member in archive.infolist():
            if not wanted(member.filename):
                source.skip(f"member:{member.filename.partition('/')[0]}")
                continue
            try:
                yield _document(source, archive, member)
            except TranscriptInvalid as error:
                source.faults.append(error)


def _zipfile() -> Any:
    """The module that reads zips, with zstd where there is one: Python 3.14 has it, `backports.zstd` brings it."""
    if sys.version_info < (3, 14):
        try:
            from backports.zstd import zipfile as with_zstd
        except ImportError:
            pass
        else:
            return with_zstd
    import zipfile

    return zipfile


def _document(source: Source, archive: Any, member: Any) -> Any:
    name = f"{source.name}/{member.filename}"
    if member.file_size > LARGEST or _is_bomb(member):
        size, packed = member.file_size / 2**20, member.compress_size / 2**20
        raise TranscriptInvalid(
            f"{name}: would unpack from {packed:,.1f} to {size:,.0f} MB, which no log does; it is left out"
        )
    try:
        data = archive.read(member)
    except NotImplementedError:
        if member.compress_type == _ZSTD:
            raise TranscriptInvalid(f'{name}: is packed with zstd; install "ctxpolicy[logs]" to read it') from None
        raise TranscriptInvalid(f"{name}: is packed with method {member.compress_type}, which is not known") from None
    except Exception as error:  # noqa: BLE001 - zlib's, zstd's and zipfile's own errors have no common root
        raise TranscriptInvalid(f"{name}: is damaged ({error}); copy the file again") from None
    return json_value(name, 1, data)


def _is_bomb(member: Any) -> bool:
    times, size = _BOMB
    return bool(member.file_size > size and member.file_size > times * max(1, member.compress_size))
