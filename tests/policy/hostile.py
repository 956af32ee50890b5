"""Policies made to bring a reader down, each with the code that answers it."""

from __future__ import annotations

from itertools import pairwise

HEAD = "version: 1\nbudget: {window: 100000}\n"
LETTERS = "abcdefghijk"


_COMPACT = """rules:
  - id: c
    when: {pressure: {gt: 0.7}}
    compact:
      until: {pressure: {lt: 0.5}}
      prompt: """


def _prompt(text: str) -> str:
    return f"{HEAD}{_COMPACT}{text!r}\n"


def _pins(count: int, match: str) -> str:
    return f"{HEAD}pins:\n" + "".join(f"  - {{id: p{n}, match: {match.replace('@', str(n))}}}\n" for n in range(count))


def _bomb() -> str:
    lines = ["a: &a [x, x, x, x, x, x, x, x, x]"]
    lines += [f"{c}: &{c} [{', '.join(['*' + b] * 9)}]" for b, c in pairwise(LETTERS)]
    return "\n".join(lines)


_LONG_LIST = f"[{'1,' * 99}]"

POLICIES: dict[str, tuple[str, str]] = {
    "aliases of aliases": ("CP108", _bomb()),
    "an alias of itself": ("CP110", "version: 1\nname: &a [*a]\n"),
    "brackets": ("CP107", "[" * 500_000),
    "dashes": ("CP107", "- " * 300_000),
    "a huge file": ("CP109", HEAD + "description: " + "x" * (1 << 20)),
    "many values": ("CP108", _pins(5_000, "{newest: @}")),
    "many entries": ("CP108", _pins(1_001, "{newest: 1}")),
    "many unknown keys": ("CP201", HEAD + "".join(f"k{n}: 1\n" for n in range(5_000))),
    "many bases": ("CP204", f"{HEAD}extends: [{', '.join(['builtin:default'] * 5_000)}]\n"),
    "many choices": ("CP204", _pins(1, f"{{any: [{', '.join(['{role: user}'] * 3_000)}]}}")),
    "a name to compare with many": ("CP308", f"{HEAD}disable: [{', '.join(f'x{n}' for n in range(2_000))}]\n"),
    "a pattern that repeats": ("CP310", _pins(1, r"{regex: '[\pL\pN]{1000}'}")),
    "patterns that repeat": ("CP310", _pins(300, r"{regex: '[\pL\pN]{1000}@'}")),
    "patterns that are large together": ("CP310", _pins(300, "{regex: '(?i)((a{30}){30}|[^x]{100})@'}")),
    "a long pattern": ("CP310", _pins(1, "{regex: '" + r"\pL+" * 100_000 + "'}")),
    "a nested pattern": ("CP310", _pins(1, "{regex: '" + "(" * 200_000 + "'}")),
    "a power": ("CP311", _prompt("{{ 9 ** 9 ** 9 }}{{ span }}")),
    "a long text by `*`": ("CP311", _prompt("{{ 'a' * 1000000000 }}{{ span }}")),
    "a long text by `%`": ("CP311", _prompt("{{ '%999999999s' % span }}")),
    "a constant that is folded in a branch": ("CP311", _prompt("{% if 9 ** 9 ** 9 > 1 %}{{ span }}{% endif %}")),
    "a constant that is folded in a filter": ("CP311", _prompt("{{ (9 ** 9 ** 9) | string }}{{ span }}")),
    "a constant that is folded in a loop": ("CP311", _prompt("{% for x in [9 ** 9 ** 9] %}{{ span }}{% endfor %}")),
    "a way out by attributes": ("CP311", _prompt("{{ span.__class__.__mro__[1].__subclasses__() }}")),
    "a way out by a filter": ("CP311", _prompt("{{ span | attr('__class__') }}")),
    "a way out by a global": ("CP311", _prompt("{{ cycler.__init__.__globals__.os.popen('id').read() }}")),
    "a way out by an include": ("CP311", _prompt("{% include '/etc/passwd' %}{{ span }}")),
    "a way out by a format": ("CP311", _prompt("{{ '{0.__class__}'.format(span) }}")),
    "loops": (
        "CP311",
        _prompt(
            f"{{% for a in {_LONG_LIST} %}}{{% for b in {_LONG_LIST} %}}{{{{ span }}}}{{% endfor %}}{{% endfor %}}"
        ),
    ),
    "a loop over a range": ("CP311", _prompt("{% for a in range(999999999) %}{{ span }}{% endfor %}")),
    "brackets in a template": ("CP311", _prompt("{{ " + "(" * 3_500 + "span" + ")" * 3_500 + " }}")),
    "not, not, not": ("CP311", _prompt("{{ " + "not " * 1_500 + "span }}")),
    "a long template": ("CP311", _prompt("{% if span %}a{% endif %}" * 3_000)),
    "a comparison that fails": ("CP311", _prompt("{% if span > 3 %}{{ span }}{% endif %}")),
    "a comparison that fails later": ("CP311", _prompt("{% if previous and previous > 3 %}x{% endif %}{{ span }}")),
    "a control character": ("CP111", HEAD + "name: 'a\x1b[2Jb'\n"),
}

_EVICT = "  - {id: e@, when: {pressure: {gt: 0.9}}, evict: {until: {pressure: {lt: 0.7}}}}\n"
_MASK = "  - {id: m@, match: {role: tool, tool: b@}, mask: {}}\n"
_LOGIC = "{{ span }}" + "{% if span %}a{% endif %}" * 40
_WRITE = (
    "  - {id: c@, when: {pressure: {gt: 0.7}}, compact: {until: {pressure: {lt: 0.5}}, prompt: '@ " + _LOGIC + "'}}\n"
)


def _rules(count: int, rule: str) -> str:
    return "rules:\n" + "".join(rule.replace("@", str(n)) for n in range(count))


# Legal or nearly so, and large: what they cost is measured by the bench.
SLOW: dict[str, tuple[str, str]] = {
    "templates": ("CP311", HEAD + _rules(300, _WRITE)),
    "rules that are compared": ("CP412", HEAD + _rules(900, _EVICT)),
    "pins and rules that are compared": ("CP403", _pins(400, "{role: tool, tool: a@}") + _rules(600, _MASK)),
}
