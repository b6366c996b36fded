"""Words of the user as the value of a parameter, by the conversions that the resolver repeats."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from taoloop.core.exact_json import JsonValue
from taoloop.plan.model import ContractValue, Convert
from taoloop.plan.task import InputReason
from taoloop.thought.planners.model.parameters import Parameter
from taoloop.thought.planners.unread import Unread
from taoloop.values.conversions import CONVERSIONS, ConversionContext, convert
from taoloop.values.folding import fold
from taoloop.values.refusals import RefusalCode, ValueRefused

AS_KEYWORD: Final = "x-taoloop-as"
"""Keyword of a parameter's schema that names the conversion of words for it."""

_BY_FORMAT: Final = {
    "date": "date",
    "date-time": "datetime",
    "date-range": "date-range",
    "email": "email",
}
CLOCK_FORMATS: Final[Mapping[object, Convert | None]] = {"date-time": None, "date": Convert(to="date")}
"""Formats of parameters that the request's own time can fill, and how it becomes their value."""


@dataclass(frozen=True, slots=True)
class WordsRead:
    """A value that the parameter accepts.

    Attributes:
        value: The value.
        convert: How the words become it; None when they are it.
        choice: The value of the schema that the words are another spelling of, else None.
    """

    value: JsonValue
    convert: Convert | None = None
    choice: ContractValue | None = None


def takes_days(parameter: Parameter) -> bool:
    """Tell whether a parameter is a day or a range of days."""
    return _conversion(parameter) in {"date", "date-range"}


def read_words(parameter: Parameter, text: str, context: ConversionContext) -> WordsRead | Unread:
    """Read words as a value; words that the schema accepts as they stand are not converted."""
    if parameter.shape.values is not None:
        return _member(parameter, text)
    if "string" in parameter.shape.types and _accepts(parameter, text):
        return WordsRead(text)
    to = _conversion(parameter)
    if to is None:
        return Unread(InputReason.INVALID)
    try:
        value = convert(to, text, context)
    except ValueRefused as refused:
        is_ambiguous = refused.code is RefusalCode.AMBIGUOUS
        return Unread(InputReason.AMBIGUOUS if is_ambiguous else InputReason.INVALID, refused.candidates)
    return WordsRead(value, Convert(to=to)) if _accepts(parameter, value) else Unread(InputReason.INVALID)


def _conversion(parameter: Parameter) -> str | None:
    named = parameter.schema.get(AS_KEYWORD)
    if isinstance(named, str) and named in CONVERSIONS:
        return named
    types = parameter.shape.types
    if "string" in types:
        named = _BY_FORMAT.get(str(parameter.schema.get("format", "")))
        return named if named in CONVERSIONS else None
    if "number" in types:
        return "number"
    if "integer" in types:
        return "integer"
    return "boolean" if "boolean" in types else None


def _accepts(parameter: Parameter, value: JsonValue) -> bool:
    return parameter.compiled is None or parameter.compiled.is_valid(value)


def _member(parameter: Parameter, text: str) -> WordsRead | Unread:
    """Find the value of the schema that differs only by case, width, `_`, `-` and blanks; two such values are none."""
    wanted = _folded(text)
    found = [choice for choice in parameter.choices if choice.number and _folded(str(choice.value)) == wanted]
    if len(found) != 1:
        offered = tuple(str(choice.value) for choice in parameter.choices if choice.number)
        return Unread(InputReason.INVALID, offered[:20])
    return WordsRead(found[0].value, choice=ContractValue(kind=found[0].kind, pointer=found[0].pointer))


def _folded(text: str) -> str:
    return fold(text).replace("_", " ").replace("-", " ")
