"""The conversion of a normalise rule: made ready from the contract, and the schema of what it gives."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any, Final

from taoloop.core.exact_json import JsonValue
from taoloop.tools.contract import NormaliseAs, NormaliseRule
from taoloop.values.conversions import CONVERSIONS, ConversionContext, as_text, convert, option_fault
from taoloop.values.conversions import result_schema as value_schema
from taoloop.values.datetimes import format_datetime, parse_rfc3339
from taoloop.values.quantities.currencies import DECIMALS
from taoloop.values.refusals import RefusalCode, ValueRefused

Conversion = Callable[[JsonValue], JsonValue]
"""Returns the normal form of one value; raises `ValueRefused` where it has not exactly one."""

_ZONED: Final = frozenset({NormaliseAs.DATETIME, NormaliseAs.DATE})
# More than a day apart: no moment has the same day in both, and no local time is the same moment.
_FAR_WEST: Final = ConversionContext(time_zone="Etc/GMT+12")
_FAR_EAST: Final = ConversionContext(time_zone="Etc/GMT-14")
_TEXT: Final = frozenset({"string"})
_NUMBERS: Final = frozenset({"integer", "number"})
_TAKES: Final[Mapping[NormaliseAs, frozenset[str]]] = {
    NormaliseAs.TEXT: frozenset({"string", "boolean"}) | _NUMBERS,
    NormaliseAs.BOOLEAN: frozenset({"string", "boolean"}),
    NormaliseAs.DATE: _TEXT,
    NormaliseAs.DATE_RANGE: _TEXT,
}


@dataclass(frozen=True, slots=True)
class OptionFault:
    """An option of a rule that its conversion cannot use.

    Attributes:
        name: The option.
        cause: What is wrong, one sentence without a full stop.
        candidates: What would have been right, nearest first.
    """

    name: str
    cause: str
    candidates: tuple[str, ...] = ()


def takes(convert_to: NormaliseAs) -> frozenset[str]:
    """Return the JSON types of which the conversion can read a value."""
    return _TAKES.get(convert_to, _TEXT | _NUMBERS)


def conversion(rule: NormaliseRule) -> Conversion:
    """Return the conversion of a rule that has one, with everything made ready that does not depend on the value.

    Without the contract's time zone a local time has no reading, and neither has the day of a moment: both are
    refused. Words such as `tomorrow` are always refused: nothing says what the tool counts from.
    """
    assert rule.convert is not None
    to, options = rule.convert, value_options(rule)
    if to in _ZONED and not rule.time_zone:
        return _without_zone(to, options)
    bound = CONVERSIONS[to.value].bound(ConversionContext(time_zone=rule.time_zone), options)
    return (lambda value: bound(as_text(value))) if to is NormaliseAs.TEXT else bound


def result_schema(rule: NormaliseRule) -> dict[str, Any]:
    """Return the schema of what the conversion of a rule gives; its description says in which unit a number is."""
    assert rule.convert is not None
    schema = value_schema(rule.convert.value, value_options(rule))
    if rule.convert is NormaliseAs.CONFIDENCE:
        schema |= {"minimum": 0, "maximum": 1}
    measure = measured_in(rule)
    return {**schema, "description": f"In {measure}."} if measure else dict(schema)


def measured_in(rule: NormaliseRule) -> str:
    """Return the unit that the number of a rule is in; empty where it has none."""
    written = rule.conversion_options
    if rule.convert is NormaliseAs.PERCENTAGE:
        return "fractions of one" if written.get("scale") == "fraction" else "per cent"
    if rule.convert is NormaliseAs.DURATION:
        return "seconds"
    if rule.convert is NormaliseAs.MONEY:
        return str(written.get("currency", ""))
    if rule.convert is NormaliseAs.UNIT:
        return str(written.get("to_unit") or written.get("unit") or "")
    return ""


def option_faults(rule: NormaliseRule) -> Iterator[OptionFault]:
    """Yield what is wrong with the options of a rule, each with what would have been right."""
    written = [*rule.conversion_options, *(("time_zone",) if rule.time_zone else ())]
    if rule.convert is None:
        for name in written:
            yield OptionFault(name, f"{name} stands without as")
        return
    allowed = _allowed(rule.convert)
    for name in written:
        if name not in allowed:
            near = tuple(sorted(allowed & _WRITTEN)) or ("none",)
            yield OptionFault(name, f"{name} means nothing to as: {rule.convert}", near)
    fault = option_fault(rule.convert.value, value_options(rule))
    if fault is not None:
        yield _option_fault(rule, fault)


def value_options(rule: NormaliseRule) -> dict[str, JsonValue]:
    """Return the options of a rule as the table of values takes them."""
    assert rule.convert is not None
    known = CONVERSIONS[rule.convert.value].option_names
    options = {name: value for name, value in rule.conversion_options.items() if name in known}
    order = options.get("order")
    return {**options, "order": order.upper()} if isinstance(order, str) else options


_WRITTEN: Final = frozenset(
    {"gap", "order", "unit", "to_unit", "difference", "currency", "locale", "scale", "html", "time_zone"}
)
"""The options that a contract can write."""


def _allowed(to: NormaliseAs) -> frozenset[str]:
    known = CONVERSIONS[to.value].option_names
    return known | {"time_zone"} if to in _ZONED else known


def _option_fault(rule: NormaliseRule, cause: str) -> OptionFault:
    """Return a fault of the table with the option that it speaks of."""
    for name, value in rule.conversion_options.items():
        if f"option {name} " in cause or cause.startswith(repr(value)):
            candidates = get_close_matches(str(value), DECIMALS, n=3, cutoff=0.3) if name == "currency" else ()
            return OptionFault(name, cause.removesuffix("."), tuple(candidates))
    return OptionFault("", cause.removesuffix("."))


def _without_zone(to: NormaliseAs, options: dict[str, JsonValue]) -> Conversion:
    """Read what means the same in every zone; the rest is refused, after what is wrong with it in any zone."""
    wanted = "A local time" if to is NormaliseAs.DATETIME else "The day of a moment"

    def converted(value: JsonValue) -> JsonValue:
        moment = _moment(value) if to is NormaliseAs.DATETIME else None
        if moment is not None:
            return moment
        read = convert(to.value, value, _FAR_WEST, options)
        if not isinstance(value, str):
            return read
        if read != convert(to.value, value, _FAR_EAST, options):
            raise ValueRefused(RefusalCode.AMBIGUOUS, f"{wanted} needs the contract's time zone.")
        return read

    return converted


def _moment(value: JsonValue) -> str | None:
    """Return a text that is a moment in RFC 3339, which is what most tools send, in its normal form."""
    try:
        return format_datetime(parse_rfc3339(value)) if isinstance(value, str) else None
    except ValueRefused:
        return None
