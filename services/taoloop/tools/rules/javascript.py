"""The form of JsonLogic: what is a rule, and the normal form in which its meaning is that of json-logic-js."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Final

from taoloop.core.exact_json import JsonValue
from taoloop.tools.rules import coercion
from taoloop.tools.rules.exactness import BEYOND_RANGE, is_exact

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
    **dict.fromkeys(("and", "or", "min", "max", "+", "*"), (1, 1000)),
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


def rewritten(rule: JsonValue) -> JsonValue:
    """Return the rule in normal form, with operands always in a list.

    `==` and `!=` become a custom operator, a comparison of three operands becomes two comparisons, `?:` is `if`, a
    path that is written out is text, and `missing` of written-out paths is a condition for each.

    Raises:
        RuleFormFault: An unknown operator, a wrong number of operands, an object of several keys, a number that the
            engine cannot read exactly, a path that is a list, or a `reduce` that could grow without bound.
    """
    return _rewritten(rule, "", _Scope())


@dataclass(frozen=True, slots=True)
class _Scope:
    """What a part of a rule may read.

    Attributes:
        is_folding: Whether it is inside the body of a `reduce`.
        is_item: Whether its data is an item, and not `current` with `accumulator`.
        grows: Whether the item that it is evaluated with may come from an accumulator.
    """

    is_folding: bool = False
    is_item: bool = False
    grows: bool = False


def _rewritten(rule: JsonValue, pointer: str, scope: _Scope) -> JsonValue:
    if isinstance(rule, list):
        if scope.is_folding and _reads_accumulator(rule, scope):
            raise RuleFormFault(pointer, "a list that holds the accumulator could grow without bound; use 'merge'")
        return [_rewritten(item, f"{pointer}/{index}", scope) for index, item in enumerate(rule)]
    if not isinstance(rule, dict):
        if isinstance(rule, int | Decimal) and not is_exact(rule):
            raise RuleFormFault(pointer, BEYOND_RANGE)
        return rule
    if len(rule) != 1:
        raise RuleFormFault(pointer, f"an operation has exactly one key, this object has {len(rule)}")
    ((operator, written),) = rule.items()
    if operator not in OPERATORS:
        raise RuleFormFault(pointer, f"the operator {operator!r} does not exist")
    here = f"{pointer}/{operator.replace('~', '~0').replace('/', '~1')}"
    operands: list[JsonValue] = written if isinstance(written, list) else [written]
    _check_count(operator, len(operands), here)
    if operator in {"missing", "missing_some"} and (simple := _missing(operator, operands)) is not None:
        return simple
    if operator in SCOPED:
        return {operator: _loop(operator, operands, here, scope)}
    if operator in {"var", "missing", "missing_some"}:
        return {operator: _reading(operator, operands, here, scope)}
    return _operation(
        operator, [_rewritten(operand, f"{here}/{index}", scope) for index, operand in enumerate(operands)]
    )


def _loop(operator: str, operands: list[JsonValue], here: str, scope: _Scope) -> list[JsonValue]:
    grows = scope.is_folding and _reads_accumulator(operands[0], scope)
    is_fold = operator == "reduce"
    inner = _Scope(is_folding=scope.is_folding or is_fold, is_item=not is_fold, grows=grows)
    return [
        _rewritten(operand, f"{here}/{index}", inner if index == 1 else scope) for index, operand in enumerate(operands)
    ]


def _reads_accumulator(rule: JsonValue, scope: _Scope) -> bool:
    """Tell whether the value of a part of the body of a `reduce` may hold what the step before returned."""
    if isinstance(rule, list):
        return any(_reads_accumulator(item, scope) for item in rule)
    if not isinstance(rule, dict) or len(rule) != 1:
        return False
    ((operator, written),) = rule.items()
    if operator != "var":
        return _reads_accumulator(written, scope)
    path = written[0] if isinstance(written, list) and written else written
    is_item = scope.is_item or (isinstance(path, str) and path.partition(".")[0] == "current")
    return scope.grows if is_item else True


def _reading(operator: str, operands: list[JsonValue], here: str, scope: _Scope) -> list[JsonValue]:
    """Return the operands of an operator that reads paths, the written-out path of `var` as text."""
    if operator == "var":
        path = operands[0] if operands else ""
        if isinstance(path, list):
            raise RuleFormFault(here, "a path is text or a number, not a list")
        if not isinstance(path, dict):
            rest = [_rewritten(operand, f"{here}/1", scope) for operand in operands[1:]]
            return [coercion.path_text(path), *rest]
    elif operator == "missing" and len(operands) > 1:
        raise RuleFormFault(here, "'missing' takes computed paths as one list")
    if scope.is_folding:
        raise RuleFormFault(here, "inside 'reduce' paths must be written out")
    return [_rewritten(operand, f"{here}/{index}", scope) for index, operand in enumerate(operands)]


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


def _missing(operator: str, operands: list[JsonValue]) -> JsonValue:
    """Return a rule of one condition for each path; None where a path or the number is computed."""
    listed = operands[-1] if len(operands) == (1 if operator == "missing" else 2) else operands
    listed = listed if isinstance(listed, list) else [listed]
    paths = [path for path in listed if isinstance(path, str)]
    if len(paths) < len(listed):
        return None
    if operator == "missing":
        return _missing_of(paths)
    needed = operands[0]
    if isinstance(needed, bool) or not isinstance(needed, int):
        return None
    counted: list[JsonValue] = [0]
    counted.extend({"if": [_is_missing(path), 0, 1]} for path in paths)
    return {"if": [{">=": [{"+": counted}, needed]}, [], _missing_of(paths)]}


def _is_missing(path: str) -> JsonValue:
    return {"or": [{"===": [{"var": [path]}, None]}, {"===": [{"var": [path]}, ""]}]}


def _missing_of(paths: list[str]) -> JsonValue:
    return {"merge": [{"if": [_is_missing(path), [path], []]} for path in paths]}
