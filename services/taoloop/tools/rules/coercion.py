"""The engine's custom operators: how ECMAScript converts and compares values that are not of one plain type.

Each takes its operands as the JSON text of a list and returns JSON text. Where ECMAScript would go on with NaN or
infinity, or compare two lists or objects by identity, the operator raises `Uncomputable` and the rule is an error.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Final

from taoloop.core import exact_json
from taoloop.core.exact_json import JsonValue
from taoloop.tools.rules.exactness import BEYOND_RANGE, is_exact

NOT_A_NUMBER: Final = "a value is no number"
NOT_COMPARABLE: Final = "lists and objects have no equality"
NULL_IN_MERGE: Final = "'merge' was given null"
NOT_A_PATH: Final = "a path is a list or an object"
TOO_MUCH_TEXT: Final = "more text than the budget"
CAUSES: Final = (NOT_A_NUMBER, NOT_COMPARABLE, NULL_IN_MERGE, NOT_A_PATH, TOO_MUCH_TEXT, BEYOND_RANGE)
"""What `Uncomputable` may say."""

_DEPTH: Final = 190
"""Deepest operand; the engine's own bounds are tighter, except for what `reduce` builds up."""


class Uncomputable(ValueError):
    """ECMAScript has no JSON value for it; the text is one of `CAUSES`."""


def loosely_equal(operands_json: str) -> str:
    """Compare two operands as `==` does.

    >>> loosely_equal('["1",1]'), loosely_equal('[null,0]'), loosely_equal('["",0]')
    ('true', 'false', 'true')

    Raises:
        Uncomputable: Both are lists or objects with the same content.
    """
    left, right = _operands(operands_json)
    return _boolean(_loosely_equal(left, right))


def strictly_equal(operands_json: str) -> str:
    """Compare two operands as `===` does.

    >>> strictly_equal('["1d","24h"]'), strictly_equal('[1,1.0]'), strictly_equal('[true,1]')
    ('false', 'true', 'false')

    Raises:
        Uncomputable: Both are lists or objects with the same content.
    """
    if _are_one_text(operands_json):
        return "true"
    left, right = _operands(operands_json)
    return _boolean(_strictly_equal(left, right))


def holds(operands_json: str) -> str:
    """Tell whether a text holds another, or a list a member: the operator `in`.

    >>> holds('[1,"a1"]'), holds('["1d",["24h"]]'), holds('["a",null]')
    ('true', 'false', 'false')

    Raises:
        Uncomputable: A list or object is looked for in a list that holds one of the same content.
    """
    wanted, where = _operands(operands_json)
    if isinstance(where, str):
        return _boolean(where and _string(wanted) in where)  # ECMAScript looks at an empty text as at nothing
    return _boolean(isinstance(where, list) and any(_strictly_equal(wanted, item) for item in where))


def number(operands_json: str) -> str:
    """Return the operand as a number, as `-`, `/`, `%`, `min` and `max` read it.

    >>> number('["0x10"]'), number('[" 1.50 "]'), number('[true]')
    ('16', '1.5', '1')

    Raises:
        Uncomputable: It is none, or beyond the exact range.
    """
    (value,) = _operands(operands_json)
    return _number_text(to_number(value))


def place(operands_json: str) -> str:
    """Return the operand as a place in a text, as `substr` reads it.

    >>> place('["1"]'), place('[-1.5]')
    ('1', '-1')

    Raises:
        Uncomputable: It is no number.
    """
    (value,) = _operands(operands_json)
    return str(int(max(-_FAR, min(_FAR, to_number(value)))))


def leading_number(operands_json: str) -> str:
    """Return the number that the operand's text begins with, as `+` and `*` read it.

    >>> leading_number('["12 pieces"]'), leading_number('[[3,4]]')
    ('12', '3')

    Raises:
        Uncomputable: It begins with none, or with one beyond the exact range.
    """
    (value,) = _operands(operands_json)
    found = _LEADING.match(text(value).lstrip(_SPACE))
    if found is None:
        raise Uncomputable(NOT_A_NUMBER)
    return _number_text(Decimal(found[0]))


def as_text(operands_json: str) -> str:
    """Return the operand as text, as `cat` reads it.

    >>> as_text('[[1,[2,null]]]'), as_text('[1e21]'), as_text('[1.0]')
    ('"1,2,"', '"1e+21"', '"1"')
    """
    (value,) = _operands(operands_json)
    return exact_json.dumps(text(value))


def as_string(operands_json: str) -> str:
    """Return the operand as text, as `substr` reads it: like `cat`, but null is the text `null`.

    >>> as_string('[null]'), as_string('[[null]]')
    ('"null"', '""')
    """
    (value,) = _operands(operands_json)
    return exact_json.dumps(_string(value))


