"""Values of a declared type through the conversions of the product."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from taoloop.core.exact_json import JsonValue
from taoloop.evaluation.cases.model import Adapter, CaseInput, Said, Unsupported
from taoloop.values.conversions import ConversionContext, as_text, convert
from taoloop.values.datetimes import parse_rfc3339
from taoloop.values.refusals import RefusalCode, ValueRefused

# Type of the case → conversion, and the keys of the input that are options of it.
_TYPES: Final[Mapping[str, tuple[str, frozenset[str]]]] = {
    "number": ("number", frozenset({"locale"})),
    "date": ("date", frozenset({"order", "reference", "time_zone"})),
    "datetime": ("datetime", frozenset({"order", "reference", "time_zone"})),
    "epoch": ("datetime", frozenset({"unit"})),
    "enum": ("enum", frozenset({"values"})),
}
_OPTIONS: Final = ("order", "unit", "values")


def _normalise(case_input: CaseInput) -> Said:
    case_type = case_input["type"]
    if case_type not in _TYPES:
        raise Unsupported(f"the product does not normalise a {case_type} yet")
    to, known = _TYPES[case_type]
    unread = sorted(case_input.keys() - known - {"kind", "type", "value", "max_s"})
    if unread:
        raise Unsupported(f"nothing reads {', '.join(unread)} of a {case_type}")
    if "reference" in case_input and "time_zone" not in case_input and not case_input["reference"].endswith("Z"):
        raise Unsupported(
            "the product takes the user's time zone by its name, not from the offset of the reference time"
        )
    options = {name: case_input[name] for name in _OPTIONS if name in case_input}
    try:
        value = convert(to, case_input["value"], _context(case_input), options)
    except ValueRefused as refused:
        return _refused(case_type, refused)
    return {"value": _in_normal_form(case_type, value)}


def _context(case_input: CaseInput) -> ConversionContext:
    reference: Any = case_input.get("reference")
    return ConversionContext(
        reference_time=None if reference is None else parse_rfc3339(reference),
        time_zone=case_input.get("time_zone", ""),
        locale=case_input.get("locale", ""),
    )


def _in_normal_form(case_type: str, value: JsonValue) -> JsonValue:
    return as_text(value) if case_type == "number" else value


def _refused(case_type: str, refused: ValueRefused) -> Said:
    word = {
        RefusalCode.AMBIGUOUS: f"ambiguous_{case_type}",
        RefusalCode.OUT_OF_RANGE: f"invalid_{case_type}",
        RefusalCode.NO_REFERENCE: "needs_reference",
        RefusalCode.UNREADABLE: f"unreadable_{case_type}",
    }[refused.code]
    return {
        "outcome": "rejected",
        "error_class": word,
        "candidates": list(refused.candidates),
        "message": refused.message,
    }


NORMALISE = Adapter(
    feed=_normalise,
    required=("type", "value"),
    optional=("locale", "order", "reference", "time_zone", "unit", "values", "to", "scale", "mapping", "currency"),
)
