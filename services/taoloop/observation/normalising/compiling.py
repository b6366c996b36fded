"""From a contract's `observe` to its normaliser, once for all bodies."""

from __future__ import annotations

from dataclasses import replace

from taoloop.core import pointers
from taoloop.core.exact_json import JsonValue
from taoloop.observation.normalising.change import Change
from taoloop.observation.normalising.normaliser import Normaliser
from taoloop.observation.normalising.value_maps import value_map
from taoloop.tools.contract import NormaliseRule, Observe
from taoloop.tools.normalisers import conversions, plugins
from taoloop.tools.normalisers.conversions import Conversion
from taoloop.tools.normalisers.place_tree import tokens_tree
from taoloop.tools.normalisers.places import overlap, with_all_items
from taoloop.values.refusals import RefusalCode, ValueRefused


def compile_normaliser(observe: Observe) -> Normaliser | None:
    """Return what makes the data from a body, or None where the body is the data.

    Imports the plug-ins that the contract names; one that cannot be used refuses every value.
    """
    changes = [replace(_change(rule, observe), number=number) for number, rule in enumerate(observe.normalise)]
    if observe.pick is None:
        return Normaliser(changes, None) if changes else None
    staying = [with_all_items(change.field) for change in changes if not change.is_moved]
    return Normaliser(changes, tokens_tree([*map(pointers.parse, observe.pick), *staying]))


def _change(rule: NormaliseRule, observe: Observe) -> Change:
    field, to = pointers.parse(rule.field), pointers.parse(rule.to)
    if rule.plugin:
        return Change(field=field, to=to, conversion=_plugin(rule), expects=rule.plugin)
    if rule.convert is not None:
        return Change(field=field, to=to, conversion=conversions.conversion(rule), expects=_expects(rule))
    if rule.enum is None and rule.vocabulary is None:
        return Change(field=field, to=to)
    known = _known(observe, rule.to)
    return Change(field=field, to=to, conversion=value_map(rule.enum, rule.vocabulary, known), expects="enum")


def _expects(rule: NormaliseRule) -> str:
    measure = conversions.measured_in(rule)
    return f"{rule.convert} in {measure}" if measure else str(rule.convert)


def _known(observe: Observe, to: str) -> tuple[JsonValue, ...] | None:
    for place, values in observe.known.items():
        if overlap(pointers.parse(place), pointers.parse(to)):
            return values
    return None


def _plugin(rule: NormaliseRule) -> Conversion:
    try:
        return plugins.conversion(plugins.load(rule.plugin), rule.options)
    except plugins.PluginUnusable as exc:
        return _refusing(f"The plug-in cannot be used: {exc}.")


def _refusing(message: str) -> Conversion:
    def refuse(_value: JsonValue) -> JsonValue:
        raise ValueRefused(RefusalCode.UNREADABLE, message)

    return refuse
