"""Composition: what wins, where it stands, and where it came from."""

from __future__ import annotations

from pathlib import Path

import pytest

from ctxpolicy.policy.load import Loaded, load_file, load_spec
from ctxpolicy.policy.model import Spec

BASE = """version: 1
name: base
budget: {window: 100000, ratio: 0.5, media: {image: 500, file: 7}}
read_as:
  - {match: {role: user, contains: base}, as: tool}
pins:
  - {id: one, match: {newest: 1}}
  - {id: two, match: {newest: 2}}
rules:
  - {id: mask, match: {role: tool}, mask: {batch: 2}}
  - {id: evict, when: {pressure: {gt: 0.9}}, evict: {until: {pressure: {lt: 0.5}}}}
archive: {path: here, on_error: drop}
"""


@pytest.fixture
def base(tmp_path: Path) -> Path:
    (tmp_path / "base.yaml").write_text(BASE, encoding="utf-8")
    return tmp_path


def own(folder: Path, text: str, name: str = "own.yaml") -> Loaded:
    file = folder / name
    file.write_text("version: 1\nextends: [base.yaml]\n" + text, encoding="utf-8")
    return load_file(file)


def spec(loaded: Loaded) -> Spec:
    assert loaded.errors == ()
    assert loaded.spec is not None
    return loaded.spec


def said(loaded: Loaded) -> list[str]:
    return [f"{Path(f.file).name}:{f.line}:{f.column} {f.code}" for f in loaded.findings]


def test_maps_merge_by_key(base: Path) -> None:
    made = spec(own(base, "budget: {ratio: 0.6, media: {image: 9}}\narchive: {path: there}\n"))
    assert (made.budget.window, made.budget.ratio, made.budget.image, made.budget.file) == (100_000, 0.6, 9, 7)
    assert (made.archive.path, made.archive.on_error) == ("there", "drop")
    assert made.name == "base"


def test_the_same_id_replaces_in_place_and_a_new_one_is_appended(base: Path) -> None:
    made = spec(own(base, "pins:\n  - {id: three, match: {newest: 3}}\n  - {id: one, match: {role: user}}\n"))
    assert [pin.id for pin in made.pins] == ["one", "two", "three"]
    assert made.pins[0].match.role == ("user",)
    assert made.pins[0].match.newest is None


def test_before_places_an_entry(base: Path) -> None:
    made = spec(
        own(base, "pins:\n  - {id: x, match: {newest: 3}, before: one}\n  - {id: two, match: {newest: 9}, before: x}\n")
    )
    assert [pin.id for pin in made.pins] == ["two", "x", "one"]
    rules = "rules:\n  - {id: more, match: {role: tool}, mask: {batch: 5}, before: evict}\n"
    assert [rule.id for rule in spec(own(base, rules)).rules] == ["mask", "more", "evict"]


def test_disable_leaves_out_what_is_inherited(base: Path) -> None:
    made = spec(own(base, "disable: [one, evict]\n"))
    assert [pin.id for pin in made.pins] == ["two"]
    assert [rule.id for rule in made.rules] == ["mask"]
    again = spec(own(base, "disable: one\npins: [{id: one, match: {newest: 7}}]\n"))
    assert [pin.id for pin in again.pins] == ["two", "one"]


def test_own_readings_come_first(base: Path) -> None:
    made = spec(own(base, "read_as: [{match: {role: user, contains: own}, as: injected}]\n"))
    assert [entry.match.contains for entry in made.read_as] == [("own",), ("base",)]


def test_later_bases_win_and_own_wins_over_all(base: Path) -> None:
    (base / "later.yaml").write_text("version: 1\nbudget: {ratio: 0.8, reserve: 5}\n", encoding="utf-8")
    text = "version: 1\nextends: [base.yaml, ./later.yaml]\nbudget: {reserve: 6}\n"
    made = spec(load_spec(text, base=base))
    assert (made.budget.ratio, made.budget.reserve) == (0.8, 6)


