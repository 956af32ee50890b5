"""From the frozen policy to a pipeline of closures. Nothing below here imports yaml, jsonschema or jinja2.

(Templates with more than plain variables import jinja2 when they are compiled.)
"""

from __future__ import annotations

from ctxpolicy import formats, template
from ctxpolicy.actions.evict import Evict
from ctxpolicy.actions.mask import Mask
from ctxpolicy.actions.span import Compact
from ctxpolicy.actions.truncate import Truncate
from ctxpolicy.cut import DEFAULT_TRUNCATE_MARKER
from ctxpolicy.intake import Reading
from ctxpolicy.marks import LABEL, MARKER, PLACEHOLDER, Mark, marks
from ctxpolicy.match import Traits, test
from ctxpolicy.policy import model
from ctxpolicy.read_as import reader_maker
from ctxpolicy.reasoning import REFUSED, BeforeSigned
from ctxpolicy.rules import AppendRule, Pipeline, SendRule
from ctxpolicy.select import Selector, selector
from ctxpolicy.summarize.prompt import PROMPT
from ctxpolicy.tokens import Meter
from ctxpolicy.when import Condition, condition, negated, never

_ACTIONS = {model.Truncate: "truncate", model.Mask: "mask", model.Compact: "compact", model.Evict: "evict"}


def compile_policy(spec: model.Spec, format: str | None = None) -> Pipeline:
    """The pipeline of a checked policy for messages of one format.

    Raises CtxPolicyError for an unknown format, PolicyInvalid for a counter that is not installed.
    """
    limit = spec.budget.limit
    traits = Traits()
    return Pipeline(
        spec,
        limit,
        _reading(spec, format, limit),
        traits,
        _pins(spec, limit, traits),
        tuple(_append_rule(rule, limit) for rule in spec.rules if rule.at == "append"),
        tuple(_send_rule(rule, limit, traits) for rule in spec.rules if rule.at == "send"),
    )


def _pins(spec: model.Spec, limit: int, traits: Traits) -> tuple[tuple[str, Selector], ...]:
    """The policy's pins, and what `reasoning: refuse_edit` protects."""
    pins = [(pin.id, selector(pin.match, limit, traits)) for pin in spec.pins]
    if spec.reasoning == "refuse_edit":
        pins.append((REFUSED, BeforeSigned()))
    return tuple(pins)


def _reading(spec: model.Spec, format: str | None, limit: int) -> Reading:
    actions = [rule.action for rule in spec.rules]
    labels = [a.label for a in actions if isinstance(a, model.Compact)]
    markers = [a.marker for a in actions if isinstance(a, model.Compact | model.Evict)]
    placeholders = [a.placeholder for a in actions if isinstance(a, model.Mask)]
    return Reading(
        formats.get(format),
        Meter.of(spec.budget),
        marks(*(_templates(texts, default) for texts, default in (
            (labels, LABEL), (markers, MARKER), (placeholders, PLACEHOLDER),
        ))),
        reader_maker(spec.read_as, limit),
    )  # fmt: skip


def _templates(texts: list[str | None], default: str) -> list[template.Render]:
    """The compiled templates of a kind, the default always among them: a list may come from another policy."""
    return [template.compile(text) for text in dict.fromkeys([default, *(t for t in texts if t is not None)])]


def _mark(text: str | None, default: str) -> Mark:
    return Mark(template.compile(default if text is None else text))


def _append_rule(rule: model.Rule, limit: int) -> AppendRule:
    matches = test(rule.match or model.Match(everything=True), limit)
    if isinstance(rule.action, model.Refuse):
        return AppendRule(rule.id, matches, None, rule.action.message)
    assert isinstance(rule.action, model.Truncate)
    return AppendRule(rule.id, matches, _truncate(rule.action))


def _truncate(action: model.Truncate) -> Truncate:
    return Truncate(action, _mark(action.marker, DEFAULT_TRUNCATE_MARKER))


def _send_rule(rule: model.Rule, limit: int, traits: Traits) -> SendRule:
    chosen = selector(rule.match, limit, traits) if rule.match else None
    when = condition(rule.when)
    how = _how(rule.action, when, limit, traits)
    return SendRule(rule.id, _ACTIONS[type(rule.action)], when, how, chosen)


def _how(action: model.Action, when: Condition, limit: int, traits: Traits) -> Truncate | Mask | Compact | Evict:
    if isinstance(action, model.Evict):
        return Evict(_done(action.until, when), _keep(action.keep, limit, traits), _mark(action.marker, MARKER))
    if isinstance(action, model.Compact):
        return Compact(
            action,
            _done(action.until, when),
            _keep(action.keep, limit, traits),
            _mark(action.marker, MARKER),
            _mark(action.label, LABEL),
            _mark(action.prompt, PROMPT),
        )
    if isinstance(action, model.Mask):
        return Mask(
            frozenset(action.parts),
            _mark(action.placeholder, PLACEHOLDER),
            action.min_gain or model.Amount(tokens=0),
            never if action.until is None else _done(action.until, when),
            action.batch or 1,
        )
    assert isinstance(action, model.Truncate)
    return _truncate(action)


def _done(until: model.Until, when: Condition) -> Condition:
    """When to stop: by default as soon as the rule's own trigger no longer holds."""
    if until is None:
        return negated(when)
    return never if until == "all" else condition(until)


def _keep(keep: model.Match | None, limit: int, traits: Traits) -> Selector | None:
    return selector(keep, limit, traits) if keep else None