def value_at(operands_json: str) -> str:
    """Return what a computed path leads to: `[path, data, default]`.

    >>> value_at('["a.0",{"a":["x"],"a.0":"y"},null]'), value_at('["b",{},7]')
    ('"x"', '7')
    """
    path, data, default = _operands(operands_json)
    found, is_there = lookup(data, path)
    return exact_json.dumps(found if is_there else default, max_depth=_DEPTH)


def missing_of(operands_json: str) -> str:
    """Return the computed paths that lead to nothing, null or an empty text: `[paths, data]`.

    >>> missing_of('[["a","b.c"],{"a":""}]')
    '["a","b.c"]'
    """
    paths, data = _operands(operands_json)
    return exact_json.dumps(_missing(paths, data), max_depth=_DEPTH)


def missing_some_of(operands_json: str) -> str:
    """Return `[]` if enough of the computed paths are there, else those that are missing: `[needed, paths, data]`.

    >>> missing_some_of('[1,["a","b"],{"a":0}]'), missing_some_of('[2,["a","b"],{"a":0}]')
    ('[]', '["b"]')
    """
    needed, paths, data = _operands(operands_json)
    missing = _missing(paths, data)
    count = len(paths) if isinstance(paths, list | str) else 0
    return "[]" if count - len(missing) >= to_number(needed) else exact_json.dumps(missing, max_depth=_DEPTH)


def less(operands_json: str) -> str:
    """Compare two operands as `<` does.

    >>> less('["10","9"]'), less('["10d","9d"]'), less('["10",9]'), less('[[1],2]')
    ('true', 'true', 'false', 'true')

    Raises:
        Uncomputable: One of them is no number, and not both are texts.
    """
    return _boolean(_order(operands_json) < 0)


def less_or_equal(operands_json: str) -> str:
    """Compare two operands as `<=` does, with the refusals of `less`."""
    return _boolean(_order(operands_json) <= 0)


def greater(operands_json: str) -> str:
    """Compare two operands as `>` does, with the refusals of `less`."""
    return _boolean(_order(operands_json) > 0)


def greater_or_equal(operands_json: str) -> str:
    """Compare two operands as `>=` does, with the refusals of `less`."""
    return _boolean(_order(operands_json) >= 0)


def refuse_null(_operands_json: str) -> str:
    """Refuse, since the engine would drop what ECMAScript keeps.

    Raises:
        Uncomputable: Always.
    """
    raise Uncomputable(NULL_IN_MERGE)


CUSTOM_OPERATORS: Final[Mapping[str, Callable[[str], str]]] = {
    "taoloop_loosely_equal": loosely_equal,
    "taoloop_strictly_equal": strictly_equal,
    "taoloop_in": holds,
    "taoloop_number": number,
    "taoloop_leading_number": leading_number,
    "taoloop_place": place,
    "taoloop_text": as_text,
    "taoloop_string": as_string,
    "taoloop_var": value_at,
    "taoloop_missing": missing_of,
    "taoloop_missing_some": missing_some_of,
    "taoloop_<": less,
    "taoloop_<=": less_or_equal,
    "taoloop_>": greater,
    "taoloop_>=": greater_or_equal,
    "taoloop_refuse_null": refuse_null,
}
"""What the engine is given; no contract can name one, since their names are no operators of JsonLogic."""


def to_number(value: JsonValue) -> float | Decimal:
    """Return ECMAScript's `Number(value)`.

    Raises:
        Uncomputable: It is NaN or infinite.
    """
    if value is None:
        return 0
    if isinstance(value, int | float | Decimal):
        return int(value) if isinstance(value, bool) else value
    read = _number_of_text(text(value))
    if read is None:
        raise Uncomputable(NOT_A_NUMBER)
    return read


def text(value: JsonValue) -> str:
    """Return ECMAScript's `String(value)`, save that null is empty, as where lists are joined."""
    primitive = _primitive(value)
    if isinstance(primitive, str):
        return primitive
    return "" if primitive is None else exact_json.canonical(primitive).replace("E", "e")


def _string(value: JsonValue) -> str:
    return "null" if value is None else text(value)


def path_text(path: JsonValue) -> str:
    """Return the text of a path as `var` reads it; null is the empty path."""
    return text(path)


def _operands(operands_json: str) -> list[JsonValue]:
    operands = exact_json.loads(operands_json, max_depth=_DEPTH)
    assert isinstance(operands, list)
    return operands


def _are_one_text(operands_json: str) -> bool:
    """Tell whether the operands are plainly the same text, without reading them: the usual case, and no cost.

    In `["x","x"]` the comma in the middle can be none inside a text, since a quotation mark stands after it.
    """
    middle = len(operands_json) // 2
    left, right = operands_json[1:middle], operands_json[middle + 1 : -1]
    return left == right and operands_json[middle] == "," and left[:1] == '"'


