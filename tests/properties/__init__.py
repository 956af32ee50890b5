"""Random runs and what must hold of them."""

import pytest

# So that an assertion made in these modules tells its values, as one in a test does.
_ASSERTING = ("agreement", "keeping", "rounds", "soundness", "telling")
pytest.register_assert_rewrite(*(f"properties.{name}" for name in _ASSERTING))
