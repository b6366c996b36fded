"""The table of conversions that a binding can ask for: one value in, one value of the named kind out, or a refusal."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Final, cast

from taoloop.core.exact_json import ABSENT, Absent, Json, JsonValue, dumps, equal
from taoloop.values.booleans import parse_boolean
from taoloop.values.calendars import MONDAY, Calendar
from taoloop.values.dates import parse_date, parse_period
from taoloop.values.datetimes import EpochUnit, format_datetime, parse_datetime, parse_epoch
from taoloop.values.emails import parse_email
from taoloop.values.folding import fold
from taoloop.values.numbers import DecimalSeparator, decimal_separator_of, parse_number
from taoloop.values.refusals import RefusalCode, ValueRefused, ambiguous, unreadable
from taoloop.values.written_dates import DateOrder


@dataclass(frozen=True, slots=True, kw_only=True)
class ConversionContext:
    """What words are read against.

    Attributes:
        reference_time: The moment that relative dates refer to, aware; None refuses relative words.
        time_zone: IANA name of the user's time zone; empty is UTC.
        locale: BCP 47 tag of the user's language; decides the decimal separator where the options do not.
        week_start: First day of a week, 0 for Monday to 6 for Sunday.
    """

    reference_time: datetime | None = None
    time_zone: str = ""
    locale: str = ""
    week_start: int = MONDAY

    def calendar(self) -> Calendar | None:
        """Return where relative dates count from, or None without a reference time.

        Raises:
            ValueRefused: UNREADABLE for an unknown time zone.
        """
        if self.reference_time is None:
            return None
        return Calendar.at(self.reference_time, self.time_zone, self.week_start)


Options = dict[str, JsonValue]


@dataclass(frozen=True, slots=True)
class Conversion:
    """One entry of the table.

    Attributes:
        result_types: JSON types that the result can have; empty when the options decide.
        option_names: Names of the options that it knows.
        apply: Converts one value.
    """

    result_types: frozenset[str]
    option_names: frozenset[str]
    apply: Callable[[JsonValue, ConversionContext, Options], JsonValue]


def convert(to: str, value: JsonValue, context: ConversionContext, options: Json = ABSENT) -> JsonValue:
    """Convert a text or a value to the kind `to`.

    | to | takes | gives | options |
    |---|---|---|---|
    | `date` | a day; a moment gives its day in the time zone | `YYYY-MM-DD` | `order`: `DMY`, `MDY` |
    | `datetime` | a moment; an epoch as integer | RFC 3339 in UTC | `order`; `unit`: `s`, `ms`, `us`, `ns` |
    | `date-range` | two days or one period | `YYYY-MM-DD~YYYY-MM-DD` | `order` |
    | `integer`, `number` | a number, or a text with one | number, as written | `decimal_separator`: `.`, `,` |
    | `boolean` | true, false, or a word for it | boolean | |
    | `string` | any scalar | its JSON spelling; texts stay | |
    | `email` | one address | the address | |
    | `enum` | a word | the member that it spells | `values`: list, or object from word to member |

    Raises:
        ValueRefused: The value has not exactly one reading.
        KeyError: There is no conversion `to`.
    """
    known = {} if isinstance(options, Absent) else options
    if not isinstance(known, dict):
        raise ValueRefused(RefusalCode.UNREADABLE, "The options of a conversion are an object.")
    return CONVERSIONS[to].apply(value, context, known)


def option_fault(to: str, options: Json) -> str | None:
    """Return what is wrong with the options of a known conversion, in one sentence, or None."""
    if isinstance(options, Absent):
        return "The conversion to enum needs `values`." if to == "enum" else None
    if not isinstance(options, dict):
        return "The options of a conversion are an object."
    unknown = sorted(options.keys() - CONVERSIONS[to].option_names)
    if unknown:
        return f"The conversion to {to} has no option {', '.join(unknown)}."
    for name, allowed in _OPTION_VALUES.items():
        if name in options and options[name] not in allowed:
            return f"The option {name} is one of {', '.join(allowed)}."
    if to == "enum" and not (isinstance(options.get("values"), list | dict) and options["values"]):
        return "The conversion to enum needs `values`, a list or an object that is not empty."
    return None


def _text(value: JsonValue, what: str) -> str:
    if not isinstance(value, str):
        raise unreadable(what)
    return value


def _order(options: Options) -> DateOrder | None:
    return cast("DateOrder | None", options.get("order"))


def _date(value: JsonValue, context: ConversionContext, options: Options) -> JsonValue:
    text = _text(value, "a date")
    try:
        return parse_date(text, context.calendar(), _order(options)).isoformat()
    except ValueRefused as refused:
        if refused.code is not RefusalCode.UNREADABLE:
            raise
    moment = parse_datetime(text, context.calendar(), context.time_zone, _order(options))
    local = Calendar.at(moment, context.time_zone)
    return local.today.isoformat()


def _datetime(value: JsonValue, context: ConversionContext, options: Options) -> JsonValue:
    if isinstance(value, int) and not isinstance(value, bool):
        return format_datetime(parse_epoch(value, cast("EpochUnit | None", options.get("unit"))))
    text = _text(value, "a date and time")
    return format_datetime(parse_datetime(text, context.calendar(), context.time_zone, _order(options)))


def _date_range(value: JsonValue, context: ConversionContext, options: Options) -> JsonValue:
    return str(parse_period(_text(value, "a date range"), context.calendar(), _order(options)))


def _number(value: JsonValue, context: ConversionContext, options: Options) -> JsonValue:
    if isinstance(value, int | float | Decimal) and not isinstance(value, bool):
        return value
    stated = cast("DecimalSeparator | None", options.get("decimal_separator"))
    return parse_number(_text(value, "a number"), stated or decimal_separator_of(context.locale))


def _integer(value: JsonValue, context: ConversionContext, options: Options) -> JsonValue:
    number = _number(value, context, options)
    if isinstance(number, int):
        return number
    exact = Decimal(str(number))
    if isinstance(value, str) or exact != exact.to_integral_value() or exact.adjusted() > 300:
        raise unreadable("an integer")
    return int(exact)


def _boolean(value: JsonValue, _: ConversionContext, __: Options) -> JsonValue:
    return value if isinstance(value, bool) else parse_boolean(_text(value, "a truth value"))


def _string(value: JsonValue, _: ConversionContext, __: Options) -> JsonValue:
    return as_text(value)


def as_text(value: JsonValue) -> str:
    """Return a scalar as text: texts as they are, numbers with their digits as written, `true` and `false`.

    Raises:
        ValueRefused: UNREADABLE for null, an array and an object.
    """
    if value is None or isinstance(value, list | dict):
        raise unreadable("a text")
    return value if isinstance(value, str) else dumps(value)


def _email(value: JsonValue, _: ConversionContext, __: Options) -> JsonValue:
    return parse_email(_text(value, "an e-mail address"))


def _enum(value: JsonValue, _: ConversionContext, options: Options) -> JsonValue:
    """Case, space and width are folded, and nothing more."""
    values = options.get("values")
    members = values if isinstance(values, list) else []
    pairs = list(values.items()) if isinstance(values, dict) else [(member, member) for member in members]
    exact = [member for word, member in pairs if equal(word, value)]
    if exact:
        return exact[0]
    wanted = fold(as_text(value))
    found: list[JsonValue] = []
    for word, member in pairs:
        if isinstance(word, str) and fold(word) == wanted and not any(equal(member, other) for other in found):
            found.append(member)
    if len(found) == 1:
        return found[0]
    if found:
        raise ambiguous("one of the values", (dumps(member) for member in found))
    names = [word if isinstance(word, str) else dumps(word) for word, _member in pairs]
    raise ValueRefused(RefusalCode.UNREADABLE, "The text is none of the values.", names)


_OPTION_VALUES: Final = {"order": ("DMY", "MDY"), "unit": ("s", "ms", "us", "ns"), "decimal_separator": (".", ",")}


def _entry(
    result_types: str, option_names: str, apply: Callable[[JsonValue, ConversionContext, Options], JsonValue]
) -> Conversion:
    return Conversion(frozenset(result_types.split()), frozenset(option_names.split()), apply)


CONVERSIONS: Final = {
    "date": _entry("string", "order", _date),
    "datetime": _entry("string", "order unit", _datetime),
    "date-range": _entry("string", "order", _date_range),
    "integer": _entry("integer", "decimal_separator", _integer),
    "number": _entry("number", "decimal_separator", _number),
    "boolean": _entry("boolean", "", _boolean),
    "string": _entry("string", "", _string),
    "email": _entry("string", "", _email),
    "enum": _entry("", "values", _enum),
}
"""Every conversion by its name."""