def test_every_value_knows_where_it_came_from(base: Path) -> None:
    document = own(base, "budget: {ratio: 0.6}\n").document
    assert document is not None
    assert Path(str(document.at(("budget", "ratio")).span)).name == "own.yaml:3"
    assert Path(str(document.at(("budget", "window")).span)).name == "base.yaml:3"


def test_faults_of_a_base_are_found_at_the_base_and_once(base: Path) -> None:
    (base / "base.yaml").write_text(BASE + "colour: red\n", encoding="utf-8")
    (base / "mid.yaml").write_text("version: 1\nextends: base.yaml\n", encoding="utf-8")
    loaded = load_spec("version: 1\nextends: [base.yaml, mid.yaml]\n", base=base)
    assert said(loaded) == ["base.yaml:13:1 CP201"]


def test_a_fault_that_composition_makes_is_found_where_it_was_written(base: Path) -> None:
    loaded = own(base, "rules:\n  - {id: evict, when: {pressure: {gt: 0.4}}, evict: {until: {pressure: {lt: 0.5}}}}\n")
    assert said(loaded) == ["own.yaml:4:54 CP303"]


def test_unknown_ids_are_errors(base: Path) -> None:
    loaded = own(base, "disable: [on, mine]\npins: [{id: mine, match: {newest: 1}, before: nobody}]\n")
    assert said(loaded) == ["own.yaml:3:11 CP308", "own.yaml:3:15 CP308", "own.yaml:4:47 CP308"]


def test_what_is_missing_in_a_base_that_failed_is_not_blamed_on_the_policy(base: Path) -> None:
    loaded = load_spec(
        "version: 1\nextends: [gone.yaml]\ndisable: [one]\npins: [{id: a, match: {newest: 1}, before: one}]\n",
        base=base,
    )
    assert [finding.code for finding in loaded.findings] == ["CP114"]


def test_circles_and_long_chains_end(tmp_path: Path) -> None:
    for name, other in (("a", "b"), ("b", "a")):
        (tmp_path / f"{name}.yaml").write_text(f"version: 1\nextends: {other}.yaml\n", encoding="utf-8")
    assert said(load_file(tmp_path / "a.yaml")) == ["b.yaml:2:10 CP309"]
    for n in range(40):
        (tmp_path / f"c{n}.yaml").write_text(f"version: 1\nextends: c{n + 1}.yaml\n", encoding="utf-8")
    assert [finding.code for finding in load_file(tmp_path / "c0.yaml").findings] == ["CP309"]


@pytest.mark.parametrize(
    ("entry", "code"),
    [
        ("https://example.com/p.yaml", "CP320"),
        ("builtin:nothing", "CP320"),
        ("builtin:../default", "CP320"),
        (".", "CP114"),
        ("binary.yaml", "CP114"),
        ("latin.yaml", "CP114"),
        ("empty.yaml", "CP102"),
    ],
)
def test_bases_that_cannot_be_used(tmp_path: Path, entry: str, code: str) -> None:
    (tmp_path / "binary.yaml").write_bytes(b"\0\1\2")
    (tmp_path / "latin.yaml").write_bytes("name: é".encode("latin-1"))
    (tmp_path / "empty.yaml").write_bytes(b"")
    loaded = load_spec(f"version: 1\nextends: ['{entry}']\n", base=tmp_path)
    assert [finding.code for finding in loaded.findings] == [code]
    assert loaded.spec is None


def test_the_policies_extended_many_times_are_read_once(tmp_path: Path) -> None:
    """Without memory of what was read, a ladder of thirteen steps would be read 16^13 times."""
    (tmp_path / "s0.yaml").write_text("version: 1\nbudget: {window: 5000}\n", encoding="utf-8")
    for n in range(1, 14):
        (tmp_path / f"s{n}.yaml").write_text(
            f"version: 1\nextends: [{', '.join([f's{n - 1}.yaml'] * 16)}]\n", encoding="utf-8"
        )
    assert load_file(tmp_path / "s13.yaml").spec is not None