def _order(operands_json: str) -> int:
    """Return -1, 0 or 1; two texts are ordered by their UTF-16 units, anything else as numbers."""
    plain = _TWO_PLAIN_TEXTS.fullmatch(operands_json) if operands_json.isascii() else None
    if plain is not None:  # dates, most often
        return (plain[1] > plain[2]) - (plain[1] < plain[2])
    left, right = map(_primitive, _operands(operands_json))
    if isinstance(left, str) and isinstance(right, str):
        units = left.encode("utf-16-be"), right.encode("utf-16-be")
        return (units[0] > units[1]) - (units[0] < units[1])
    numbers = to_number(left), to_number(right)
    return (numbers[0] > numbers[1]) - (numbers[0] < numbers[1])


def _boolean(value: object) -> str:
    return "true" if value else "false"


def _number_text(value: float | Decimal) -> str:
    """Write a number that the engine reads exactly."""
    if isinstance(value, Decimal) and value.is_finite() and abs(value.adjusted()) < _PLAIN_DIGITS:
        value = int(value) if value == value.to_integral_value() else value
    if not is_exact(value):
        raise Uncomputable(BEYOND_RANGE)
    return exact_json.dumps(value if isinstance(value, int) else float(value))


def _strictly_equal(left: JsonValue, right: JsonValue) -> bool:
    if _kind(left) != _kind(right):
        return False
    is_equal = exact_json.equal(left, right)
    if is_equal and isinstance(left, list | dict):
        raise Uncomputable(NOT_COMPARABLE)  # true for one and the same, false for two that are alike
    return is_equal


def _loosely_equal(left: JsonValue, right: JsonValue) -> bool:
    if left is None or right is None:
        return left is right
    if _kind(left) == _kind(right):
        return _strictly_equal(left, right)
    if isinstance(left, list | dict) and isinstance(right, list | dict):
        return False
    left, right = _primitive(left), _primitive(right)
    if isinstance(left, str) and isinstance(right, str):
        return left == right
    numbers = [_number_of_text(side) if isinstance(side, str) else to_number(side) for side in (left, right)]
    return None not in numbers and numbers[0] == numbers[1]  # NaN equals nothing


def _kind(value: JsonValue) -> str:
    if isinstance(value, bool):
        return "boolean"
    return "number" if isinstance(value, int | float | Decimal) else type(value).__name__


def _primitive(value: JsonValue) -> JsonValue:
    if isinstance(value, dict):
        return "[object Object]"
    if isinstance(value, list):
        return ",".join(map(text, value))
    return value


_SPACE: Final = (
    " \t\n\r\v\f\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f"
    "\u3000\ufeff"
)
_DECIMAL: Final = r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?"
_LEADING: Final = re.compile(_DECIMAL)
_TWO_PLAIN_TEXTS: Final = re.compile(r'\["([^"\\]*)","([^"\\]*)"\]')
_RADIX: Final = re.compile(r"0(?:[xX][0-9a-fA-F]+|[bB][01]+|[oO][0-7]+)")
_FAR: Final = 2**31
_MAX_NUMBER_CHARACTERS: Final = 400
_PLAIN_DIGITS: Final = 400


def _number_of_text(written: str) -> int | Decimal | None:
    stripped = written.strip(_SPACE)
    if not stripped:
        return 0
    if len(stripped) > _MAX_NUMBER_CHARACTERS:
        return None
    if _RADIX.fullmatch(stripped):
        return int(stripped, 0)
    return Decimal(stripped) if _LEADING.fullmatch(stripped) else None


def lookup(data: JsonValue, path: JsonValue) -> tuple[JsonValue, bool]:
    """Return what the path leads to, and whether it leads to anything; paths walk objects and lists only."""
    written = path_text(path)
    for token in written.split(".") if written else ():
        if isinstance(data, dict) and token in data:
            data = data[token]
        elif isinstance(data, list) and _INDEX.fullmatch(token) and int(token) < len(data):
            data = data[int(token)]
        else:
            return None, False
    return data, True


_INDEX: Final = re.compile(r"0|[1-9][0-9]{0,8}")


def _missing(paths: JsonValue, data: JsonValue) -> list[JsonValue]:
    listed = paths if isinstance(paths, list) else [paths]
    if any(isinstance(path, list | dict) for path in listed):
        raise Uncomputable(NOT_A_PATH)
    found = [(path, *lookup(data, path)) for path in listed]
    return [path for path, value, is_there in found if not is_there or value is None or value == ""]
