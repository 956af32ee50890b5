"""Finding test files."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from ctxpolicy.errors import CtxPolicyError
from ctxpolicy.testing.suite import ENDING

_SKIPPED = frozenset(("node_modules", "__pycache__", "venv", "build", "dist"))


def find(paths: Sequence[str]) -> list[Path]:
    """The test files that paths name: a test file, a policy (its tests beside it), or a folder with all below it.

    Hidden folders are left out. Raises CtxPolicyError for a path that is not there or has no test beside it.
    """
    found: dict[Path, None] = {}
    for path in map(Path, paths):
        found.update(dict.fromkeys(_below(path) if path.is_dir() else [_beside(path)]))
    return list(found)


def _below(folder: Path) -> Iterator[Path]:
    for root, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith(".") and name not in _SKIPPED)
        yield from (Path(root) / name for name in sorted(files) if name.endswith(ENDING))


def _beside(path: Path) -> Path:
    if not path.exists():
        raise CtxPolicyError(f"{path}: no such file or folder; check the path")
    if path.name.endswith(ENDING):
        return path
    tests = path.with_name(path.name.removesuffix(".yml").removesuffix(".yaml") + ENDING)
    if not tests.exists():
        raise CtxPolicyError(f"{path}: has no tests; write them into {tests}")
    return tests
