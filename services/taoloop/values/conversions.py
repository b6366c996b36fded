"""The table of conversions that a binding can ask for: one value in, one value of the named kind out, or a refusal."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, tzinfo
from decimal import Decimal
from functools import partial
from importlib.util import find_spec
from typing import Any, Final, cast

from taoloop.core.exact_json import ABSENT, Absent, Json, JsonEncodeError, JsonValue, dumps, equal
from taoloop.values.booleans import parse_boolean
from taoloop.values.calendars import MONDAY, Calendar, day_in, zone_of
from taoloop.values.cleaning.texts import clean_text
from taoloop.values.dates import iso_day, parse_date, parse_period
from taoloop.values.datetimes import (
    EpochUnit,
    Gap,
    epoch_in,
    normal_datetime,
    normal_epoch,
    parse_datetime,
    quick_datetime,
)
from taoloop.values.emails import parse_email
from taoloop.values.folding import fold
from taoloop.values.numbers import DecimalSeparator, decimal_separator_of, exact_number, number_fault
from taoloop.values.quantities import conversions as quantities
from taoloop.values.refusals import RefusalCode, ValueRefused, ambiguous, unreadable
from taoloop.values.times import parse_time
from taoloop.values.written_dates import DateOrder


@dataclass(frozen=True, slots=True, kw_only=True)
class ConversionContext:
    """What words are read against.

    Attributes:
        reference_time: The moment that relative dates refer to, aware; None refuses relative words.
        time_zone: IANA name of the user's time zone; empty is the offset of the reference time, without one UTC.
        locale: BCP 47 tag of the user's language; decides the decimal separator where the options do not.
        week_start: First day of a week, 0 for Monday to 6 for Sunday.
    """

    reference_time: datetime | None = None
    time_zone: str = ""
    locale: str = ""
    week_start: int = MONDAY

    def zone(self) -> tzinfo:
        """Return the time zone of words: the named one, else that of the reference time, else UTC.

        Raises:
            ValueRefused: UNREADABLE for an unknown time zone.
        """
        if not self.time_zone and self.reference_time is not None and self.reference_time.tzinfo is not None:
            return self.reference_time.tzinfo
        return zone_of(self.time_zone)

    def calendar(self) -> Calendar | None:
        """Return where relative dates count from, or None without a reference time.

        Raises:
            ValueRefused: UNREADABLE for an unknown time zone.
        """
        if self.reference_time is None:
            return None
        return Calendar.at(self.reference_time, self.zone(), self.week_start)


Options = dict[str, JsonValue]
Bound = Callable[[JsonValue], JsonValue]
Apply = Callable[[JsonValue, ConversionContext, Options], JsonValue]
Bind = Callable[[ConversionContext, Options], Bound]
_MAX_INTEGER_DIGITS: Final = 300


@dataclass(frozen=True, slots=True)
class Conversion:
    """One entry of the table.

    Attributes:
        result_types: JSON types that the result can have; empty when the options decide.
        option_names: Names of the options that it knows.
        apply: Converts one value; the options have no fault.
        allowed: The values of an option that takes one of a few.
        fault: Returns what else is wrong with options, in one sentence, or None.
        format: `format` of the text that it gives; empty for none.
        bind: Makes `apply` ready for one context and its options; None where there is nothing to make ready.
    """

    result_types: frozenset[str]
    option_names: frozenset[str]
    apply: Apply
    allowed: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    fault: Callable[[Options], str | None] | None = None
    format: str = ""
    bind: Bind | None = None

    def bound(self, context: ConversionContext, options: Options) -> Bound:
        """Return the conversion for one context and options that have no fault, for any number of values."""
        if self.bind is not None:
            return self.bind(context, options)
        apply = self.apply
        return lambda value: apply(value, context, options)


def convert(to: str, value: JsonValue, context: ConversionContext, options: Json = ABSENT) -> JsonValue:
    """Convert a text or a value to the kind `to`.

    | to | takes | gives | options |
    |---|---|---|---|
    | `date` | a day; a moment gives its day in the time zone | `YYYY-MM-DD` | `order`: `YMD`, `DMY`, `MDY` |
    | `datetime` | a moment; an epoch as number or digits | RFC 3339 in UTC | `order`; `unit`: `s`, `ms`, `us`, `ns`;
      `gap`: `refuse`, `forward` |
    | `time` | a time of day, `3pm` among them | `HH:MM`, with seconds where they are said | |
    | `date-range` | two days or one period | `YYYY-MM-DD~YYYY-MM-DD` | `order` |
    | `integer`, `number` | a number, or a text with one | number, as written | |
    | `unit` | a number with its unit | number in `to_unit` | `to_unit`, `unit`, `difference` |
    | `percentage` | a share with its sign | number on the scale | `scale`: `percent`, `fraction`; `unit` |
    | `confidence` | a share | fraction, 0 to 1 | `scale` of a bare number: `percent`, `fraction` |
    | `money` | an amount | number with the currency's decimals; without `currency` an object of `amount` and `currency`
      | `currency` |
    | `duration` | a length of time | seconds | `unit` |
    | `boolean` | true, false, or a word for it | boolean | |
    | `string` | any scalar | its JSON spelling; texts stay | |
    | `text` | a text | the same, cleaned | `html`: `strip` |
    | `email` | one address | the address | |
    | `enum` | a word | the member that it spells | `values`: list, or object from word to member |

    `unit` is the unit of a value that writes none. All that read numbers take `locale`, a BCP 47 tag, and
    `decimal_separator`, `.` or `,`, which goes before it; without either the context's locale counts.

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
    conversion = CONVERSIONS[to]
    known = {} if isinstance(options, Absent) else options
    if not isinstance(known, dict):
        return "The options of a conversion are an object."
    unknown = sorted(known.keys() - conversion.option_names)
    if unknown:
        return f"The conversion to {to} has no option {', '.join(unknown)}."
    for name, allowed in conversion.allowed.items():
        if name in known and known[name] not in allowed:
            return f"The option {name} is one of {', '.join(allowed)}."
    return conversion.fault(known) if conversion.fault is not None else None


