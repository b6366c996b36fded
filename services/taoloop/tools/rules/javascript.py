"""The corners of JsonLogic where the engine differs from json-logic-js, closed before a rule is compiled."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from decimal import Decimal
from typing import Final

from taoloop.core import exact_json
from taoloop.core.exact_json import JsonValue

LOOSELY_EQUAL: Final = "taoloop_loosely_equal"
"""Name of the engine's custom operator for `==`."""

COMPARISONS: Final = frozenset({"<", "<=", ">", ">="})
ARITHMETIC: Final = frozenset({"+", "-", "*", "/", "%", "min", "max"})
SCOPED: Final = frozenset({"map", "filter", "reduce", "all", "some", "none"})
"""Operators whose second operand is evaluated once for each item, with the item as data."""

OPERATORS: Final = (
    COMPARISONS
    | ARITHMETIC
    | SCOPED
    | {"var", "missing", "missing_some", "if", "?:", "==", "===", "!=", "!==", "!", "!!", "or", "and"}
    | {"merge", "in", "cat", "substr"}
)
"""The operators of json-logic-js, save `log` and `method`, which do more than compute."""

_OPERANDS: Final[Mapping[str, tuple[int, int]]] = {
    **dict.fromkeys(("==", "===", "!=", "!==", ">", ">=", "in", "missing_some", "%"), (2, 2)),
    **dict.fromkeys(("map", "filter", "all", "some", "none", "/"), (2, 2)),
    **dict.fromkeys(("<", "<=", "reduce", "substr"), (2, 3)),
    **dict.fromkeys(("!", "!!"), (1, 1)),
    **dict.fromkeys(("and", "or", "if", "?:", "min", "max", "+", "*"), (1, 1000)),
    "-": (1, 2),
    "var": (0, 2),
}


class RuleFormFault(ValueError):
    """A rule does not have the form of JsonLogic.

    Attributes:
        pointer: Where in the rule.
    """

    def __init__(self, pointer: str, message: str) -> None:
        super().__init__(message)
        self.pointer = pointer


def rewritten(rule: JsonValue, pointer: str = "") -> JsonValue:
    """Return an equal rule in which the engine and json-logic-js agree; operands are always a list.

    `==` and `!=` become a custom operator, a comparison of three operands becomes two comparisons, and
    `missing` takes the empty string for missing.

    Raises:
        RuleFormFault: An unknown operator, a wrong number of operands, an object of several keys, or
            `missing` with paths that are not written out.
    """
    if isinstance(rule, list):
        return [rewritten(item, f"{pointer}/{index}") for index, item in enumerate(rule)]
    if not isinstance(rule, dict):
        return rule
    if len(rule) != 1:
        raise RuleFormFault(pointer, f"an operation has exactly one key, this object has {len(rule)}")
    ((operator, written),) = rule.items()
    if operator not in OPERATORS:
        raise RuleFormFault(pointer, f"the operator {operator!r} does not exist")
    here = f"{pointer}/{operator.replace('~', '~0').replace('/', '~1')}"
    operands: list[JsonValue] = written if isinstance(written, list) else [written]
    _check_count(operator, len(operands), here)
    if operator in {"missing", "missing_some"}:
        return _missing(operator, operands, here)
    return _operation(operator, [rewritten(operand, f"{here}/{index}") for index, operand in enumerate(operands)])


def loosely_equal(operands_json: str) -> str:
    """Compare two operands as ECMAScript's `==` does; both sides are JSON text.

    >>> loosely_equal('["1",1]'), loosely_equal('[null,0]'), loosely_equal('["",0]')
    ('true', 'false', 'true')
    """
    operands = exact_json.loads(operands_json)
    assert isinstance(operands, list)
    return "true" if _loosely_equal(operands[0], operands[1]) else "false"


def _check_count(operator: str, count: int, pointer: str) -> None:
    least, most = _OPERANDS.get(operator, (0, 1000))
    if not least <= count <= most:
        wanted = str(least) if least == most else f"{least} to {most}"
        raise RuleFormFault(pointer, f"{operator!r} takes {wanted} operands, not {count}")


def _operation(operator: str, operands: list[JsonValue]) -> JsonValue:
    if operator == "==":
        return {LOOSELY_EQUAL: operands}
    if operator == "!=":
        return {"!": [{LOOSELY_EQUAL: operands}]}
    if operator == "?:":
        return {"if": operands}
    if operator in COMPARISONS and len(operands) == 3:
        return {"and": [{operator: operands[:2]}, {operator: operands[1:]}]}
    return {operator: operands}


def _missing(operator: str, operands: list[JsonValue], pointer: str) -> JsonValue:
    if operator == "missing":
        listed = operands[0] if len(operands) == 1 and isinstance(operands[0], list) else operands
        return _missing_of(_literal_paths(listed, pointer))
    needed = operands[0]
    if isinstance(needed, bool) or not isinstance(needed, int):
        raise RuleFormFault(pointer, "'missing_some' takes a whole number first")
    paths = _literal_paths(operands[1], pointer)
    counted: list[JsonValue] = [0]
    counted.extend({"if": [_is_missing(path), 0, 1]} for path in paths)
    return {"if": [{">=": [{"+": counted}, needed]}, [], _missing_of(paths)]}


def _literal_paths(paths: JsonValue, pointer: str) -> list[str]:
    if not isinstance(paths, list) or not all(isinstance(path, str) for path in paths):
        raise RuleFormFault(pointer, "the paths of 'missing' must be written out as text")
    return [str(path) for path in paths]


def _is_missing(path: str) -> JsonValue:
    return {"or": [{"===": [{"var": [path]}, None]}, {"===": [{"var": [path]}, ""]}]}


def _missing_of(paths: list[str]) -> JsonValue:
    return {"merge": [{"if": [_is_missing(path), [path], []]} for path in paths]}


def _loosely_equal(left: JsonValue, right: JsonValue) -> bool:
    if left is None or right is None:
        return left is right
    if _kind(left) == _kind(right):
        return exact_json.equal(left, right)
    if isinstance(left, list | dict) and isinstance(right, list | dict):
        return False
    left, right = _primitive(left), _primitive(right)
    if isinstance(left, str) and isinstance(right, str):
        return left == right
    return _number(left) == _number(right)  # NaN equals nothing


def _kind(value: JsonValue) -> str:
    if isinstance(value, bool):
        return "boolean"
    return "number" if isinstance(value, int | float | Decimal) else type(value).__name__


def _primitive(value: JsonValue) -> JsonValue:
    if isinstance(value, dict):
        return "[object Object]"
    if isinstance(value, list):
        return ",".join("" if item is None else _text(item) for item in value)
    return value


def _text(value: JsonValue) -> str:
    primitive = _primitive(value)
    return primitive if isinstance(primitive, str) else exact_json.canonical(primitive)


_DECIMAL = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_RADIX = re.compile(r"0(?:[xX][0-9a-fA-F]+|[bB][01]+|[oO][0-7]+)")


def _number(value: JsonValue) -> float | Decimal:
    if not isinstance(value, str):
        assert isinstance(value, int | float | Decimal)
        return value
    text = value.strip()
    if not text:
        return 0
    if _RADIX.fullmatch(text):
        return int(text, 0)
    return Decimal(text) if _DECIMAL.fullmatch(text) else math.nan
