"""`show`'s listing: it loads again as the same policy, and says where everything came from."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ctxpolicy.policy.listing import listing
from ctxpolicy.policy.load import Loaded, load_named, load_spec
from ctxpolicy.policy.model import Spec


def listed(loaded: Loaded) -> str:
    assert loaded.spec is not None, loaded.findings
    assert loaded.document is not None
    return listing(loaded.document, loaded.spec)


def same(first: Spec | None, second: Spec | None) -> bool:
    """Equal but for the hash: defaults written out are another document."""
    names = ("name", "description", "budget", "read_as", "pins", "rules", "summarizer", "reasoning", "archive")
    return all(getattr(first, name) == getattr(second, name) for name in names)


def test_the_listing_of_the_default_policy_is_the_default_policy() -> None:
    loaded = load_named("builtin:default")
    again = load_spec(listed(loaded))
    assert again.findings == ()
    assert same(loaded.spec, again.spec)
    assert listed(again).count("\n") == listed(loaded).count("\n")


@given(st.text(max_size=60), st.text(alphabet=" \n|>#:'\"-a", max_size=30))
@settings(max_examples=200, deadline=None)
def test_any_text_survives(first: str, second: str) -> None:
    import json

    try:
        text = json.dumps({"version": 1, "budget": {"window": 5000}, "name": "n", "description": first + second})
        loaded = load_spec(text)
    except UnicodeEncodeError:
        return
    if loaded.spec is not None:
        assert same(loaded.spec, load_spec(listed(loaded)).spec)


def test_origins_defaults_and_tokens_stand_beside_the_values() -> None:
    shown = listed(load_spec("version: 1\nname: notes\nextends: [builtin:default]\nbudget: {window: 64000}\n"))
    rows = [[part.strip() for part in line.split(" # ")] for line in shown.splitlines() if " # " in line]
    assert ["window: 64000", "<policy>:4"] in rows
    assert any(row[0] == "ratio: 0.7" and row[1].startswith("builtin:default:") for row in rows)
    assert ["breaker: 3", "default"] in rows
    assert any(row[0] == "gt: 0.7" and row[1].endswith("28,560 tokens, 45 % of the window") for row in rows)
    assert any(row[0] == "min_gain: 0.05" and "2,040 tokens" in row[1] for row in rows)


@pytest.mark.parametrize("text", ["yes", "1e3", "null", "*x", "a: b", " a", "#", "it's", "", "tab\tx", "é 日本"])
def test_texts_that_look_like_something_else(text: str) -> None:
    import json

    loaded = load_spec(json.dumps({"version": 1, "budget": {"window": 5000}, "description": text}))
    again = load_spec(listed(loaded))
    assert again.spec is not None
    assert again.spec.description == text