def result_schema(to: str, options: Json = ABSENT) -> dict[str, JsonValue]:
    """Return a JSON Schema of what a known conversion gives under options that have no fault.

    >>> result_schema("date")
    {'type': 'string', 'format': 'date'}
    """
    conversion = CONVERSIONS[to]
    known = options if isinstance(options, dict) else {}
    if to == "enum":
        values = known.get("values", [])
        return {"enum": list(values.values() if isinstance(values, dict) else cast("list[JsonValue]", values))}
    if to == "money":
        return {"type": "number"} if "currency" in known else dict(quantities.MONEY_SCHEMA)
    (name,) = conversion.result_types
    schema: dict[str, JsonValue] = {"type": name}
    return schema | ({"format": conversion.format} if conversion.format else {})


def _text(value: JsonValue, what: str) -> str:
    if not isinstance(value, str):
        raise unreadable(what)
    return value


def _order(options: Options) -> DateOrder | None:
    return cast("DateOrder | None", options.get("order"))


def _date(value: JsonValue, context: ConversionContext, options: Options) -> JsonValue:
    text = _text(value, "a date")
    if (day := iso_day(text)) is not None:
        return day
    try:
        return parse_date(text, context.calendar(), _order(options)).isoformat()
    except ValueRefused as refused:
        if refused.code is not RefusalCode.UNREADABLE:
            raise
    moment = parse_datetime(text, context.calendar(), context.zone(), _order(options))
    return day_in(moment, context.zone()).isoformat()


def _datetime(value: JsonValue, context: ConversionContext, options: Options) -> JsonValue:
    if isinstance(value, str) and (quick := quick_datetime(value)) is not None:
        return quick
    unit = cast("EpochUnit | None", options.get("unit"))
    if isinstance(value, int | float | Decimal) and not isinstance(value, bool):
        return normal_epoch(value, unit)
    text = _text(value, "a date and time")
    if (epoch := epoch_in(text, has_unit=unit is not None)) is not None:
        return normal_epoch(epoch, unit)
    gap = cast("Gap", options.get("gap", "refuse"))
    return normal_datetime(text, context.calendar(), context.zone(), _order(options), gap)


def _quickly(quick: Callable[[str], str | None], apply: Apply) -> Bind:
    """Return what binds `apply` so that a text in the common form is read by `quick`, which knows no others."""

    def bind(context: ConversionContext, options: Options) -> Bound:
        def read(value: JsonValue) -> JsonValue:
            known = quick(value) if isinstance(value, str) else None
            return apply(value, context, options) if known is None else known

        return read

    return bind


def _time(value: JsonValue, _: ConversionContext, __: Options) -> JsonValue:
    moment = parse_time(_text(value, "a time of day"))
    return moment.isoformat("seconds" if moment.second else "minutes")


def _date_range(value: JsonValue, context: ConversionContext, options: Options) -> JsonValue:
    return str(parse_period(_text(value, "a date range"), context.calendar(), _order(options)))


def _separator(context: ConversionContext, options: Options) -> DecimalSeparator | None:
    stated = options.get("decimal_separator")
    if stated is not None:
        return cast(DecimalSeparator, stated)
    locale: Any = options.get("locale", context.locale)
    return decimal_separator_of(locale)


def _number(value: JsonValue, context: ConversionContext, options: Options) -> JsonValue:
    return exact_number(value, _separator(context, options))


def _integer(value: JsonValue, context: ConversionContext, options: Options) -> JsonValue:
    number = exact_number(value, _separator(context, options))
    if isinstance(number, int):
        return number
    if isinstance(value, str) or number != number.to_integral_value() or number.adjusted() > _MAX_INTEGER_DIGITS:
        raise unreadable("an integer")
    return int(number)


