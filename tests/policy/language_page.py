"""docs/language.md, made of the schema's descriptions and a little prose. `pytest tests/policy --regen` writes it."""

from __future__ import annotations

import json
from typing import Any

from ctxpolicy.policy.expected import expected
from ctxpolicy.policy.language import schema

_INTRO = """\
# The policy language, version 1

A policy is one YAML file. It says what stays in an agent's list of messages, and what happens to the rest when room
gets scarce. `ctxpolicy check` judges it, `ctxpolicy show` prints it with what it extends, every default and the place
where each value was written. With this first line an editor completes keys and shows what they mean:

```yaml
# yaml-language-server: $schema=policy-v1.schema.json
```

`ctxpolicy schema > policy-v1.schema.json` writes that file. Scalars are those of YAML 1.2: `yes` and `on` are texts,
`128_000` is no number. Write patterns in single quotes. An unknown key is an error everywhere.

This page is written by `pytest tests/policy --regen` from the schema; `codes.md` lists what `check` finds.
"""

# Heading, the schema's part, and what its table does not say.
_SECTIONS: tuple[tuple[str, str, str], ...] = (
    ("Top level", "", "Only `version` is required; a policy that runs also has `budget.window`."),
    (
        "budget",
        "properties/budget",
        "The budget limit is floor(window x ratio) - reserve. Pressure is what is used, divided by the limit.",
    ),
    (
        "read_as",
        "definitions/read_as",
        "How messages are read that a harness writes in another role. The role on the wire stays as it is. `match` is "
        "a match (below) with `role`, `name`, `contains`, `regex`, `oldest`, `field`, `meta`, `not`, `any` and `all` "
        "only.",
    ),
    (
        "pins",
        "definitions/pin",
        "A pin protects the whole unit of every message it matches: an assistant message with its calls and all their "
        "results, or one message alone.",
    ),
    (
        "match",
        "definitions/match",
        "All keys given must hold; a list under a key means any of it. `match: all` matches every message. `not`, "
        "`any` and `all` may be nested four deep. Ranks are decided last, among what the other keys of the same "
        "mapping match. A missing field never matches.",
    ),
    (
        "rules",
        "definitions/rule",
        "Each rule has one action. `truncate`, `mask` and `refuse` need `match`; `compact` and `evict` need `when` and "
        "take no `match`. At append a rule sees the message alone, so it can ask neither for ranks nor for the list.",
    ),
    ("when", "definitions/when", "All keys given must hold. It is checked before every model call."),
    (
        "truncate",
        "definitions/truncate",
        "The result, marker included, is never over the cap. The original is archived.",
    ),
    ("mask", "definitions/mask", "Only parts that get smaller by it are masked. Calls and words stay."),
    (
        "compact",
        "definitions/compact",
        "The oldest units that are free give way to one summary. Without a summarizer, or when it fails, the rule "
        "declines and the next ones act.",
    ),
    ("evict", "definitions/evict", "The last resort: no summary is made."),
    ("refuse", "definitions/refuse", "`append` raises `MessageTooLarge`, and the list is unchanged."),
    (
        "summarizer",
        "definitions/summarizer_entry",
        "One, or a list: the next is asked where one fails. A text such as `extract` is short for `{use: extract}`.",
    ),
    ("archive", "properties/archive", "`archive: false` keeps nothing."),
    ("Comparators", "definitions/whole_compare", "Those of shares go from 0 to 2."),
    (
        "Ranks and amounts",
        "definitions/rank",
        "`newest`, `oldest` and `all_but_newest` take a number of messages or one of these. An amount, such as "
        "`min_gain`, is a share of the budget limit or `{tokens: N}`.",
    ),
)
_TEMPLATES = """\
## Templates

`prompt` may use `span`, `word_limit`, `nothing`, `count`, `previous` and `task`; `{{ span }}` has to be in it. It can
choose (`{% if previous %}`), repeat a list that is written out, and use a few filters; it cannot call, compute or reach
into a value. `marker`, `placeholder` and `label` may use `count`, `chars`, `lines`, `tokens`, `tool` and `ref`, and
only print them: they are known again by their words. The text of messages is never read as a template.

## Composition

`extends` names local files, relative to this one, or `builtin:NAME`. Mappings merge by key, all the way down. `pins`
and `rules` merge by `id`: the same id replaces the whole entry in place, a new one comes last, or stands `before` the
one it names. `disable` leaves inherited entries out. Own entries of `read_as` come before inherited ones.
"""


def page() -> str:
    """The whole page."""
    return "\n".join([_INTRO, *(_section(*section) for section in _SECTIONS), _TEMPLATES])


def _section(heading: str, where: str, prose: str) -> str:
    body = schema()
    for step in where.split("/") if where else ():
        body = body[step]
    return f"## {heading}\n\n{prose}\n\n| key | value | default | |\n| --- | --- | --- | --- |\n{_rows(body)}\n"


def _rows(body: dict[str, Any], prefix: str = "") -> str:
    """A row for each key; where its mapping is described nowhere else, also for the keys of that."""
    rows: list[str] = []
    for key, part in body["properties"].items():
        name = f"{prefix}{key}"
        required = key in body.get("required", ())
        rows.append(f"| `{name}` | {_value(part)} | {_default(part, required)} | {_about(part)} |".replace("  ", " "))
        if key in _OWN_ROWS:
            rows.append(_rows(part, f"{name}."))
    return "\n".join(rows)


_OWN_ROWS = ("media", "counter", "span", "input", "keep_facts")


def _default(part: dict[str, Any], required: bool) -> str:
    if required:
        return "required"
    return f"`{json.dumps(part['default'])}`" if part.get("default") not in (None, {}, "") else ""


def _about(part: dict[str, Any]) -> str:
    return str(part.get("description") or _target(part).get("description", ""))


def _target(part: dict[str, Any]) -> dict[str, Any]:
    inner = part.get("allOf", [part])[0]
    found: dict[str, Any] = schema()["definitions"][inner["$ref"].rpartition("/")[2]] if "$ref" in inner else part
    return found


def _value(part: dict[str, Any]) -> str:
    """What may stand there, in words."""
    body = _target(part)
    return f"{expected(body['anyOf'][0])}, or a list of these" if "anyOf" in body else expected(body)
