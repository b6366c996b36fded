"""Amounts and shares in the spellings that most tools send, read at once; all others are left to the full reading."""

from __future__ import annotations

import re
from collections.abc import Callable
from decimal import Decimal
from typing import Final

from taoloop.core.exact_json import JsonValue
from taoloop.values.numbers import DecimalSeparator
from taoloop.values.quantities.currencies import DECIMALS

Reading = Callable[[JsonValue], JsonValue]

_WHOLE: Final = "(?:0|[1-9][0-9]{0,14})"
_GROUPED: Final = "[1-9][0-9]{0,2}(?:,[0-9]{3}){1,4}"
_TOO_LARGE: Final = 10**15
_MAX_CHARACTERS: Final = 17
# Three decimals could be a group of thousands.
_SHARE: Final = re.compile(rf"-?{_WHOLE}(?:\.(?:[0-9]{{1,2}}|[0-9]{{4,15}}))?%")


def with_quick_amounts(full: Reading, currency: str, separator: DecimalSeparator | None) -> Reading:
    """Return a reading of amounts that gives what `full` does, most of them without it.

    Args:
        full: Reads every spelling.
        currency: ISO 4217 code of the amounts.
        separator: The decimal separator, where it is decided.
    """
    places = DECIMALS[currency]
    matches = _written(places, separator).fullmatch
    zeros = "0" * places
    point = f".{zeros}" if places else ""

    def read(value: JsonValue) -> JsonValue:
        if isinstance(value, str):
            amount = Decimal(value.replace(",", "")) if matches(value) is not None else None
            return amount or full(value)  # nothing and less than nothing have rules of their own
        if isinstance(value, int) and not isinstance(value, bool) and -_TOO_LARGE < value < _TOO_LARGE:
            return Decimal(f"{value}{point}")
        if not isinstance(value, Decimal) or not value:
            return full(value)
        text = str(value)
        missing = places - len(text.partition(".")[2])
        if missing < 0 or missing == places or len(text) > _MAX_CHARACTERS or "E" in text:
            return full(value)
        return Decimal(text + zeros[:missing]) if missing else value

    return read


def with_quick_shares(full: Reading, separator: DecimalSeparator | None) -> Reading:
    """Return a reading of shares in percent that gives what `full` does, most of them without it.

    Args:
        full: Reads every spelling.
        separator: The decimal separator, where it is decided.
    """
    if separator == ",":
        return full
    matches = _SHARE.fullmatch

    def read(value: JsonValue) -> JsonValue:
        if not isinstance(value, str) or matches(value) is None:
            return full(value)
        return Decimal(value[:-1]) if "." in value else int(value[:-1])

    return read


def _written(places: int, separator: DecimalSeparator | None) -> re.Pattern[str]:
    """Return the spellings with all decimals of a currency that have one reading."""
    if separator == ",":
        return _NOTHING
    fraction = rf"\.[0-9]{{{places}}}" if places else ""
    # Without a separator that is decided, `1.250` and `1,250` have two readings each.
    whole = [_WHOLE] if places != _GROUP or separator else []
    grouped = [_GROUPED] if places or separator else []
    return re.compile(f"(?:{'|'.join(whole + grouped)}){fraction}")


_GROUP: Final = 3
_NOTHING: Final = re.compile(r"(?!)")