def _boolean(value: JsonValue, _: ConversionContext, __: Options) -> JsonValue:
    return value if isinstance(value, bool) else parse_boolean(_text(value, "a truth value"))


def _string(value: JsonValue, _: ConversionContext, __: Options) -> JsonValue:
    return as_text(value)


def as_text(value: JsonValue) -> str:
    """Return a scalar as text: texts as they are, numbers with their digits as written, `true` and `false`.

    Raises:
        ValueRefused: UNREADABLE for null, an array, an object and a number that JSON does not have.
    """
    if value is None or isinstance(value, list | dict):
        raise unreadable("a text")
    try:
        return value if isinstance(value, str) else dumps(value)
    except JsonEncodeError:
        raise unreadable("a text") from None


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


def _clean(value: JsonValue, _: ConversionContext, options: Options) -> JsonValue:
    text = _text(value, "a text")
    if options.get("html") == "strip":
        from taoloop.values.cleaning.html_text import strip_html

        text = strip_html(text)
    return clean_text(text)


def _text_fault(options: Options) -> str | None:
    return None if "html" not in options or find_spec("nh3") else "The option html needs the library nh3."


def _enum_fault(options: Options) -> str | None:
    values = options.get("values")
    if isinstance(values, list | dict) and values:
        return None
    return f"The conversion to enum needs `values`{', a list or an object that is not empty' * ('values' in options)}."


def _bound_quantity(
    convert_quantity: quantities.Convert,
    quicken: quantities.Quicken | None,
    context: ConversionContext,
    options: Options,
) -> Bound:
    separator = _separator(context, options)

    def full(value: JsonValue) -> JsonValue:
        return convert_quantity(value, separator, options)

    return full if quicken is None else quicken(full, separator, options)


_ORDERS: Final = {"order": ("YMD", "DMY", "MDY")}
_SEPARATORS: Final = {"decimal_separator": (".", ",")}
_MOMENTS: Final = {**_ORDERS, "unit": ("s", "ms", "us", "ns"), "gap": ("refuse", "forward")}
_NUMBER_OPTIONS: Final = "decimal_separator locale"


def _entry(
    result_types: str,
    option_names: str,
    apply: Callable[[JsonValue, ConversionContext, Options], JsonValue],
    allowed: Mapping[str, tuple[str, ...]] | None = None,
    fault: Callable[[Options], str | None] | None = None,
    text_format: str = "",
) -> Conversion:
    names = frozenset(option_names.split())
    return Conversion(frozenset(result_types.split()), names, apply, allowed or {}, fault, text_format)


def _quantity_entry(
    option_names: str,
    convert_quantity: quantities.Convert,
    fault: Callable[[Options], str | None],
    allowed: Mapping[str, tuple[str, ...]] | None = None,
    quicken: quantities.Quicken | None = None,
    result_types: str = "number",
) -> Conversion:
    entry = _entry(
        result_types,
        f"{option_names} {_NUMBER_OPTIONS}",
        lambda value, context, options: convert_quantity(value, _separator(context, options), options),
        {**_SEPARATORS, **(allowed or {})},
        lambda options: number_fault(options) or fault(options),
    )
    return replace(entry, bind=partial(_bound_quantity, convert_quantity, quicken))


CONVERSIONS: Final = {
    "date": replace(_entry("string", "order", _date, _ORDERS, text_format="date"), bind=_quickly(iso_day, _date)),
    "datetime": replace(
        _entry("string", "order unit gap", _datetime, _MOMENTS, text_format="date-time"),
        bind=_quickly(quick_datetime, _datetime),
    ),
    "time": _entry("string", "", _time),
    "date-range": _entry("string", "order", _date_range, _ORDERS, text_format="date-range"),
    "integer": _entry("integer", _NUMBER_OPTIONS, _integer, _SEPARATORS, number_fault),
    "number": _entry("number", _NUMBER_OPTIONS, _number, _SEPARATORS, number_fault),
    "unit": _quantity_entry("unit to_unit difference", quantities.unit, quantities.unit_fault),
    "percentage": _quantity_entry(
        "scale unit", quantities.percentage, quantities.no_fault, quantities.SHARES, quantities.quick_percentage
    ),
    "confidence": _quantity_entry("scale", quantities.confidence, quantities.no_fault, quantities.SCALE),
    "money": _quantity_entry("currency", quantities.money, quantities.money_fault, None, quantities.quick_money, ""),
    "duration": _quantity_entry("unit", quantities.duration, quantities.no_fault, quantities.LENGTHS),
    "boolean": _entry("boolean", "", _boolean),
    "string": _entry("string", "", _string),
    "text": _entry("string", "html", _clean, {"html": ("strip",)}, _text_fault),
    "email": _entry("string", "", _email, text_format="email"),
    "enum": _entry("", "values", _enum, fault=_enum_fault),
}
"""Every conversion by its name."""
