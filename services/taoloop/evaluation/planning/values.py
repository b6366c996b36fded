"""When a predicted value counts as an acceptable one, and what a reference looks like."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from decimal import Decimal
from typing import Any, Final

_IGNORED = re.compile(r"[\s,./\-_*^'\"，。、“”‘’]")
_REFERENCE = re.compile(r"^\$?\{{0,2}\$?(s\d+|step_?\d+|\d+)((?:\.[^{}]+)?)\}{0,2}$")
_EMBEDDED = re.compile(r"(?:\$\{?|\{\{)(s\d+)((?:\.[A-Za-z0-9_ \[\]]+)*)\}{0,2}")
_TOLERANCE: Final = 1e-9

Reference = tuple[str, str]
"""Step id and path in its output."""


def folded(value: object) -> str:
    """Return a text as the score compares it: NFKC, lower case, without blanks and common marks."""
    return _IGNORED.sub("", unicodedata.normalize("NFKC", str(value))).lower()


def reference_of(value: object) -> Reference | None:
    """Return what a value refers to when it is a reference as a whole."""
    if isinstance(value, Mapping) and value and set(value) <= {"$ref", "ref"}:
        step, _, path = str(value.get("$ref", value.get("ref"))).lstrip("$").strip("{}").partition(".")
        return step, path
    if isinstance(value, str) and value.startswith(("$", "{{")):
        match = _REFERENCE.match(value.strip())
        if match:
            return match[1], match[2].lstrip(".")
    return None


def references_in(value: object) -> Iterator[Reference]:
    """Yield every reference of a value, nested ones and those inside of texts too."""
    whole = reference_of(value)
    if whole is not None:
        yield whole
    elif isinstance(value, Mapping):
        for member in value.values():
            yield from references_in(member)
    elif isinstance(value, list):
        for member in value:
            yield from references_in(member)
    elif isinstance(value, str):
        for match in _EMBEDDED.finditer(value):
            yield match[1], match[2].lstrip(".")


def is_same_path(predicted: str, expected: str) -> bool:
    """Tell whether two paths name one output field: equal, or with the same last part."""
    if not expected:
        return True
    last = folded(expected.rsplit(".", maxsplit=1)[-1])
    return bool(
        folded(predicted) == folded(expected)
        or (folded(predicted.rsplit(".", maxsplit=1)[-1]) if predicted else "") == last
        or (predicted and folded(predicted).endswith(last))
    )


_TYPES: Final[Mapping[str, type | tuple[type, ...]]] = {
    "integer": int,
    "number": (int, float, Decimal),
    "string": str,
    "boolean": bool,
    "array": list,
    "object": dict,
}


def has_type(value: object, schema: Mapping[str, Any] | None) -> bool:
    """Tell whether a value has the one type that a schema declares; without a type every value has it."""
    name = (schema or {}).get("type")
    if not isinstance(name, str) or name not in _TYPES:
        return True
    return isinstance(value, _TYPES[name]) and (not isinstance(value, bool) or name == "boolean")


def is_acceptable(value: object, accepted: Iterable[Any], schema: Mapping[str, Any] | None, match: str) -> bool:
    """Tell whether a predicted literal is one of the accepted ones, in the declared type where they keep it too."""
    options = list(accepted)
    if not any(is_equal(value, option, match) for option in options):
        return False
    plain = (option for option in options if not (isinstance(option, Mapping) and "$fields" in option))
    return has_type(value, schema) or not any(has_type(option, schema) for option in plain)


def is_equal(value: object, expected: object, match: str) -> bool:
    """Tell whether a predicted literal equals an expected one."""
    if isinstance(expected, Mapping) and "$fields" in expected:
        return _keeps_fields(value, expected["$fields"], match)
    if isinstance(expected, bool) or isinstance(value, bool):
        return isinstance(expected, bool) and isinstance(value, bool) and expected == value
    if isinstance(expected, int | float | Decimal) and isinstance(value, int | float | Decimal):
        return abs(float(expected) - float(value)) <= _TOLERANCE * max(1.0, abs(float(expected)))
    if isinstance(expected, str) and isinstance(value, str):
        wanted, given = folded(expected), folded(value)
        return given == wanted or (match == "contains" and wanted != "" and wanted in given)
    if isinstance(expected, list) and isinstance(value, list):
        pairs = zip(value, expected, strict=False)
        return len(expected) == len(value) and all(is_equal(one, two, match) for one, two in pairs)
    if isinstance(expected, Mapping) and isinstance(value, Mapping):
        return set(expected) == set(value) and all(is_equal(value[name], expected[name], match) for name in expected)
    return expected is None and value is None


def _keeps_fields(value: object, fields: Mapping[str, list[Any]], match: str) -> bool:
    """An accepted `""` makes a field optional; it is itself right only where it is given as such."""
    if not isinstance(value, Mapping):
        return False
    for name, member in value.items():
        options = [option for option in fields.get(name, ()) if option != "" or member == ""]
        if not any(is_equal(member, option, match) for option in options):
            return False
    return all(name in value or any(option == "" for option in options) for name, options in fields.items())
