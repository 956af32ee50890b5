"""Puts this directory on the path, so that every test can import what stands here, and sets how hard properties try.

`fast` is the default and the same at every run; `pytest --hypothesis-profile=thorough` draws other examples each time.
"""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, settings

_COMMON = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow, HealthCheck.filter_too_much]}

settings.register_profile("fast", max_examples=30, derandomize=True, **_COMMON)
settings.register_profile("thorough", max_examples=1000, print_blob=True, **_COMMON)
settings.load_profile("fast")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--regen", action="store_true", help="write the golden files anew")
