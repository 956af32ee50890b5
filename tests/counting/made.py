"""Texts that are made here: noise, data, and what tools print. The same everywhere, and by nature all alike."""

from __future__ import annotations

import base64
import json
import random
import uuid
from collections.abc import Callable
from string import ascii_lowercase, ascii_uppercase
from typing import Any

MANY = 20  # texts of one kind

_PLACES = ("north pier", "south pier", "dry dock", "fuel berth", "cold store", "pilot house", "rail yard")
_PARTS = ("valve", "brake", "crane", "pump", "winch", "gauge", "hatch", "beacon", "sensor_7", "gearBox")
_DEEDS = ("opened", "checked", "moved", "left open", "not found", "timed out after 30s", "replaced", "is overdue")


def made() -> dict[str, list[str]]:
    """The texts of each kind, of 1,000 to 4,000 characters."""
    return {kind: [make(random.Random(seed)) for seed in range(MANY)] for kind, make in _MAKERS.items()}


def _lines(line: Callable[[random.Random, int], str]) -> Callable[[random.Random], str]:
    return lambda chance: "".join(f"{line(chance, n)}\n" for n in range(40))


def _row(chance: random.Random, n: int) -> dict[str, Any]:
    return {
        "id": 4000 + n,
        "part": chance.choice(_PARTS),
        "place": chance.choice(_PLACES),
        "lastChecked": _time(chance),
        "is_open": chance.random() < 0.5,
        "pressure": round(chance.uniform(0, 9), 3),
        "notes": [f"{chance.choice(_PARTS)} {chance.choice(_DEEDS)}" for _ in range(chance.randrange(3))],
        "owner": None,
    }


def _time(chance: random.Random) -> str:
    day, hour, minute, second = (chance.randrange(*span) for span in ((1, 29), (24,), (60,), (60,)))
    return f"2026-{chance.randrange(1, 13):02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z"


def _log(chance: random.Random, n: int) -> str:
    level = chance.choice(("INFO", "INFO", "DEBUG", "WARNING", "ERROR"))
    where = f"harbour.{chance.choice(_PARTS)}[{chance.randrange(9000)}]"
    what = f"{chance.choice(_PARTS)} at {chance.choice(_PLACES)} {chance.choice(_DEEDS)}"
    return f"{_time(chance)} {level:<8} {where}: {what} ({n}/40)"


def _listing(chance: random.Random, n: int) -> str:
    size, name = chance.randrange(10**6), f"{chance.choice(_PARTS)}_{n}.{chance.choice(('py', 'json', 'md'))}"
    folder = chance.choice(_PLACES).replace(" ", "-")
    return f"-rw-r--r--  1 anna crew {size:>8} Dec {n % 28 + 1:>2} 09:{n:02} src/{folder}/{name}"


def _trace(chance: random.Random, n: int) -> str:
    part, line = chance.choice(_PARTS), chance.randrange(900)
    return f'  File "/app/harbour/{part}.py", line {line}, in read_{part}\n    return self.{part}s[{n}].value'


def _change(chance: random.Random, n: int) -> str:
    part, place = chance.choice(_PARTS), chance.choice(_PLACES)
    return f"-    {part} = self.find({n})\n+    {part} = self.find({n}, place={place!r})\n     return {part}.state"


def _figures(chance: random.Random, n: int) -> str:
    return ",".join(f"{chance.uniform(0, 999):.{chance.randrange(5)}f}" for _ in range(8))


def _element(chance: random.Random, n: int) -> str:
    part = chance.choice(_PARTS)
    return f'<li class="part {part}" id="p{n}"><a href="/parts/{n}?open=1">{part} {chance.choice(_DEEDS)}</a></li>'


def _arguments(chance: random.Random) -> str:
    """The arguments of a call that writes a file: code, as JSON text."""
    code = _lines(_change)(chance)
    return json.dumps({"path": f"/app/{chance.choice(_PARTS)}.py", "content": code})


_MAKERS: dict[str, Callable[[random.Random], str]] = {
    "base64": lambda chance: base64.b64encode(chance.randbytes(1500)).decode(),
    "hex": lambda chance: chance.randbytes(1000).hex(),
    "digits": lambda chance: "".join(chance.choices("0123456789", k=1000)),
    "letters": lambda chance: "".join(chance.choices(chance.choice((ascii_lowercase, ascii_uppercase)), k=1000)),
    "base32": lambda chance: base64.b32encode(chance.randbytes(1000)).decode(),
    "uuids": _lines(lambda chance, n: str(uuid.UUID(bytes=chance.randbytes(16), version=4))),
    "numbers": _lines(_figures),
    "json": lambda chance: json.dumps([_row(chance, n) for n in range(20)], separators=(",", ":")),
    "json indented": lambda chance: json.dumps([_row(chance, n) for n in range(12)], indent=2),
    "arguments": _arguments,
    "logs": _lines(_log),
    "listing": _lines(_listing),
    "traceback": _lines(_trace),
    "diff": _lines(_change),
    "html": _lines(_element),
}  # fmt: skip
