"""Templates: what may stand in one, and that nothing runs before it was judged."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ctxpolicy import template
from ctxpolicy.template import MARKER_VARIABLES, PROMPT_VARIABLES, TemplateError, check, compile, is_plain

GIVEN = {"span": "S", "word_limit": 200, "nothing": "NOTHING", "count": 3, "previous": None, "task": "T"}


@pytest.mark.parametrize(
    ("text", "out"),
    [
        ("a {{ span }} b", "a S b"),
        ("{{span}}{{ count }}", "S3"),
        ("{ } }} { {span}", "{ } }} { {span}"),
        ("x\r\ny\rz {{ span }}\n", "x\ny\nz S\n"),
        ("{% if previous %}old {{ previous }}\n{% endif %}\nnew", "new"),
        ("{% if count > 1 %}many{% else %}one{% endif %}", "many"),
        ("{{ previous }}|{{ task }}", "|T"),
        ("{% for a in ['x', 'y'] %}{% for b in [1, 2] %}{{ a }}{{ b }} {% endfor %}{% endfor %}", "x1 x2 y1 y2 "),
        ("{{ span | lower }}{# note #}", "s"),
        ("{% raw %}{{ not_a_name }}{% endraw %}", "{{ not_a_name }}"),
        ("{{ 'a' ~ span }}", "aS"),
        ("{{ true }}", "True"),
    ],
)
def test_what_templates_write(text: str, out: str) -> None:
    assert check(text, PROMPT_VARIABLES).faults == ()
    assert compile(text)(**GIVEN) == out


@pytest.mark.parametrize(
    "text",
    [
        "{{ span.upper() }}", "{{ range(9) }}", "{{ span.x }}", "{{ span['x'] }}", "{{ span | attr('x') }}",
        "{{ 9 ** 9 ** 9 }}", "{{ 'a' * 1000000000 }}", "{{ '%99999s' % span }}", "{{ 1 + 1 }}", "{{ [span] * 99 }}",
        "{% include 'x' %}", "{% import 'x' as y %}", "{% extends 'x' %}", "{% macro m() %}{% endmacro %}",
        "{% set x = 1 %}", "{% call x() %}{% endcall %}", "{% filter upper %}x{% endfilter %}",
        "{% block b %}{% endblock %}",
        "{% for c in span %}{% endfor %}", "{% for a in [1] recursive %}{% endfor %}",
        "{% for a, b in [[1, 2]] %}{% endfor %}",
        "{% for a in [1] %}{% for b in [1] %}{% for c in [1] %}x{% endfor %}{% endfor %}{% endfor %}",
        "{% for a in [" + "1," * 200 + "] %}{% for b in [" + "1," * 200 + "] %}x{% endfor %}{% endfor %}",
        "{{ span | tojson }}", "{{ span is sameas(1) }}", "{{ spam }}", "{{ self }}", "{{ loop }}", "{{ span",
        "{% if %}",
        "{{{ span }}}", "{{ " + "(" * 3000 + "1" + ")" * 3000 + " }}", "{{ span" + " | trim" * 200 + " }}",
        "{{ " + "not " * 2000 + "span }}", "x" * 70_000, "{% if span %}" * 200 + "{% endif %}" * 200,
        "{{ {'a': span} }}", "{{ span[::2] }}", "{{ dict(a=1) }}", "{{ cycler }}", "{{ ''.__class__ }}",
    ],
)  # fmt: skip
def test_what_is_turned_away(text: str) -> None:
    assert check(text, PROMPT_VARIABLES).faults
    with pytest.raises(TemplateError):
        compile(text)


def test_faults_have_lines_and_hints() -> None:
    faults = check("one\n{{ spn }}\n{{ x }}", PROMPT_VARIABLES).faults
    assert (faults[0].line, faults[0].hint) == (2, "did you mean `span`?")
    assert faults[1].line == 3


def test_variables_depend_on_what_the_template_is_for() -> None:
    assert check("{% if tool %}{{ tool }}{% endif %}", MARKER_VARIABLES).faults == ()
    assert check("{% if tool %}{{ tool }}{% endif %}", PROMPT_VARIABLES).faults != ()


def test_text_given_as_a_variable_is_never_a_template() -> None:
    hostile = "{{ 9 * 9 }}{% for x in y %}{{ nothing }}"
    assert compile("{{ span }}")(span=hostile) == hostile
    assert compile("{% if count %}{{ span }}{% endif %}")(span=hostile, count=1) == hostile


@pytest.mark.parametrize("text", ["{{ span }}", "{% if count %}{{ span }}{% endif %}"])
def test_output_is_capped(text: str) -> None:
    assert len(compile(text)(span="x" * template.MAX_OUTPUT, count=1)) == template.MAX_OUTPUT
    with pytest.raises(TemplateError, match="more than"):
        compile(text)(span="x" * (template.MAX_OUTPUT + 1), count=1)


def test_what_fails_while_it_runs_is_a_template_error() -> None:
    with pytest.raises(TemplateError, match="failed"):
        compile("{% if count < span %}x{% endif %}")(count=1, span="x")
    with pytest.raises(TemplateError, match="failed"):
        compile("{% if count %}{{ span }}{% endif %}")(count=1)


@given(st.text(alphabet="{}% #ab\n\r\"'|-", max_size=40))
@settings(max_examples=400, deadline=None)
def test_both_ways_of_rendering_agree(text: str) -> None:
    allowed = frozenset({"a", "b", "ab", "ba", "aa", "bb"})
    given_ = dict.fromkeys(allowed, "v")
    checked = check(text, allowed)
    if is_plain(text) and not checked.faults and checked.variables <= allowed:
        whole = template._environment().from_string(text)
        assert compile(text, allowed)(**given_) == whole.render(**given_)
