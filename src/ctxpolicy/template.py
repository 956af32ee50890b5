"""Templates: a small, safe part of Jinja2.

A template is judged by an allow-list of node types before anything of it is compiled: Jinja2 folds constants while it
compiles, which runs code. What passes can only choose, repeat a written-out list, filter and print; it cannot call,
import, compute or reach into a value. Text without anything but `{{ name }}` needs no Jinja2 at all.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any

import msgspec

from ctxpolicy.errors import CtxPolicyError

if TYPE_CHECKING:
    from jinja2 import nodes
    from jinja2.sandbox import ImmutableSandboxedEnvironment

PROMPT_VARIABLES = frozenset({"span", "word_limit", "nothing", "count", "previous", "task"})
MARKER_VARIABLES = frozenset({"count", "chars", "lines", "tokens", "tool", "ref"})

Render = Callable[..., str]  # takes the variables by keyword

MAX_SOURCE = 64 * 1024  # characters
MAX_LOGIC = 24_000  # characters of a template with more than `{{ name }}`: Jinja2 takes some 10 ms for a thousand
MAX_OUTPUT = 4 * 1024 * 1024  # characters
MAX_DEPTH = 24  # of the syntax tree: far above any prompt, far below the interpreter's stack
MAX_LOOPS = 2
MAX_WORK = 10_000  # steps: every part of a template, times the rounds of the loops around it

_PLAIN = re.compile(r"\{\{\s*([A-Za-z_][A-Za-z0-9_]*)\s*\}\}")
_ALL_PLAIN = re.compile(r"(?:[^{]++|\{(?![{%#])|\{\{\s*[A-Za-z_][A-Za-z0-9_]*\s*\}\})*+")
# What looks like a name and is none in Jinja2.
_WORDS = frozenset({"true", "false", "none", "True", "False", "None", "and", "or", "not", "in", "is", "if", "else"})
_NEWLINE = re.compile("\r\n?")

# Jinja2's syntax tree, by the names of its classes; everything else is turned away.
_NODES = frozenset(
    {"Template", "Output", "TemplateData", "Name", "Const", "If", "CondExpr", "For", "List", "Tuple", "Filter", "Test"}
    | {"Compare", "Operand", "And", "Or", "Not", "Concat"}
)
_FILTERS = frozenset({"trim", "upper", "lower", "capitalize", "title", "length", "default", "first", "last", "int"})
_TESTS = frozenset({"defined", "undefined", "none", "string", "number"})
_CALLED = {
    "Call": "a template cannot call anything",
    "Getattr": "a template cannot reach into a value with a dot",
    "Getitem": "a template cannot reach into a value with `[...]`",
    "Include": "a template cannot include another",
    "Import": "a template cannot import another",
    "FromImport": "a template cannot import another",
    "Extends": "a template cannot extend another",
    "Macro": "a template cannot define macros",
    "CallBlock": "a template cannot call macros",
    "Assign": "a template cannot set variables",
    "AssignBlock": "a template cannot set variables",
}
_ARITHMETIC = {
    "Add": "+",
    "Sub": "-",
    "Mul": "*",
    "Div": "/",
    "FloorDiv": "//",
    "Mod": "%",
    "Pow": "**",
    "Neg": "-",
    "Pos": "+",
}


class TemplateError(CtxPolicyError, ValueError):
    """A template that is not allowed, or that wrote more than MAX_OUTPUT characters."""


class Fault(msgspec.Struct, frozen=True):
    """What is wrong with a template. `line` counts from 1 within the template."""

    message: str
    line: int
    hint: str | None = None


class Checked(msgspec.Struct, frozen=True):
    """What a check found: the variables that the template uses, and its faults."""

    variables: frozenset[str]
    faults: tuple[Fault, ...]


def is_plain(text: str) -> bool:
    """True when a template holds nothing but words and `{{ name }}`."""
    return _ALL_PLAIN.fullmatch(text) is not None and _WORDS.isdisjoint(_PLAIN.findall(text))


def literal(text: str) -> str:
    """The words of a plain template, without its variables."""
    return _PLAIN.sub("", text)


@lru_cache(maxsize=256)
def check(text: str, allowed: frozenset[str]) -> Checked:
    """Judge a template that may use the variables `allowed`. Nothing of it is compiled or run."""
    plain = is_plain(text)
    most = MAX_SOURCE if plain else MAX_LOGIC
    if len(text) > most:
        what = "a template" if plain else "a template with more than `{{ name }}` in it"
        return Checked(frozenset(), (Fault(f"{what} may have {most:,} characters, this one has {len(text):,}", 1),))
    if plain:
        places = [(found[1], text.count("\n", 0, found.start()) + 1) for found in _PLAIN.finditer(text)]
        faults = [_unknown(name, line, allowed) for name, line in places if name not in allowed]
        return Checked(frozenset(name for name, _ in places), tuple(faults))
    return _check_tree(text, allowed)


@lru_cache(maxsize=256)
def compile(text: str, allowed: frozenset[str] = PROMPT_VARIABLES | MARKER_VARIABLES) -> Render:
    """A function from variables, by keyword, to the finished text.

    None is written as nothing; every variable that the template uses must be given. Raises TemplateError for a
    template that `check` would fault; the function raises it for an output above MAX_OUTPUT.
    """
    if faults := check(text, allowed).faults:
        raise TemplateError(faults[0].message)
    if is_plain(text):
        return _plain(text)
    from jinja2 import TemplateRuntimeError

    template = _environment().from_string(text)

    def render(**variables: object) -> str:
        try:
            return _capped(template.generate(**variables))
        except (TypeError, ValueError, LookupError, ArithmeticError, TemplateRuntimeError) as error:
            raise TemplateError(f"the template failed: {error}") from error

    return render


def _plain(text: str) -> Render:
    # Jinja2 writes every line break as "\n"; both ways of rendering must agree.
    parts = _PLAIN.split(_NEWLINE.sub("\n", text))  # words at even places, names at odd ones
    words, names = parts[::2], parts[1::2]

    def render(**variables: object) -> str:
        pieces = [words[0]]
        for name, after in zip(names, words[1:], strict=True):
            pieces += (_text(variables[name]), after)
        return _capped(pieces)

    return render


def _text(value: object) -> str:
    return "" if value is None else str(value)


def _capped(pieces: Iterable[str]) -> str:
    written: list[str] = []
    room = MAX_OUTPUT
    for piece in pieces:
        room -= len(piece)
        if room < 0:
            raise TemplateError(f"the template wrote more than {MAX_OUTPUT:,} characters")
        written.append(piece)
    return "".join(written)


@cache
def _environment() -> ImmutableSandboxedEnvironment:
    from jinja2 import StrictUndefined
    from jinja2.sandbox import ImmutableSandboxedEnvironment

    environment = ImmutableSandboxedEnvironment(
        undefined=StrictUndefined,
        keep_trailing_newline=True,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_blank_none,
    )
    environment.globals.clear()
    return environment


def _blank_none(value: Any) -> Any:
    return "" if value is None else value


def _check_tree(text: str, allowed: frozenset[str]) -> Checked:
    from jinja2 import TemplateSyntaxError

    try:
        tree = _environment().parse(text)
    except TemplateSyntaxError as error:
        return Checked(frozenset(), (Fault(f"this is no template: {error.message}", error.lineno),))
    except RecursionError:
        return Checked(frozenset(), (_too_deep(1),))
    walk = _Walk(allowed)
    walk.visit(tree)
    return Checked(frozenset(walk.used), tuple(walk.faults))


def _unknown(name: str, line: int, allowed: frozenset[str]) -> Fault:
    from ctxpolicy.policy.phrases import did_you_mean

    known = f"known here: {', '.join(sorted(allowed))}"
    return Fault(
        f"the template uses `{name}`, which it is not given", line, did_you_mean(name, sorted(allowed)) or known
    )


def _too_deep(line: int) -> Fault:
    return Fault("the template is nested too deep", line, "make it simpler")


def _too_much(line: int) -> Fault:
    return Fault(f"writing the template out takes more than {MAX_WORK:,} steps", line, "make its loops shorter")


class _Walk:
    """The allow-list, node by node. Its own stack, so that no template can exhaust the interpreter's."""

    def __init__(self, allowed: frozenset[str]) -> None:
        self.allowed = allowed
        self.used: set[str] = set()
        self.faults: list[Fault] = []
        self.work = 0

    def visit(self, tree: nodes.Template) -> None:
        stack: list[tuple[Any, int, int, int, frozenset[str]]] = [(tree, 0, 0, 1, frozenset())]
        while stack and len(self.faults) < 10:
            node, depth, loops, rounds, own = stack.pop()
            kind = type(node).__name__
            self.work += rounds
            if depth > MAX_DEPTH or self.work > MAX_WORK:
                self.faults.append(_too_deep(node.lineno) if depth > MAX_DEPTH else _too_much(node.lineno))
                return
            if not self.judge(node, kind, own):
                continue  # what stands inside it is not worth a second finding
            if kind == "For":
                own = own | {node.target.name} if type(node.target).__name__ == "Name" else own
                loops, rounds = loops + 1, rounds * max(1, len(getattr(node.iter, "items", ())))
                self.judge_loop(node, loops)
            stack.extend((child, depth + 1, loops, rounds, own) for child in reversed(list(node.iter_child_nodes())))

    def judge(self, node: Any, kind: str, own: frozenset[str]) -> bool:
        """Record what is wrong with one node; True when it may stand."""
        fault: Fault | None = None
        if kind == "Name":
            fault = self.judge_name(node, own)
        elif kind == "Filter" and node.name not in _FILTERS:
            known = f"there are {', '.join(sorted(_FILTERS))}"
            fault = Fault(f"a template cannot use the filter `{node.name}`", node.lineno, known)
        elif kind == "Test" and node.name not in _TESTS:
            fault = Fault(f"a template cannot use the test `{node.name}`", node.lineno)
        elif kind not in _NODES:
            sign = f"a template cannot compute with `{_ARITHMETIC[kind]}`" if kind in _ARITHMETIC else None
            message = sign or _CALLED.get(kind) or f"a template cannot use `{kind.lower()}`"
            fault = Fault(message, node.lineno, "print variables, and choose with `{% if ... %}`")
        if fault:
            self.faults.append(fault)
        return fault is None

    def judge_name(self, node: Any, own: frozenset[str]) -> Fault | None:
        if node.ctx != "load" or node.name in own:
            return None
        self.used.add(node.name)
        return None if node.name in self.allowed else _unknown(node.name, node.lineno, self.allowed)

    def judge_loop(self, node: Any, loops: int) -> None:
        if type(node.iter).__name__ not in ("List", "Tuple") or type(node.target).__name__ != "Name" or node.recursive:
            hint = "such as `{% for word in ['a', 'b'] %}`"
            self.faults.append(Fault("a loop runs over a list that is written out", node.lineno, hint))
        elif loops > MAX_LOOPS:
            self.faults.append(Fault(f"loops may be nested {MAX_LOOPS} deep", node.lineno))
