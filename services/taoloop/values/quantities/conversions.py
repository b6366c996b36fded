"""What the options of a contract mean for numbers with a unit, and what is wrong with them."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from functools import lru_cache
from typing import Any, Final, cast

from taoloop.core.exact_json import JsonValue
from taoloop.values.numbers import DecimalSeparator
from taoloop.values.quantities.currencies import DECIMALS
from taoloop.values.quantities.durations import SECONDS_OF, parse_duration
from taoloop.values.quantities.measures import convert_measure
from taoloop.values.quantities.money import parse_money
from taoloop.values.quantities.quick import Reading, with_quick_amounts, with_quick_shares
from taoloop.values.quantities.shares import SCALES, Scale, parse_confidence, parse_percentage
from taoloop.values.quantities.units import Unit, unit_named
from taoloop.values.refusals import RefusalCode, ValueRefused

Options = dict[str, JsonValue]
Convert = Callable[[JsonValue, DecimalSeparator | None, Options], JsonValue]
Quicken = Callable[[Reading, DecimalSeparator | None, Options], Reading]
"""Makes a reading bound to a separator and options quicker; it gives the same."""

SHARES: Final = {"scale": ("percent", "fraction"), "unit": SCALES}
SCALE: Final = {"scale": ("percent", "fraction")}
LENGTHS: Final = {"unit": tuple(SECONDS_OF)}
MONEY_SCHEMA: Final[dict[str, JsonValue]] = {
    "type": "object",
    "properties": {"amount": {"type": "number"}, "currency": {"type": "string", "pattern": "^[A-Z]{3}$"}},
    "required": ["amount", "currency"],
    "additionalProperties": False,
}


def unit(value: JsonValue, separator: DecimalSeparator | None, options: Options) -> int | Decimal:
    """Convert a measure."""
    to, stated = _units(options.get("to_unit"), options.get("unit"))
    is_difference = options.get("difference") is True
    return convert_measure(value, to, stated, is_difference=is_difference, decimal_separator=separator)


def unit_fault(options: Options) -> str | None:
    """Name a unit that is not known, two that do not measure the same, and a difference of what has no zero point."""
    names = [options[name] for name in ("unit", "to_unit") if name in options]
    if not names:
        return "The conversion to unit needs `to_unit`, or `unit` to check the one that is written."
    for name in names:
        if not isinstance(name, str):
            return "A unit is a text."
        try:
            unit_named(name)
        except ValueRefused as refused:
            known = f" Near: {', '.join(refused.candidates)}." if refused.candidates else ""
            return f"{name!r}: {refused.message}{known}"
    to, stated = _units(options.get("to_unit"), options.get("unit"))
    if stated is not None and stated.dimension != to.dimension:
        return f"{stated.symbol} measures {stated.dimension} and {to.symbol} {to.dimension}."
    if not isinstance(options.get("difference", False), bool):
        return "The option difference is true or false."
    if options.get("difference") and not to.is_temperature:
        return "Only temperatures have a difference that is not converted like a value."
    return None


def percentage(value: JsonValue, separator: DecimalSeparator | None, options: Options) -> int | Decimal:
    """Convert a share."""
    scale: Any = options.get("scale", "percent")
    stated: Any = options.get("unit")
    return parse_percentage(value, scale, stated, separator)


def quick_percentage(full: Reading, separator: DecimalSeparator | None, options: Options) -> Reading:
    """Make `percentage` quicker where its result is in percent."""
    return with_quick_shares(full, separator) if options.get("scale", "percent") == "percent" else full


def confidence(value: JsonValue, separator: DecimalSeparator | None, options: Options) -> int | Decimal:
    """Convert a confidence to a fraction."""
    return parse_confidence(value, cast("Scale | None", options.get("scale")), separator)


def money(value: JsonValue, separator: DecimalSeparator | None, options: Options) -> JsonValue:
    """Convert an amount: a number where the contract states the currency, else an object that says it."""
    currency: Any = options.get("currency", "")
    read = parse_money(value, currency, separator)
    return read.amount if currency else read.as_json()


def quick_money(full: Reading, separator: DecimalSeparator | None, options: Options) -> Reading:
    """Make `money` quicker where the contract states the currency."""
    currency: Any = options.get("currency", "")
    return with_quick_amounts(full, currency, separator) if currency in DECIMALS else full


def money_fault(options: Options) -> str | None:
    """Name a currency that is not known."""
    currency = options.get("currency", "EUR")
    if not (isinstance(currency, str) and currency in DECIMALS):
        return "The option currency is a code of ISO 4217 in capitals."
    return None


def duration(value: JsonValue, separator: DecimalSeparator | None, options: Options) -> int | Decimal:
    """Convert a length of time to seconds."""
    return parse_duration(value, cast(str, options.get("unit", "")), separator)


def no_fault(_: Options) -> None:
    """Say that the values of the options are all that can be wrong."""


def _units(to: JsonValue, stated: JsonValue) -> tuple[Unit, Unit | None]:
    return _units_named(cast("str | None", to), cast("str | None", stated))


@lru_cache(maxsize=1024)
def _units_named(to: str | None, stated: str | None) -> tuple[Unit, Unit | None]:
    given = None if stated is None else unit_named(stated)
    wanted = given if to is None else unit_named(to)
    if wanted is None:
        raise ValueRefused(RefusalCode.MISSING_UNIT, "Nothing states the unit that is asked for.")
    return wanted, given
