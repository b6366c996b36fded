"""Values of a declared type through the conversions of the product."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from taoloop.core import exact_json
from taoloop.core.exact_json import JsonSyntaxError, JsonValue
from taoloop.evaluation.cases.adapters.refusing import rejected
from taoloop.evaluation.cases.model import Adapter, CaseInput, Said, Unsupported
from taoloop.plan.form.json_form import plan_from_json
from taoloop.plan.resolve import Resolution, ResolveContext, StepResult, resolve_step
from taoloop.tools.schemas import CompiledSchema
from taoloop.tools.signature import Trust
from taoloop.values.conversions import ConversionContext, as_text, convert, option_fault
from taoloop.values.datetimes import parse_rfc3339, parse_with_offset
from taoloop.values.numbers import decimal_separator_of
from taoloop.values.refusals import RefusalCode, ValueRefused

_NUMERIC: Final = {"locale": "locale", "decimal_separator": "decimal_separator"}
_ORDERED: Final = {"order": "order"}
_MEASURED: Final = {**_NUMERIC, "to": "to_unit", "unit": "unit"}
_CONTEXT: Final = frozenset({"reference", "time_zone"})

# Type of the case → conversion, and the option of it that a key of the input is.
_TYPES: Final[Mapping[str, tuple[str, Mapping[str, str]]]] = {
    "number": ("number", _NUMERIC),
    "integer": ("integer", _NUMERIC),
    "boolean": ("boolean", {}),
    "date": ("date", _ORDERED),
    "date_range": ("date-range", _ORDERED),
    "datetime": ("datetime", {**_ORDERED, "gap": "gap"}),
    "epoch": ("datetime", {"unit": "unit"}),
    "enum": ("enum", {"values": "values", "mapping": "values"}),
    "percentage": ("percentage", {**_NUMERIC, "scale": "scale", "unit": "unit"}),
    "confidence": ("confidence", {**_NUMERIC, "scale": "scale"}),
    "money": ("money", {**_NUMERIC, "currency": "currency"}),
    "duration": ("duration", {**_NUMERIC, "unit": "unit"}),
    "text": ("text", {"html": "html"}),
    **dict.fromkeys(("unit", "quantity", "measure", "temperature", "length", "mass", "volume"), ("unit", _MEASURED)),
    **dict.fromkeys(("area", "speed", "data", "pressure", "energy", "power"), ("unit", _MEASURED)),
    "temperature_difference": ("unit", _MEASURED),
}
_FIXED: Final[Mapping[str, dict[str, JsonValue]]] = {"temperature_difference": {"difference": True}}
_OF_TIME: Final = frozenset({"date", "date_range", "datetime"})

# What is wrong with a number needs no other word for each type; what is wrong with a date has one.
_WORDS: Final[Mapping[RefusalCode, str]] = {
    RefusalCode.OUT_OF_RANGE: "out_of_range",
    RefusalCode.NO_REFERENCE: "needs_reference",
    RefusalCode.NOT_A_NUMBER: "not_a_number",
    RefusalCode.MISSING_UNIT: "missing_unit",
    RefusalCode.UNKNOWN_UNIT: "unknown_unit",
    RefusalCode.WRONG_UNIT: "wrong_unit",
    RefusalCode.TOO_PRECISE: "too_precise",
}

_UNREADABLE: Final = {
    **dict.fromkeys(("number", "integer", "percentage", "confidence"), "not_a_number"),
    "enum": "unknown_enum_value",
}
# What says at the use, too, that a contract's unit or currency is not known.
_REFUSED_AT_USE: Final = frozenset({"unit", "money"})


def _normalise(case_input: CaseInput) -> Said:
    case_type = case_input["type"]
    if case_type not in _TYPES:
        raise Unsupported(f"the product does not normalise a {case_type} yet")
    to, names = _TYPES[case_type]
    known = names.keys() | {"kind", "type", "value", "max_s"} | (_CONTEXT if case_type in _OF_TIME else set())
    unread = sorted(case_input.keys() - known)
    if unread:
        raise Unsupported(f"nothing reads {', '.join(unread)} of a {case_type}")
    options = _options(case_type, case_input)
    fault = option_fault(to, options)
    if fault is not None and to not in _REFUSED_AT_USE:
        raise Unsupported(f"no contract can declare this: {fault}")
    try:
        value = convert(to, case_input["value"], _context(case_input), options)
    except ValueRefused as refused:
        return _refused(case_type, refused)
    if fault is not None:
        raise Unsupported(f"no contract can declare this: {fault}")
    return {"value": _in_normal_form(case_type, value)}


def _options(case_type: str, case_input: CaseInput) -> dict[str, JsonValue]:
    options = {option: case_input[key] for key, option in _TYPES[case_type][1].items() if key in case_input}
    locale, order = options.get("locale"), options.get("order")
    if isinstance(locale, str) and decimal_separator_of(locale) is None:
        del options["locale"]  # it decides nothing; a contract states the separator instead
    if isinstance(order, str):
        options["order"] = order.upper()
    return options | _FIXED.get(case_type, {})


def _context(case_input: CaseInput) -> ConversionContext:
    reference: Any = case_input.get("reference")
    return ConversionContext(
        reference_time=None if reference is None else parse_with_offset(reference),
        time_zone=case_input.get("time_zone", ""),
    )


def _in_normal_form(case_type: str, value: JsonValue) -> Any:
    if case_type == "number":
        return as_text(value)
    if case_type != "datetime":
        return value
    try:
        return parse_rfc3339(as_text(value))
    except ValueRefused:
        return value  # finer than a microsecond


def _refused(case_type: str, refused: ValueRefused) -> Said:
    return {
        "outcome": "rejected",
        "error_class": _word(case_type, refused.code),
        "candidates": list(refused.candidates),
        "message": refused.message,
    }


def _word(case_type: str, code: RefusalCode) -> str:
    if code is RefusalCode.AMBIGUOUS:
        return f"ambiguous_{case_type}"
    if case_type in _OF_TIME and code in {RefusalCode.UNREADABLE, RefusalCode.OUT_OF_RANGE}:
        return f"invalid_{case_type}"
    if code is RefusalCode.UNREADABLE:
        return _UNREADABLE.get(case_type, f"unreadable_{case_type}")
    return _WORDS[code]


def _round_trip(case_input: CaseInput) -> Said:
    """Read a body, hand all of it on as the argument of a next step, and write that step's arguments."""
    try:
        data = exact_json.loads(case_input["body"])
    except JsonSyntaxError as refused:
        return rejected("RESPONSE_MALFORMED", message=str(refused))
    argument: JsonValue = {"$ref": {"step": "first", "pointer": ""}}
    step: JsonValue = {"id": "next", "tool": "tool", "args": {"value": argument}, "depends_on": ["first"]}
    resolved = resolve_step(
        plan_from_json({"steps": [step]}).steps[0],
        ResolveContext(
            parameters=CompiledSchema.compile({"type": "object", "properties": {"value": True}}),
            results={"first": StepResult(data, Trust.TRUSTED)},
        ),
    )
    if isinstance(resolved, Resolution):
        return {"next_args_text": exact_json.dumps(resolved.arguments)}
    return rejected(resolved[0].code, message=resolved[0].message)


NORMALISE = Adapter(
    feed=_normalise,
    required=("type", "value"),
    optional=tuple(sorted({*_CONTEXT, *(key for _, names in _TYPES.values() for key in names)})),
)
ROUNDTRIP = Adapter(feed=_round_trip, required=("body",))
