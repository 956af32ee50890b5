"""How near `estimate` is to real tokenizers, on texts that are here for everyone, and what docs/counting.md says."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest

from ctxpolicy.estimate import WEIGHTS, WIDE_WEIGHTS, estimate

from . import __main__, fit, table, texts
from .made import made
from .tokenizers import OPENAI, QWEN, Tokenizer, available

PAGE = Path(__file__).parents[2] / "docs" / "counting.md"
NAMED = ("chinese", "japanese", "korean", "cyrillic", "arabic", "hindi", "thai", "hebrew", "greek", "emoji")
NOISE = ("base64", "hex", "digits")
BLIND = "base32"  # small words and numbers in turn, to the eye of a counter that knows no words
SHARES = {"made": fit.SHARES["made"], "found": fit.SHARES["found"]}

every = pytest.mark.parametrize("name", [*OPENAI, QWEN])
openai = pytest.mark.parametrize("name", OPENAI)


@cache
def kinds() -> dict[str, list[str]]:
    return {**made(), **texts.found(), **texts.written()}


@cache
def ratios(name: str, kind: str) -> list[float]:
    """estimate / exact of each text of a kind."""
    return table.ratios([estimate(text) for text in kinds()[kind]], counted(name, kind))


@cache
def counted(name: str, kind: str) -> list[int]:
    return tokenizer(name)(kinds()[kind])


def tokenizer(name: str) -> Tokenizer:
    return available().get(name) or pytest.skip(f"{name} is not installed")


def shares() -> dict[str, float]:
    return {kind: SHARES[group] for group, of in (("made", made()), ("found", texts.found())) for kind in of}


# ---- the bounds ---------------------------------------------------------------------------------


@openai
def test_whole_windows_are_at_most_5_percent_under_and_25_over(name: str) -> None:
    count = tokenizer(name)
    found = [sum(map(estimate, window)) / sum(count(window)) for window in texts.windows(kinds())]
    assert min(found) >= 0.95
    assert max(found) <= 1.25


def test_whole_windows_are_at_most_a_fifth_under_where_each_digit_is_a_token() -> None:
    count = tokenizer(QWEN)
    found = [sum(map(estimate, window)) / sum(count(window)) for window in texts.windows(kinds())]
    assert min(found) >= 0.8
    assert max(found) <= 1.25


@openai
def test_a_kind_that_was_left_out_of_the_fit_is_at_most_20_percent_under(name: str) -> None:
    counts = {name: {kind: counted(name, kind) for kind in shares()}}
    lowest = {kind: min(fit.unseen(kinds(), counts, shares(), kind)[name]) for kind in shares()}
    assert {kind for kind, ratio in lowest.items() if ratio < 0.8} == {BLIND}


@every
@pytest.mark.parametrize("kind", [*NAMED, *NOISE])
def test_scripts_and_noise_are_never_more_than_25_percent_under(name: str, kind: str) -> None:
    texts = kinds()[kind]
    assert sum(map(estimate, texts)) / sum(counted(name, kind)) >= 0.75


@pytest.mark.parametrize("name", [OPENAI[0], QWEN])
@pytest.mark.parametrize("kind", ["latin", "arabic", "armenian", "georgian", "bengali", "tamil", "symbols"])
def test_other_scripts_are_not_either_for_tokenizers_of_today(name: str, kind: str) -> None:
    assert min(ratios(name, kind)) >= 0.75


# ---- the fit ------------------------------------------------------------------------------------


def test_the_fit_finds_the_weights_that_a_text_was_priced_with() -> None:
    weights = {"run": 0.9, "character": 0.05, "digit": 0.8, "capital": 0.3, "long": 0.4}
    of = {
        kind: [text for text in kinds()[kind] if text.isascii()] for kind in ("python", "base64", "letters", "digits")
    }
    prices = {kind: [round(1000 * fit.cost(weights, text) / fit.LIFT) for text in of[kind]] for kind in of}
    found = fit.fitted(of, [{kind: [price / 1000 for price in prices[kind]] for kind in of}], dict.fromkeys(of, 1.0))
    assert found == pytest.approx(weights, abs=0.002)


@pytest.mark.slow
@pytest.mark.skipif(not texts.CORPUS.is_dir(), reason="the corpus of transcripts is not here")
def test_the_weights_in_the_source_are_the_fitted_ones() -> None:
    groups = {"made": made(), "found": texts.found(), "recorded": texts.transcripts(texts.recorded())}
    of = {kind: some for group in groups.values() for kind, some in group.items()}
    counts = [{kind: tokenizer(name)(some) for kind, some in of.items()} for name in (*OPENAI, QWEN)]
    found = fit.fitted(of, counts, {kind: fit.SHARES[group] for group in groups for kind in groups[group]})
    assert {name: weight / 1000 for name, weight in WEIGHTS.items()} == pytest.approx(found, rel=0.1)


# ---- the page and the command -------------------------------------------------------------------


def rows(page: str) -> dict[str, list[str]]:
    found = re.findall(r"^\| ([^|]+) \| (\d+) \| ([^|]+) \| ([^|]+) \| ([^|]+) \|$", page, re.MULTILINE)
    return {kind: cells for kind, _, *cells in found}


def test_the_page_has_the_table_of_the_command() -> None:
    page = PAGE.read_text(encoding="utf-8")
    shown = rows(page)
    assert f"| Kind of text | Texts | {' | '.join((*OPENAI, QWEN))} |" in page
    assert {*made(), *texts.found(), *texts.written(), "transcripts"} <= set(shown)
    for cells in shown.values():
        assert all(re.fullmatch(r"\d\.\d\d( \d+\.\d\d){4}( \(\d+\.\d\d\))?", cell) for cell in cells)
    for name, weight in WEIGHTS.items():
        assert re.search(rf"^\| {name} \| {weight} \| \d+ \|$", page, re.MULTILINE)


def test_the_page_holds_what_it_says() -> None:
    shown = rows(PAGE.read_text(encoding="utf-8"))
    for cell in shown["whole windows, mixed"][:2]:
        *_, low, high = map(float, cell.split())
        assert low >= 0.95
        assert high <= 1.25
    for kind in (*NAMED, *NOISE):
        assert all(float(cell.split()[0]) >= 0.75 for cell in shown[kind])


def test_the_command_prints_weights_and_table(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    tokenizer(OPENAI[0])
    few = {kind: some[:2] for kind, some in texts.found().items()}
    monkeypatch.setattr(texts, "found", lambda: few)
    monkeypatch.setattr(texts, "recorded", list)
    monkeypatch.setattr(__main__, "made", lambda: {kind: some[:2] for kind, some in made().items()})
    assert __main__.main() == 0
    out = capsys.readouterr().out
    assert f"| run | {WEIGHTS['run']} |" in out
    assert f"| Kind of text | Texts | {' | '.join(available())} |" in out
    assert "\n| base64 | 2 | " in out
    assert "1,300 characters take " in out


def test_every_script_has_one_weight() -> None:
    *named, rest = [highs for highs, _ in WIDE_WEIGHTS.values()]
    assert len({high for highs in named for high in highs}) == sum(map(len, named)), "no block is in two groups"
    assert list(rest) == list(range(256)), "the last has what is left"
