"""The page: well-formed, self-contained, safe from what a transcript says, and good to look at in a browser."""

from __future__ import annotations

import html
import json
import re
import shutil
import struct
import subprocess
import zlib
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from ctxpolicy.cli import main
from ctxpolicy.simulate.profiles import session

EXAMPLE = str(Path(__file__).parents[2] / "policies" / "examples" / "support-session.jsonl")
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
_VOID = {"meta", "br", "wbr"}
_EVIL = "<script>alert(1)</script>\"'><img src=x onerror=alert(2)>&amp;</td></table>"


class _Reader(HTMLParser):
    """Checks that tags nest, and collects elements with their attributes."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: list[tuple[str, dict[str, str | None]]] = []
        self.text: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append((tag, dict(attrs)))
        if tag not in _VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text.append(data)


def _read(path: str) -> _Reader:
    reader = _Reader()
    reader.feed(Path(path).read_text(encoding="utf-8"))
    reader.close()
    assert not reader.open
    return reader


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def _run(*args: str) -> Result:
    done = CliRunner().invoke(main, args)
    assert done.exit_code == 0, done.stderr
    return done


def _evil_transcript() -> str:
    call = {"id": "a", "type": "function", "function": {"name": f"t{_EVIL}", "arguments": "{}"}}
    messages: list[dict[str, Any]] = [
        {"role": "user", "content": _EVIL},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "a", "content": f"{_EVIL}\ud800" * 40},
    ]
    Path("evil.jsonl").write_text("".join(json.dumps(message) + "\n" for message in messages))
    return "evil.jsonl"


COMMANDS = {
    "simulate": ("simulate", "--turns", "12", "--window", "20000"),
    "inspect": ("inspect", "--window", "16000", EXAMPLE),
    "apply": ("apply", "-p", "builtin:default", "--window", "16000", "--dry-run", EXAMPLE),
}


@pytest.mark.parametrize("name", COMMANDS)
def test_it_is_well_formed_and_loads_nothing(name: str) -> None:
    _run(*COMMANDS[name], "--html", "page.html")
    reader = _read("page.html")
    names = {tag for tag, _ in reader.seen}
    assert {"svg", "table", "style", "details"} <= names
    assert not names & {"script", "link", "img", "iframe", "object", "embed", "base", "form"}
    for tag, attributes in reader.seen:
        assert not [name for name in attributes if name.startswith("on") or name in ("src", "href", "srcset")], tag
    text = Path("page.html").read_text()
    assert "url(" not in text
    assert "@import" not in text
    assert not re.search(r"https?://", text)
    assert "prefers-color-scheme: dark" in text


@pytest.mark.parametrize("name", ["inspect", "simulate"])
def test_what_a_transcript_says_is_text(name: str) -> None:
    _run(name, _evil_transcript(), "--html", "page.html")
    reader = _read("page.html")
    assert not {tag for tag, _ in reader.seen} & {"script", "img"}
    assert any("<script>alert(1)</script>" in text for text in reader.text)


def test_what_it_shows() -> None:
    _run(*COMMANDS["inspect"], "--html", "page.html")
    text = "".join(_read("page.html").text)
    for said in ("Inside ", "limit 7,200 tokens", "0.90 evict-oldest", "0.70 compact-oldest", "query_logs", "6,246"):
        assert said in text
    assert "Messages and their fates if the policy took the list over now: 108" in text
    assert "compacted" in text


def test_a_verdict() -> None:
    _run(*COMMANDS["simulate"], "--html", "page.html")
    assert "Passed." in "".join(_read("page.html").text)
    Path("bad.yaml").write_text(
        "version: 1\nname: bad\nbudget: {window: 8000}\nrules:\n"
        "  - {id: drop, at: send, when: {pressure: {gt: 0.9}}, evict: {until: {pressure: {lt: 0.5}}}}\n"
    )
    done = CliRunner().invoke(main, ["simulate", "-p", "bad.yaml", "--turns", "12", "--html", "page.html"])
    assert done.exit_code == 1
    assert "Failed: task gone" in " ".join("".join(_read("page.html").text).split())


def test_several_sessions_have_a_line_each() -> None:
    for seed in (1, 2):
        lines = [json.dumps(message) for message in session("service", 5, seed)]
        Path(f"{seed}.jsonl").write_text("\n".join(lines))
    for name in ("inspect", "simulate"):
        _run(name, "1.jsonl", "2.jsonl", "--html", "page.html")
        text = "".join(_read("page.html").text)
        assert "2 sessions" in text
        assert text.count("1.jsonl:1") == 2  # its line, and its part


def test_a_long_session_is_cut_in_the_middle() -> None:
    _run("simulate", "--profile", "chat", "--turns", "510", "--html", "page.html")
    text = "".join(_read("page.html").text)
    assert "messages are left out here" in text
    assert Path("page.html").stat().st_size < 1_000_000


def test_a_file_that_cannot_be_written() -> None:
    Path("folder").mkdir()
    for target in ("none/page.html", "folder"):
        done = CliRunner().invoke(main, ["simulate", "--turns", "2", "--html", target])
        assert (done.exit_code, done.stdout) == (2, "")  # found out before the work begins
        assert f"--html {target}: cannot be written: " in done.stderr
        assert "name another file" in done.stderr
    assert sorted(path.name for path in Path().iterdir()) == ["folder"]


@pytest.mark.slow
@pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium")
@pytest.mark.parametrize("name", COMMANDS)
def test_a_browser_renders_it(name: str, tmp_path: Path) -> None:
    """The curve is drawn in the colours of both schemes, and a phone has nothing to scroll sideways."""
    _run(*COMMANDS[name], "--html", "page.html")
    page = Path("page.html").read_text(encoding="utf-8")
    light, dark = (_colours(_shot(tmp_path, "page.html", scheme)) for scheme in ("light", "dark"))
    assert (0x25, 0x63, 0xC9) in light
    assert (0x6A, 0xA3, 0xFF) in dark
    assert (0xF6, 0xF7, 0xF9) in light
    assert (0x10, 0x14, 0x1A) in dark
    assert _width_at(360, page, tmp_path) == 360


def _chromium(tmp_path: Path, *args: str) -> str:
    quiet = (
        "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
        "--disable-component-update --disable-sync --hide-scrollbars"
    )
    command = [str(CHROMIUM), *quiet.split(), f"--user-data-dir={tmp_path / 'profile'}", *args]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=True).stdout


def _shot(tmp_path: Path, page: str, scheme: str) -> Path:
    picture = tmp_path / f"{scheme}.png"
    setting = f"--blink-settings=preferredColorScheme={'0' if scheme == 'dark' else '1'}"
    _chromium(tmp_path, "--window-size=1200,1600", setting, f"--screenshot={picture}", Path(page).resolve().as_uri())
    return picture


def _width_at(width: int, page: str, tmp_path: Path) -> int:
    """How wide the page is laid out in a frame of this width: more means that it scrolls sideways."""
    measure = "document.title = document.querySelector('iframe').contentDocument.documentElement.scrollWidth"
    frame = f'<iframe width={width} height=800 style="border:0" srcdoc="{html.escape(page)}" onload="{measure}">'
    Path("frame.html").write_text(f"<!doctype html><title></title>{frame}</iframe>", encoding="utf-8")
    found = re.search(r"<title>(\d+)</title>", _chromium(tmp_path, "--dump-dom", Path("frame.html").resolve().as_uri()))
    assert found
    return int(found[1])


def _colours(picture: Path) -> set[tuple[int, int, int]]:
    """The colours in a PNG of 8 bits a channel (PNG specification, filter types 0 to 4)."""
    data = picture.read_bytes()
    width, _, depth, kind = struct.unpack(">IIBB", data[16:26])
    assert (depth, kind in (2, 6)) == (8, True)
    size = 3 if kind == 2 else 4
    packed, at = b"", 8
    while at < len(data):
        (length,) = struct.unpack(">I", data[at : at + 4])
        packed += data[at + 8 : at + 8 + length] if data[at + 4 : at + 8] == b"IDAT" else b""
        at += 12 + length
    raw, stride, before, colours = zlib.decompress(packed), width * size, bytearray(width * size), set()
    for start in range(0, len(raw), stride + 1):
        line = bytearray(raw[start + 1 : start + 1 + stride])
        _unfilter(raw[start], line, before, size)
        colours |= set(zip(line[0::size], line[1::size], line[2::size], strict=True))
        before = line
    return colours


def _unfilter(kind: int, line: bytearray, above: bytearray, size: int) -> None:
    for i in range(len(line)):
        left = line[i - size] if i >= size else 0
        corner = above[i - size] if i >= size else 0
        if kind == 1:
            line[i] = (line[i] + left) & 255
        elif kind == 2:
            line[i] = (line[i] + above[i]) & 255
        elif kind == 3:
            line[i] = (line[i] + (left + above[i]) // 2) & 255
        elif kind == 4:
            guess = left + above[i] - corner
            nearest = min((left, above[i], corner), key=lambda value: abs(guess - value))
            line[i] = (line[i] + nearest) & 255
