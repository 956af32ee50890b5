"""Where the data files lie that ship with the package: the schema and the built-in policies."""

from __future__ import annotations

from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent


def _folder(name: str) -> Path:
    """A data folder: inside the package when installed from a wheel, at the top of the repository in a checkout."""
    shipped = _PACKAGE / "shipped" / name
    return shipped if shipped.is_dir() else _PACKAGE.parents[1] / name


def schema_file() -> Path:
    """The JSON Schema of the policy language, version 1."""
    return _folder("schema") / "policy-v1.schema.json"


def policy_test_schema_file() -> Path:
    """The JSON Schema of policy tests (`*.test.yaml`), version 1."""
    return _folder("schema") / "policy-test-v1.schema.json"


def builtin_policies() -> dict[str, Path]:
    """The policies that `extends: [builtin:NAME]` can name; their tests, NAME.test.yaml, are none."""
    files = sorted(_folder("policies").glob("*.yaml"))
    return {file.stem: file for file in files if not file.name.endswith(".test.yaml")}
